#include "src/server/http/client_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

namespace hyper::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool Poll(socket_t socket, int16_t events, milliseconds limit) {
  const auto end = steady_clock::now() + limit;
  pollfd waited{socket, events, 0};
  while (true) {
    const auto left =
        std::max(duration_cast<milliseconds>(end - steady_clock::now()), milliseconds(0));
    const int ready = poll(&waited, 1, static_cast<int>(left.count()));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

// A connection that is closed while bytes of its client are unread is reset, and the client may
// lose the end of its reply: so what is under way is read first, for a moment.
void CloseInPeace(socket_t socket) {
  constexpr milliseconds kMoment{100};
  constexpr size_t kMostBytes = size_t{1} << 20U;
  shutdown(socket, SHUT_WR);
  const auto end = steady_clock::now() + kMoment;
  std::array<char, 4096> rest{};
  for (size_t total = 0; total < kMostBytes;) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now());
    if (left.count() <= 0 || !Poll(socket, POLLIN, left)) {
      break;
    }
    const ssize_t read = recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
    if (read <= 0) {
      break;
    }
    total += static_cast<size_t>(read);
  }
  shutdown(socket, SHUT_RDWR);
  close(socket);
}

// One of those that are counted, while it lives.
class Count {
 public:
  explicit Count(std::atomic<int>& all) : all_(all) { ++all_; }
  ~Count() { --all_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  std::atomic<int>& all_;
};

}  // namespace

milliseconds RequestTimeLeft(milliseconds patience, milliseconds elapsed, int64_t bytes) {
  constexpr int64_t kBytesPerSecond = 16384;
  return patience - elapsed + milliseconds(bytes * 1000 / kBytesPerSecond);
}

// An error and a full hang-up are told unasked.
bool HasLeft(socket_t socket) { return Poll(socket, POLLRDHUP, milliseconds(0)); }

// The number stands in place of the client's port, which nothing here needs.
socket_t SocketOf(const httplib::Request& request) { return request.remote_port; }

ClientStream::ClientStream(socket_t socket, milliseconds patience,
                           const std::atomic<bool>& draining)
    : socket_(socket), patience_(patience), draining_(draining) {}

void ClientStream::BeginRequest() {
  begin_ = steady_clock::now();
  received_ = static_cast<int64_t>(end_ - at_);
  answered_ = false;
  refused_ = false;
}

bool ClientStream::Wait(milliseconds limit) const {
  constexpr milliseconds kLook{100};  // how soon the draining is noticed
  const auto end = steady_clock::now() + limit;
  while (!is_readable() && !draining_) {
    const auto left = duration_cast<milliseconds>(end - steady_clock::now());
    if (Poll(socket_, POLLIN, std::clamp(left, milliseconds(0), kLook))) {
      return true;
    }
    if (left <= kLook) {
      return false;
    }
  }
  return is_readable();
}

bool ClientStream::is_readable() const { return at_ < end_; }

bool ClientStream::wait_readable() const {
  const milliseconds left = RequestTimeLeft(patience_, Elapsed(), received_);
  return is_readable() || (left.count() > 0 && Wait(std::min(left, patience_)));
}

bool ClientStream::wait_writable() const { return Poll(socket_, POLLOUT, patience_); }

bool ClientStream::is_peer_alive() const { return !HasLeft(socket_); }

ssize_t ClientStream::read(char* bytes, size_t size) {
  if (!is_readable()) {
    if (!wait_readable()) {
      error_ = httplib::Error::Timeout;
      return -1;
    }
    if (size >= buffer_.size()) {
      return Receive(bytes, size);
    }
    at_ = end_ = 0;
    const ssize_t received = Receive(buffer_.data(), buffer_.size());
    if (received <= 0) {
      return received;
    }
    end_ = static_cast<size_t>(received);
  }
  const size_t given = std::min(size, end_ - at_);
  std::memcpy(bytes, buffer_.data() + at_, given);
  at_ += given;
  return static_cast<ssize_t>(given);
}

ssize_t ClientStream::Receive(char* bytes, size_t size) {
  ssize_t received = -1;
  do {
    received = recv(socket_, bytes, size, 0);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    error_ = httplib::Error::Read;
  } else if (received == 0) {
    error_ = httplib::Error::ConnectionClosed;
  }
  received_ += std::max<ssize_t>(received, 0);
  return received;
}

// A reply begins with its status, "HTTP/1.1 404 Not Found"; "100 Continue" comes before one.
void ClientStream::NoteStatus(std::string_view reply) {
  constexpr size_t kStatusAt = 9;
  if (!answered_ && reply.size() > kStatusAt) {
    answered_ = reply[kStatusAt] != '1';
    refused_ = reply[kStatusAt] >= '4';
  }
}

ssize_t ClientStream::write(const char* bytes, size_t size) {
  NoteStatus({bytes, size});
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

void ClientStream::get_remote_ip_and_port(std::string& address, int& port) const {
  address.clear();
  port = 0;
}

void ClientStream::get_local_ip_and_port(std::string& address, int& port) const {
  address.clear();
  port = 0;
}

milliseconds ClientStream::Elapsed() const {
  return duration_cast<milliseconds>(steady_clock::now() - begin_);
}

time_t ClientStream::duration() const { return Elapsed().count(); }

const char* ClientStream::buffered_data(size_t& size) const {
  size = end_ - at_;
  return size > 0 ? buffer_.data() + at_ : nullptr;
}

void ClientStream::consume_buffered(size_t size) { at_ += size; }

void PatientServer::Drain(milliseconds limit) {
  draining_ = true;
  const auto end = steady_clock::now() + limit;
  while (answering_ > 0 && steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
}

bool PatientServer::Answer(ClientStream& client, bool last) {
  bool closed = false;
  // From the time that line and headers were read: only then is it known where the request ends.
  std::optional<Count> answering;  // counts no more when a handler throws, too
  const bool good =
      process_request(client, "", /*remote_port=*/client.socket(), "", 0, last, closed,
                      [&](httplib::Request& /*request*/) { answering.emplace(answering_); });
  return good && answering && !closed && !client.refused();
}

bool PatientServer::process_and_close_socket(socket_t socket) {
  ClientStream client(
      socket, std::chrono::seconds(read_timeout_sec_) + milliseconds(read_timeout_usec_ / 1000),
      draining_);
  const bool served = serve_guarded([&] {
    bool more = true;
    for (size_t left = keep_alive_max_count_;
         left > 0 && more && client.Wait(std::chrono::seconds(keep_alive_timeout_sec_)); --left) {
      client.BeginRequest();
      more = Answer(client, left == 1);
    }
    return more;
  });
  CloseInPeace(socket);
  return served;
}

}  // namespace hyper::server
