#include "src/server/http/client_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

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

// The connection whose requests a thread answers.
struct Answering {
  socket_t socket = INVALID_SOCKET;
  int status = 0;  // of the newest reply; 0: not known yet
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
  ClientStream client(
      socket, std::chrono::seconds(read_timeout_sec_) + milliseconds(read_timeout_usec_ / 1000),
      ending_);
  Answering request{socket};
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
