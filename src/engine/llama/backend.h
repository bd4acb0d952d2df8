// What surrounds llama.cpp in a process: its backends, its log, its threads.
#pragma once

#include <ggml.h>
#include <llama.h>

#include <memory>
#include <string>

#include "hyper/result.h"

namespace hyper::llama {

// Collects what llama.cpp logs as warnings and errors on this thread while it lives; nothing of
// llama.cpp's log is ever printed. Captures nest: the innermost one collects.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // The last error as one line without llama.cpp's function names, or `missing` without any.
  std::string Reason(const std::string& missing) const;

 private:
  std::string text_;
  std::string* outer_;
};

// While one lives, what ggml asserts on this thread throws std::runtime_error instead of ending the
// process, so that llama.cpp's own loading code gives the model up. For loading only: an object of
// ggml that threw is broken.
class AssertionGuard {
 public:
  AssertionGuard();
  ~AssertionGuard();
  AssertionGuard(const AssertionGuard&) = delete;
  AssertionGuard& operator=(const AssertionGuard&) = delete;

  // What failed, as "file.cpp:12: reason", or nothing; also where llama.cpp caught it.
  const std::string& failure() const { return failure_; }

 private:
  friend void OnAssertion(const char* message);

  std::string failure_;
  AssertionGuard* outer_;
};

// Loads ggml's backends once per process: from `dir`, or where llama.cpp's library lies; then with
// the CPU backend that was compiled on this machine, where there is one (native_backend.h).
// Errors: kUnavailable (no CPU backend there).
Status LoadBackends(const std::string& dir);

// The file that the CPU backend was loaded from; empty before LoadBackends.
std::string CpuBackendFile();

// Which CPU backend that is: "native", the kind of processor that it is for ("zen4", "haswell"),
// or "ggml-cpu" for one without a kind; empty as above.
std::string CpuBackendName();

// Whether that backend's attention can read the visible cells of each row and no others
// (cmake/native/pool_attention.cc); false as above.
bool HasPoolAttention();

// Threads that stay between forwards; without them ggml creates and joins some at every forward.
class ThreadPool {
 public:
  // Null where the backend offers none: ggml then makes threads itself.
  static std::unique_ptr<ThreadPool> Make(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void AttachTo(llama_context* context) const;

 private:
  using FreeFunction = void (*)(ggml_threadpool_t);

  ThreadPool(ggml_threadpool_t pool, FreeFunction free) : pool_(pool), free_(free) {}

  ggml_threadpool_t pool_;
  FreeFunction free_;
};

struct ModelDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct ContextDeleter {
  void operator()(llama_context* context) const { llama_free(context); }
};
using ModelHandle = std::unique_ptr<llama_model, ModelDeleter>;
using ContextHandle = std::unique_ptr<llama_context, ContextDeleter>;

}  // namespace hyper::llama
