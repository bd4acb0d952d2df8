// ggml's CPU backend as this machine compiled it (cmake/HyperNative.cmake), where there is one.
#pragma once

#include <string>
#include <string_view>

namespace hyper::llama {

// Features of the first processor in the text of /proc/cpuinfo, separated by blanks ("fpu vme sse
// .."); empty if it names none, as on processors other than x86.
std::string_view ProcessorFeatures(std::string_view cpuinfo);

// Path of the backend in `folder`/native, if it was compiled on a processor with exactly the
// features in `cpuinfo`; empty otherwise. Nothing is loaded: on another processor its first
// instruction may already be illegal.
std::string NativeBackend(const std::string& folder, std::string_view cpuinfo);

}  // namespace hyper::llama
