// GGUF files made in tests, byte by byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace hyper::test {

template <class T>
std::string Bytes(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

inline std::string GgufText(const std::string& text) { return Bytes<uint64_t>(text.size()) + text; }

inline std::string GgufHead(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
  return "GGUF" + Bytes(version) + Bytes(tensors) + Bytes(keys);
}

// A key with a scalar; `type` is GGUF's number of the scalar's type.
template <class T>
std::string GgufEntry(const std::string& key, uint32_t type, T value) {
  return GgufText(key) + Bytes(type) + Bytes(value);
}

}  // namespace hyper::test
