#include "src/base/sha256.h"

#include "src/base/hex.h"

extern "C" {
#include <hash/sha256/sha256.h>
}

namespace hyper::base {

struct Sha256::State {
  sha256_t hash;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { sha256_init(&state_->hash); }

Sha256::~Sha256() = default;

void Sha256::Add(std::string_view bytes) {
  sha256_update(&state_->hash, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::Hex() {
  std::string digest(SHA256_DIGEST_SIZE, '\0');
  sha256_final(&state_->hash, reinterpret_cast<unsigned char*>(digest.data()));
  return base::Hex(digest);
}

std::string Sha256Of(std::string_view bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return hash.Hex();
}

}  // namespace hyper::base
