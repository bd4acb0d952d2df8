#include "tests/support/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace hyper::test {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Reads one request; `buffer` keeps what came behind it. False: the client has gone.
bool ReadRequest(int socket, std::string& buffer, HttpMessage& request) {
  const auto more = [&] {
    std::array<char, 65536> bytes{};
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      buffer.append(bytes.data(), static_cast<size_t>(got));
    }
    return got > 0;
  };
  size_t head = 0;
  while ((head = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) {
      return false;
    }
  }
  request = {};
  request.head = buffer.substr(0, head);
  size_t begin = 0;
  for (size_t end = 0; begin < head; begin = end + 2) {
    end = std::min(buffer.find("\r\n", begin), head);
    const std::string line = buffer.substr(begin, end - begin);
    if (begin == 0) {
      const size_t space = line.find(' ');
      request.method = line.substr(0, space);
      request.path = line.substr(space + 1, line.rfind(' ') - space - 1);
    } else if (const size_t colon = line.find(':'); colon != std::string::npos) {
      const size_t value = line.find_first_not_of(' ', colon + 1);
      request.headers[Lower(line.substr(0, colon))] =
          value == std::string::npos ? "" : line.substr(value);
    }
  }
  const auto length = request.headers.find("content-length");
  const size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (buffer.size() < head + 4 + size) {
    if (!more()) {
      return false;
    }
  }
  request.body = buffer.substr(head + 4, size);
  buffer.erase(0, head + 4 + size);
  return true;
}

}  // namespace

bool ServerConnection::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool ServerConnection::Respond(int status, std::string_view body, std::string_view headers) const {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n";
  head += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
  head += "\r\n" + std::string(headers) + "\r\n";
  return Write(head + std::string(body));
}

bool ServerConnection::BeginStream() const {
  return Write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool ServerConnection::Send(std::string_view bytes) const {
  std::array<char, 32> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return Write(std::string(size.data()) + std::string(bytes) + "\r\n");
}

bool ServerConnection::EndStream() const { return Write("0\r\n\r\n"); }

bool ServerConnection::PeerGone() const {
  pollfd entry{socket_, POLLIN, 0};
  char byte = 0;
  return poll(&entry, 1, 0) > 0 && recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void ServerConnection::AwaitHangUp() {
  char byte = 0;
  recv(socket_, &byte, 1, MSG_PEEK);
  CloseAfterwards();
}

ScriptedServer::ScriptedServer(Handler handler, int port) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("scripted server");
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Listen(); });
}

ScriptedServer::~ScriptedServer() {
  Stop();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void ScriptedServer::Stop() {
  if (stopped_.exchange(true)) {
    return;
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) {
    shutdown(socket, SHUT_RDWR);
  }
}

void ScriptedServer::Listen() {
  while (!stopped_) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      continue;
    }
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const std::lock_guard lock(mutex_);
    sockets_.insert(client);
    threads_.emplace_back([this, client] { Serve(client); });
  }
}

void ScriptedServer::Serve(int client) {
  ServerConnection connection(client);
  std::string buffer;
  HttpMessage request;
  while (!stopped_ && !connection.closes() && ReadRequest(client, buffer, request)) {
    handler_(request, connection);
  }
  const std::lock_guard lock(mutex_);
  sockets_.erase(client);
  close(client);
}

}  // namespace hyper::test
