#include "src/server/http/clients.h"

#include <algorithm>
#include <utility>

#include "src/base/sha256.h"

namespace hyper::server {

ClientKey KeyOf(std::string_view secret, Client client) {
  return {base::Sha256Of(secret), std::move(client)};
}

const Client* Clients::Find(std::string_view given) const {
  static const Client kOperator;
  if (open()) {
    return &kOperator;
  }
  const std::string hash = base::Sha256Of(given);
  const Client* found = nullptr;
  for (const ClientKey& key : keys_) {  // all of them, so that the place of one is not told
    found = EqualInConstantTime(hash, key.sha256) ? &key.client : found;
  }
  return found;
}

ServerLimits LimitsFor(const ServerLimits& limits, const Client& client) {
  ServerLimits own = limits;
  own.most_width = client.width;
  if (client.width > 0) {
    own.most_choices = std::min(own.most_choices, client.width);
  }
  return own;
}

bool EqualInConstantTime(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0U : 1U;
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^
                                        static_cast<unsigned char>(other));
  }
  return difference == 0;
}

}  // namespace hyper::server
