// Where a ggml-rpc-server listens, and whether it does: looked up before llama.cpp is let near it,
// which ends the process where a server does not answer.
#pragma once

#include <netdb.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hyper/result.h"

namespace hyper::llama {

struct RpcAddress {
  std::string host;  // a name or an IPv4 address: llama.cpp's RPC knows no IPv6
  int port = 0;      // [1, 65535]
};

// Reads "host:port". This is no URL but what ggml takes, which ends the process over anything else:
// libcurl, which this part does not link, would let more through. Errors: kInvalidArgument. Pure.
Result<RpcAddress> ParseRpcAddress(const std::string& text);

// Checks that every part of `servers` is an address, and none there twice. Errors:
// kInvalidArgument. Pure.
Status CheckRpcServers(const std::vector<std::string>& servers);

// The IPv4 addresses that a server's name has now.
struct RpcLookup {
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> found;  // null where there is an error
  int error = 0;                                         // of getaddrinfo
};
RpcLookup LookUp(const RpcAddress& address);

// A connection of its own to a server; closed with the object.
class RpcProbe {
 public:
  RpcProbe() = default;
  ~RpcProbe();
  RpcProbe(RpcProbe&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  RpcProbe(const RpcProbe&) = delete;
  RpcProbe& operator=(const RpcProbe&) = delete;

  // Connects within `timeout_s`. Returns why not, or nothing.
  std::optional<std::string> Connect(const RpcAddress& address, double timeout_s);
  // Waits until the server takes its turn with this connection, which says nothing and so ends. A
  // greeting that is given up on would kill a busy server later, when it answers to nobody. Returns
  // why it is not this connection's turn, with the remedy, or nothing.
  std::optional<std::string> AwaitTurn(double timeout_s);
  // Exchanges the first message of the protocol with a server that serves nobody else.
  // Returns what is wrong, with the remedy, or nothing.
  std::optional<std::string> Greet(double timeout_s);

 private:
  int descriptor_ = -1;
};

}  // namespace hyper::llama
