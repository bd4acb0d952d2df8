#include "src/engine/llama/rpc/address.h"

#include <fcntl.h>
#include <ggml-rpc.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <system_error>

#include "src/engine/llama/gguf/header.h"

namespace hyper::llama {
namespace {

// The greeting of protocol 6: a command, the size of what follows, what the connection can do
// (nothing beyond TCP); the answer begins with its size and the server's version.
constexpr uint8_t kHelloCommand = 14;
constexpr uint64_t kAbilityBytes = 24;
constexpr uint64_t kAnswerBytes = 4 + kAbilityBytes;

std::string Reason(int error_number) { return std::generic_category().message(error_number); }

std::string Seconds(double seconds) { return std::to_string(static_cast<int>(seconds)) + " s"; }

// Waits until a connection that is being made stands. Returns the error number, 0 for none.
int AwaitConnection(int descriptor, double timeout_s) {
  pollfd entry{descriptor, POLLOUT, 0};
  const int ready = poll(&entry, 1, static_cast<int>(timeout_s * 1000));
  if (ready == 0) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  if (ready < 0 || getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    return errno;
  }
  return error;
}

// Reads exactly so many bytes. Returns the error number, 0 for none; ECONNRESET at the end.
int ReadAll(int descriptor, uint8_t* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = recv(descriptor, bytes, count, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return got == 0 ? ECONNRESET : errno;
    }
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return 0;
}

std::string OwnVersion() {
  return std::to_string(RPC_PROTO_MAJOR_VERSION) + "." + std::to_string(RPC_PROTO_MINOR_VERSION);
}

}  // namespace

Result<RpcAddress> ParseRpcAddress(const std::string& text) {
  RpcAddress address;
  const size_t colon = std::min(text.find(':'), text.size());
  const char* end = text.data() + text.size();
  uint16_t port = 0;
  const auto [stop, code] = std::from_chars(std::min(text.data() + colon + 1, end), end, port);
  address.host = text.substr(0, colon);
  address.port = port;
  if (address.host.empty() || address.host.find_first_of(" \t/@[]") != std::string::npos ||
      code != std::errc() || stop != end || port == 0) {
    return InvalidArgument(
        "RPC server " + Quoted(text) +
        " is not an address; --rpc takes host:port[,host:port...] with a name or an IPv4 "
        "address and a port of 1 to 65535, such as 10.0.0.2:50052");
  }
  return address;
}

Status CheckRpcServers(const std::vector<std::string>& servers) {
  for (size_t i = 0; i < servers.size(); ++i) {
    const Result<RpcAddress> address = ParseRpcAddress(servers[i]);
    if (!address) {
      return address.error();
    }
    if (std::find(servers.begin(), servers.begin() + static_cast<std::ptrdiff_t>(i), servers[i]) !=
        servers.begin() + static_cast<std::ptrdiff_t>(i)) {
      return InvalidArgument("RPC server " + Quoted(servers[i]) +
                             " is given twice in --rpc; give it once");
    }
  }
  return {};
}

RpcLookup LookUp(const RpcAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &raw);
  return {{error == 0 ? raw : nullptr, freeaddrinfo}, error};
}

RpcProbe::~RpcProbe() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

std::optional<std::string> RpcProbe::Connect(const RpcAddress& address, double timeout_s) {
  const RpcLookup lookup = LookUp(address);
  if (lookup.error != 0) {
    return std::string(gai_strerror(lookup.error));
  }
  descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) {
    return Reason(errno);
  }
  int error = 0;
  if (connect(descriptor_, lookup.found->ai_addr, lookup.found->ai_addrlen) != 0) {
    error = errno == EINPROGRESS ? AwaitConnection(descriptor_, timeout_s) : errno;
  }
  if (error == ETIMEDOUT) {
    return "no connection within " + Seconds(timeout_s);
  }
  return error == 0 ? std::nullopt : std::optional(Reason(error));
}

std::optional<std::string> RpcProbe::AwaitTurn(double timeout_s) {
  shutdown(descriptor_, SHUT_WR);
  pollfd entry{descriptor_, POLLIN, 0};
  if (poll(&entry, 1, static_cast<int>(timeout_s * 1000)) != 0) {
    return std::nullopt;
  }
  return "it does not answer within " + Seconds(timeout_s) +
         "; a ggml-rpc-server serves one program at a time: wait until the other one has ended, or "
         "start another server";
}

std::optional<std::string> RpcProbe::Greet(double timeout_s) {
  if (RPC_PROTO_MAJOR_VERSION != 6) {
    return std::nullopt;  // another llama.cpp, whose greeting is not known here
  }
  const std::string other =
      "it does not speak version " + OwnVersion() +
      " of llama.cpp's RPC; start a ggml-rpc-server of the same llama.cpp there";
  std::array<uint8_t, 1 + sizeof(uint64_t) + kAbilityBytes> hello{};
  hello[0] = kHelloCommand;
  std::memcpy(&hello[1], &kAbilityBytes, sizeof(kAbilityBytes));
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(timeout_s);
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  if (send(descriptor_, hello.data(), hello.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(hello.size())) {
    return other;
  }
  std::array<uint8_t, sizeof(uint64_t) + kAnswerBytes> answer{};
  const int error = ReadAll(descriptor_, answer.data(), answer.size());
  uint64_t size = 0;
  std::memcpy(&size, answer.data(), sizeof(size));
  if (error != 0 || size != kAnswerBytes) {
    return other;
  }
  const int major = answer[sizeof(uint64_t)];
  const int minor = answer[sizeof(uint64_t) + 1];
  if (major != RPC_PROTO_MAJOR_VERSION || minor > RPC_PROTO_MINOR_VERSION) {
    return "it speaks version " + std::to_string(major) + "." + std::to_string(minor) +
           " of llama.cpp's RPC and this program " + OwnVersion() +
           "; build both from the same llama.cpp";
  }
  return std::nullopt;
}

}  // namespace hyper::llama
