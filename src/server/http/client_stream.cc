#include "src/server/http/client_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>

// httplib.cpp defines it; its header does not declare it. Shuts the socket down, reads for a moment
// what is under way, so that the client does not lose the end of its reply, and closes it.
namespace httplib::detail {
void drain_and_close_socket(socket_t socket) noexcept;
}  // namespace httplib::detail

namespace hyper::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What a connection too many is told, whatever it asks.
constexpr std::string_view kTooMany =
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nConnection: close\r\n"
    "Content-Type: application/json\r\nContent-Length: 149\r\n\r\n"
    R"({"error":{"message":"your address has as many connections as it may have here","type":)"
    R"("rate_limit_error","param":null,"code":"too_many_connections"}})";

// The connection whose requests a thread answers.
struct Answering {
  socket_t socket = INVALID_SOCKET;
  std::string address;
  steady_clock::time_point begin;  // of the newest request
  int status = 0;                  // of its reply; 0: not known yet
};
thread_local Answering* answering = nullptr;

// Waits until something happens to one of the sockets; false: nothing did within `limit`.
template <size_t kCount>
bool Poll(std::array<pollfd, kCount>& waited, milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  while (true) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now()).count();
    const int ready =
        poll(waited.data(), waited.size(), static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

bool Poll(socket_t socket, int16_t events, milliseconds limit) {
  std::array<pollfd, 1> waited{{{socket, events, 0}}};
  return Poll(waited, limit);
}

}  // namespace

milliseconds RequestTimeLeft(milliseconds patience, milliseconds elapsed, int64_t bytes) {
  constexpr int64_t kBytesPerSecond = 16384;
  return patience - elapsed + milliseconds(bytes * 1000 / kBytesPerSecond);
}

// Poll always reports an error and a full hang-up, without a flag for them.
bool HasLeft(socket_t socket) { return Poll(socket, POLLRDHUP, milliseconds(0)); }

bool ClientHasLeft() { return answering != nullptr && HasLeft(answering->socket); }

double RequestSeconds() {
  return answering == nullptr
             ? 0.0
             : std::chrono::duration<double>(steady_clock::now() - answering->begin).count();
}

std::string ClientAddress() { return answering == nullptr ? "" : answering->address; }

ClientStream::ClientStream(socket_t socket, milliseconds patience, int ending)
    : socket_(socket), patience_(patience), ending_(ending) {}

void ClientStream::BeginRequest() {
  begin_ = steady_clock::now();
  received_ = static_cast<int64_t>(end_ - at_);
}

bool ClientStream::Wait(milliseconds limit) const {
  std::array<pollfd, 2> waited{{{socket_, POLLIN, 0}, {ending_, POLLIN, 0}}};
  return is_readable() || (limit.count() > 0 && Poll(waited, limit) && waited[1].revents == 0);
}

bool ClientStream::wait_readable() const {
  return Wait(std::min(RequestTimeLeft(patience_, Elapsed(), received_), patience_));
}

bool ClientStream::wait_writable() const { return Poll(socket_, POLLOUT, patience_); }

ssize_t ClientStream::read(char* bytes, size_t size) {
  if (!is_readable()) {
    if (!wait_readable()) {
      error_ = httplib::Error::Timeout;
      return -1;
    }
    at_ = end_ = 0;
    ssize_t received = -1;
    do {
      received = recv(socket_, buffer_.data(), buffer_.size(), 0);
    } while (received < 0 && errno == EINTR);
    if (received <= 0) {
      error_ = received < 0 ? httplib::Error::Read : httplib::Error::ConnectionClosed;
      return received;
    }
    end_ = static_cast<size_t>(received);
    received_ += received;
  }
  const size_t given = std::min(size, end_ - at_);
  std::memcpy(bytes, buffer_.data() + at_, given);
  at_ += given;
  return static_cast<ssize_t>(given);
}

