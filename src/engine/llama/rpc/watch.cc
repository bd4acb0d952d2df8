#include "src/engine/llama/rpc/watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "src/engine/llama/rpc/address.h"

namespace hyper::llama {
namespace {

constexpr int kIdleSeconds = 20;  // of silence, before the first question
constexpr int kQuestionSeconds = 10;
constexpr int kQuestions = 4;
constexpr int kUnsentMilliseconds = 60'000;  // until what was sent must have arrived

struct Peer {
  in_addr_t host = 0;
  in_port_t port = 0;
  bool operator==(const Peer&) const = default;
};

// Where a server listens, as addresses of the network's; nothing where it is not known.
std::vector<Peer> PeersOf(const std::string& address) {
  std::vector<Peer> peers;
  const Result<RpcAddress> parsed = ParseRpcAddress(address);
  if (!parsed) {
    return peers;
  }
  const RpcLookup lookup = LookUp(*parsed);
  for (const addrinfo* entry = lookup.found.get(); entry != nullptr; entry = entry->ai_next) {
    const auto* internet = reinterpret_cast<const sockaddr_in*>(entry->ai_addr);
    peers.push_back({internet->sin_addr.s_addr, internet->sin_port});
  }
  return peers;
}

// The other end of a descriptor; all zero where it is no TCP connection.
Peer PeerOf(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0 ||
      storage.ss_family != AF_INET) {
    return {};
  }
  const auto* internet = reinterpret_cast<const sockaddr_in*>(&storage);
  return {internet->sin_addr.s_addr, internet->sin_port};
}

void Watch(int descriptor) {
  const auto set = [descriptor](int level, int name, int value) {
    setsockopt(descriptor, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kQuestionSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnsentMilliseconds);
}

}  // namespace

int WatchConnections(const std::vector<std::string>& addresses) {
  std::vector<Peer> peers;
  for (const std::string& address : addresses) {
    const std::vector<Peer> more = PeersOf(address);
    peers.insert(peers.end(), more.begin(), more.end());
  }
  if (peers.empty()) {
    return 0;
  }
  int watched = 0;
  // llama.cpp does not say which descriptors are its own: the process is asked.
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (std::find(peers.begin(), peers.end(), PeerOf(descriptor)) != peers.end()) {
      Watch(descriptor);
      ++watched;
    }
  }
  return watched;
}

}  // namespace hyper::llama
