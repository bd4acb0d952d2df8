#include "tests/support/recording_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hyper::test {
namespace {

constexpr const char* kHeadEnd = "\r\n\r\n";

// Bytes of the body that the head announces.
size_t BodySize(const std::string& head) {
  std::string small = head;
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = "content-length:";
  const size_t at = small.find(name);
  return at == std::string::npos
             ? 0
             : static_cast<size_t>(std::atoll(small.c_str() + at + name.size()));
}

void Send(int connection, const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

}  // namespace

RecordingServer::RecordingServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("recording server");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

RecordingServer::~RecordingServer() {
  shutdown(listener_, SHUT_RDWR);  // wakes accept
  thread_.join();
  close(listener_);
}

std::string RecordingServer::address() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<ServerRequest> RecordingServer::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void RecordingServer::Serve() {
  while (true) {
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    Answer(connection);
    close(connection);
  }
}

void RecordingServer::Answer(int connection) {
  std::string bytes;
  size_t head_end = std::string::npos;
  while (head_end == std::string::npos ||
         bytes.size() < head_end + 4 + BodySize(bytes.substr(0, head_end))) {
    char block[4096];
    const ssize_t count = recv(connection, block, sizeof(block), 0);
    if (count <= 0) return;
    bytes.append(block, static_cast<size_t>(count));
    head_end = bytes.find(kHeadEnd);
  }
  ServerRequest request;
  request.head = bytes.substr(0, head_end);
  request.body = bytes.substr(head_end + 4);
  const size_t first = request.head.find(' ');
  const size_t second = request.head.find(' ', first + 1);
  request.method = request.head.substr(0, first);
  request.target = request.head.substr(first + 1, second - first - 1);
  const ServerReply reply = handler_(request);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
  }
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) +
                     " scripted\r\nContent-Length: " + std::to_string(reply.body.size()) +
                     "\r\nConnection: close\r\n";
  for (const std::string& line : reply.headers) head += line + "\r\n";
  Send(connection, head + "\r\n" + reply.body.substr(0, reply.cut_at));
}

}  // namespace hyper::test