ssize_t ClientStream::write(const char* bytes, size_t size) {
  while (true) {
    const ssize_t sent = send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      return sent;
    }
    const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
    if (errno != EINTR && !(full && wait_writable())) {
      error_ = httplib::Error::Write;
      return -1;
    }
  }
}

milliseconds ClientStream::Elapsed() const {
  return duration_cast<milliseconds>(steady_clock::now() - begin_);
}

const char* ClientStream::buffered_data(size_t& size) const {
  size = end_ - at_;
  return size > 0 ? buffer_.data() + at_ : nullptr;
}

bool AddressCount::Enter(const std::string& address, int most) {
  const std::lock_guard lock(mutex_);
  const auto entry = counts_.try_emplace(address, 0).first;
  if (entry->second >= most) {
    return false;
  }
  ++entry->second;
  return true;
}

void AddressCount::Leave(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto entry = counts_.find(address);
  if (entry != counts_.end() && --entry->second == 0) {
    counts_.erase(entry);
  }
}

std::string AddressOf(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (peer.ss_family == AF_INET) {
    in_addr address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    inet_ntop(AF_INET, &address, text.data(), text.size());
  } else if (peer.ss_family == AF_INET6) {
    in6_addr address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
      inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    } else {
      std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), uint8_t{0});
      inet_ntop(AF_INET6, &address, text.data(), text.size());
    }
  }
  return text.data();
}

PatientServer::PatientServer() : ending_(eventfd(0, EFD_CLOEXEC)) {
  set_post_routing_handler([](const httplib::Request& /*request*/, httplib::Response& response) {
    answering->status = response.status;
  });
}

PatientServer::~PatientServer() { close(ending_); }

void PatientServer::End(milliseconds limit) {
  (void)eventfd_write(ending_, 1);
  std::unique_lock lock(mutex_);
  answered_.wait_for(lock, limit, [this] { return answering_ == 0; });
  lock.unlock();
  stop();  // only now: it cuts streams off
}

void PatientServer::Count(int more) {
  const std::lock_guard lock(mutex_);
  answering_ += more;
  answered_.notify_all();
}

bool PatientServer::Answer(ClientStream& client, bool last) {
  client.BeginRequest();
  answering->begin = steady_clock::now();
  answering->status = 0;
  bool closed = false;
  // Counts from the time that line and headers were read: only then is it known where the request
  // ends. It counts no more when a handler throws, too.
  const auto uncount = [](PatientServer* server) { server->Count(-1); };
  std::unique_ptr<PatientServer, decltype(uncount)> counted(nullptr, uncount);
  const bool good = process_request(client, "", 0, "", 0, last, closed,
                                    [this, &counted](httplib::Request& /*request*/) {
                                      Count(1);
                                      counted.reset(this);
                                    });
  // A reply of an error says that the connection closes.
  return good && counted != nullptr && !closed && answering->status < 400;
}

bool PatientServer::process_and_close_socket(socket_t socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  const bool known = getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
  const std::string address = known ? AddressOf(peer) : "";
  const bool limited = most_per_address_ > 0 && !address.empty();
  if (limited && !addresses_.Enter(address, most_per_address_)) {
    (void)send(socket, kTooMany.data(), kTooMany.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    httplib::detail::drain_and_close_socket(socket);
    return false;
  }
  const bool served = Serve(socket, address);
  if (limited) {
    addresses_.Leave(address);
  }
  return served;
}

bool PatientServer::Serve(socket_t socket, const std::string& address) {
  ClientStream client(
      socket, std::chrono::seconds(read_timeout_sec_) + milliseconds(read_timeout_usec_ / 1000),
      ending_);
  Answering request{socket, address, {}, 0};
  answering = &request;
  const bool served = serve_guarded([&] {
    bool more = true;
    for (size_t left = keep_alive_max_count_;
         left > 0 && more && client.Wait(std::chrono::seconds(keep_alive_timeout_sec_)); --left) {
      more = Answer(client, left == 1);
    }
    return more;
  });
  answering = nullptr;
  httplib::detail::drain_and_close_socket(socket);
  return served;
}

}  // namespace hyper::server
