// The keys of clients.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/server/api/client.h"
#include "src/server/api/request_json.h"

namespace hyper::server {

// A key is known by its hash only.
struct ClientKey {
  std::string sha256;  // 64 lower-case hexadecimal digits
  Client client{};
};

// The key that `secret` is, of the operator where no other client is given.
ClientKey KeyOf(std::string_view secret, Client client = {});

class Clients {
 public:
  // Without keys everyone is the operator.
  explicit Clients(std::vector<ClientKey> keys) : keys_(std::move(keys)) {}

  // Whose key a request gives; null where it is nobody's. Takes a time that depends on the number
  // of keys and the length of what is given.
  const Client* Find(std::string_view given) const;
  // True: whoever asks is the operator.
  bool open() const { return keys_.empty(); }

 private:
  std::vector<ClientKey> keys_;
};

// What a client may ask for: the server's limits and their own. Pure.
ServerLimits LimitsFor(const ServerLimits& limits, const Client& client);

// Whether two texts are equal, in a time that depends on the lengths only. Pure.
bool EqualInConstantTime(std::string_view given, std::string_view wanted);

}  // namespace hyper::server
