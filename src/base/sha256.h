// SHA-256, as llama.cpp vendors it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace hyper::base {

// Hashes what is added, piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Add(std::string_view bytes);
  // The hash of all bytes added, as 64 lower-case hexadecimal digits. Ends the hashing.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The hash of `bytes` alone. Pure.
std::string Sha256Of(std::string_view bytes);

}  // namespace hyper::base
