#include "src/engine/llama/rpc/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "src/engine/llama/rpc/watch.h"

namespace hyper::llama {
namespace {

// A listening socket on a free port of the loopback.
class Listener {
 public:
  Listener() : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(descriptor_, 4), 0);
    socklen_t size = sizeof(address);
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(descriptor_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  RpcAddress address() const { return {"127.0.0.1", port_}; }
  // Takes one client, reads its greeting of 33 bytes, gives the answer and hangs up.
  std::string Serve(const std::string& answer) const {
    const int client = accept(descriptor_, nullptr, nullptr);
    std::string greeting(33, '\0');
    EXPECT_EQ(recv(client, greeting.data(), greeting.size(), MSG_WAITALL), 33);
    EXPECT_EQ(send(client, answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
    close(client);
    return greeting;
  }

 private:
  int descriptor_;
  int port_ = 0;
};

int SocketOption(int descriptor, int level, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(descriptor, level, name, &value, &size), 0);
  return value;
}

// What a greeted server says is wrong; empty: nothing.
std::string Greeted(const std::string& answer) {
  const Listener listener;
  std::string greeting;
  std::thread server([&] { greeting = listener.Serve(answer); });
  RpcProbe probe;
  EXPECT_EQ(probe.Connect(listener.address(), 5), std::nullopt);
  std::string wrong = probe.Greet(5).value_or("");
  server.join();
  EXPECT_EQ(greeting.substr(0, 9), std::string("\x0e\x18\0\0\0\0\0\0\0", 9));
  return wrong;
}

std::string Answer(char major, char minor) {
  return std::string("\x1c\0\0\0\0\0\0\0", 8) + major + minor + std::string(26, '\0');
}

TEST(RpcAddress, HostAndPort) {
  const Result<RpcAddress> address = ParseRpcAddress("node-7.lan:50052");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->host, "node-7.lan");
  EXPECT_EQ(address->port, 50052);
  EXPECT_TRUE(ParseRpcAddress("10.0.0.2:65535").has_value());
}

TEST(RpcAddress, WhatIsNoneIsNamed) {
  for (const char* text :
       {"", "host", "host:", ":50052", "host:0", "host:65536", "host:123456", "host:5x", "host:-1",
        "a b:1", "[::1]:50052", "::1:50052", "http://host:1", "host:50052/v1", "host: 1"}) {
    const Result<RpcAddress> address = ParseRpcAddress(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(address.error().message.find('"' + std::string(text) + '"'), std::string::npos);
    EXPECT_NE(address.error().message.find("host:port"), std::string::npos);
  }
}

TEST(RpcAddress, Lists) {
  EXPECT_TRUE(CheckRpcServers({}).ok());
  EXPECT_TRUE(CheckRpcServers({"a:1", "a:2", "b:1"}).ok());
  EXPECT_FALSE(CheckRpcServers({"a:1", ""}).ok());
  EXPECT_FALSE(CheckRpcServers({"a:1", "", "b:1"}).ok());
  const Status twice = CheckRpcServers({"a:1", "b:1", "a:1"});
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("\"a:1\" is given twice"), std::string::npos);
}

TEST(RpcProbe, ServersThatCannotBeReached) {
  RpcAddress closed;
  {
    const Listener listener;
    closed = listener.address();
  }
  EXPECT_EQ(RpcProbe().Connect(closed, 5), "Connection refused");
  EXPECT_NE(RpcProbe().Connect({"no.such.host.invalid", 1}, 5), std::nullopt);
}

TEST(RpcProbe, TheVersionMustBeTheSame) {
  EXPECT_EQ(Greeted(Answer(6, 0)), "");
  EXPECT_NE(Greeted(Answer(5, 1)).find("version 5.1"), std::string::npos);
  EXPECT_NE(Greeted(Answer(6, 9)).find("version 6.9"), std::string::npos);
  EXPECT_NE(Greeted("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n").find("does not speak"),
            std::string::npos);
  EXPECT_NE(Greeted("").find("does not speak"), std::string::npos);
}

TEST(RpcProbe, AServerThatServesAnotherProgramIsSilent) {
  const Listener busy;  // the kernel takes the connection, nobody answers
  RpcProbe probe;
  ASSERT_EQ(probe.Connect(busy.address(), 5), std::nullopt);
  EXPECT_NE(probe.AwaitTurn(1).value_or("").find("one program at a time"), std::string::npos);
}

TEST(RpcWatch, OnlyConnectionsToTheServersAreWatched) {
  const Listener server;
  const Listener other;
  std::vector<int> clients;
  for (const Listener* listener : {&server, &server, &other}) {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(listener->address().port));
    ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    clients.push_back(client);
  }
  const std::string name = "localhost:" + std::to_string(server.address().port);
  EXPECT_EQ(WatchConnections({}), 0);
  EXPECT_EQ(WatchConnections({name, "no.such.host.invalid:1"}), 2);
  for (size_t i = 0; i < clients.size(); ++i) {
    const bool watched = i < 2;
    EXPECT_EQ(SocketOption(clients[i], SOL_SOCKET, SO_KEEPALIVE), watched ? 1 : 0) << i;
    EXPECT_EQ(SocketOption(clients[i], IPPROTO_TCP, TCP_USER_TIMEOUT), watched ? 60'000 : 0) << i;
    close(clients[i]);
  }
}

}  // namespace
}  // namespace hyper::llama
