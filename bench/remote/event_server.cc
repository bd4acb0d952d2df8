#include "bench/remote/event_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace hyper::bench {
namespace {

struct Client {
  int socket = -1;
  std::string request;
  std::string out;  // to be sent
  size_t sent = 0;
  int events_left = -1;  // of a stream; -1: none runs
  size_t next_event = 0;
};

std::string Answer(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string ChunkFrame(const std::string& bytes) {
  std::array<char, 32> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + bytes + "\r\n";
}

class EventServer {
 public:
  EventServer(const std::vector<std::string>& events, std::string completion)
      : completion_(std::move(completion)) {
    for (const std::string& event : events) {
      frames_.push_back(ChunkFrame(event));
    }
  }

  void Serve(const std::vector<int>& listeners) {
    epoll_ = epoll_create1(0);
    for (const int listener : listeners) {
      Watch(listener, EPOLLIN, EPOLL_CTL_ADD);
    }
    std::array<epoll_event, 1024> ready{};
    for (;;) {
      const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int socket = ready[static_cast<size_t>(i)].data.fd;
        const auto found = clients_.find(socket);
        if (found == clients_.end()) {
          Accept(socket);
        } else if (!Handle(*found->second, ready[static_cast<size_t>(i)].events)) {
          close(socket);
          clients_.erase(found);
        }
      }
    }
  }

 private:
  void Watch(int socket, uint32_t events, int how) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = socket;
    epoll_ctl(epoll_, how, socket, &event);
  }

  void Accept(int listener) {
    const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (socket < 0) {
      return;
    }
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto client = std::make_unique<Client>();
    client->socket = socket;
    clients_[socket] = std::move(client);
    Watch(socket, EPOLLIN, EPOLL_CTL_ADD);
  }

  // False: the client has gone.
  bool Handle(Client& client, uint32_t events) {
    if ((events & EPOLLIN) != 0) {
      std::array<char, 65536> bytes{};
      const ssize_t got = read(client.socket, bytes.data(), bytes.size());
      if (got <= 0) {
        return false;
      }
      client.request.append(bytes.data(), static_cast<size_t>(got));
      TakeRequest(client);
    }
    return Send(client);
  }

  void TakeRequest(Client& client) {
    const size_t head = client.request.find("\r\n\r\n");
    if (head == std::string::npos) {
      return;
    }
    const size_t length = client.request.find("Content-Length: ");
    const size_t size =
        length < head ? std::strtoul(client.request.c_str() + length + 16, nullptr, 10) : 0;
    if (client.request.size() < head + 4 + size) {
      return;
    }
    const std::string body = client.request.substr(head + 4, size);
    const size_t asked = body.find("\"max_tokens\":");
    if (client.request.find("/models") < head) {
      client.out += Answer(200, R"({"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]})");
    } else if (client.request.find(" /v1/completions") > head || asked == std::string::npos) {
      client.out += Answer(404, R"({"detail":"Not Found"})");
    } else if (body.find("\"stream\":true") == std::string::npos) {
      client.out += Answer(200, completion_);
    } else {
      client.events_left = std::atoi(body.c_str() + asked + 13);
      client.next_event = static_cast<size_t>(client.socket) % frames_.size();
      client.out +=
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
          "chunked\r\n\r\n";
    }
    client.request.clear();
  }

  bool Send(Client& client) {
    constexpr int kEventsAtOnce = 4;  // streams take turns
    for (int i = 0; i < kEventsAtOnce && client.events_left > 0; ++i, --client.events_left) {
      client.out += frames_[client.next_event++ % frames_.size()];
    }
    if (client.events_left == 0) {
      client.out += ChunkFrame("data: [DONE]\n\n") + "0\r\n\r\n";
      client.events_left = -1;
    }
    const ssize_t sent =
        send(client.socket, client.out.data(), client.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) {
      return false;
    }
    client.out.erase(0, static_cast<size_t>(std::max<ssize_t>(sent, 0)));
    const bool more = !client.out.empty() || client.events_left >= 0;
    Watch(client.socket, more ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    return true;
  }

  std::vector<std::string> frames_;
  std::string completion_;
  int epoll_ = -1;
  std::unordered_map<int, std::unique_ptr<Client>> clients_;
};

}  // namespace

void ServeEvents(const std::vector<int>& listeners, const std::vector<std::string>& events,
                 const std::string& completion) {
  EventServer(events, completion).Serve(listeners);
}

int ListenOnLoopback(int& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("event server");
    std::exit(1);
  }
  port = ntohs(address.sin_port);
  return listener;
}

}  // namespace hyper::bench
