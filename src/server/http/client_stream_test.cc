// Clients that are slow, and requests that come together, over a socket of the test's own.
#include "src/server/http/client_stream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

using std::chrono::milliseconds;

constexpr int kServing = -1;  // no end of the server

milliseconds Patient() { return milliseconds(static_cast<int64_t>(20000 * test::Patience())); }

// A connection to a port of the loopback.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    timeval limit{};
    limit.tv_sec = static_cast<time_t>(20 * test::Patience());
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~RawClient() { close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False once the server has hung up.
  bool Send(std::string_view bytes) const {
    return send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All until the server hangs up.
  std::string Rest() const {
    std::string all;
    char part[4096];
    ssize_t size = 0;
    while ((size = recv(socket_, part, sizeof(part), 0)) > 0) {
      all.append(part, static_cast<size_t>(size));
    }
    EXPECT_EQ(size, 0);
    return all;
  }

 private:
  int socket_;
};

TEST(ClientStream, ARequestHasItsPatienceAndASecondForEach16KiB) {
  const milliseconds patience(20000);
  EXPECT_EQ(RequestTimeLeft(patience, milliseconds(0), 0), patience);
  EXPECT_EQ(RequestTimeLeft(patience, milliseconds(20000), 0), milliseconds(0));
  EXPECT_EQ(RequestTimeLeft(patience, milliseconds(20000), 16384), milliseconds(1000));
  EXPECT_EQ(RequestTimeLeft(patience, milliseconds(60000), 1000), milliseconds(-39939));
  EXPECT_EQ(RequestTimeLeft(patience, milliseconds(0), int64_t{4} << 20U), milliseconds(276000));
}

TEST(ClientStream, AByteNowAndThenDoesNotHoldAConnection) {
  ServerSetup setup;
  setup.http.slow_client_s = 0.2;
  const TestServer server(setup);
  const RawClient client(server.http().port());
  EXPECT_TRUE(client.Send("GET /health HTTP/1.1\r\nX-Long: "));
  int sent = 0;
  while (sent < 1000 * test::Patience() && client.Send("a")) {
    ++sent;
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_LT(sent, 1000 * test::Patience());
}

TEST(ClientStream, RequestsThatComeInOnePieceAreAllAnswered) {
  const TestServer server({});
  const RawClient client(server.http().port());
  const std::string body = Chat("say seven").dump();
  EXPECT_TRUE(
      client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                  "Content-Type: application/json\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body +
                  "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  const std::string replies = client.Rest();
  const size_t first = replies.find(R"({"status":"ok"})");
  const size_t second = replies.find("seven", first);
  EXPECT_NE(second, std::string::npos) << replies;
  EXPECT_NE(replies.find(R"({"status":"ok"})", second), std::string::npos) << replies;
}

// The reply of an error says that the connection closes, and so it does.
TEST(ClientStream, AnErrorEndsTheConnection) {
  const TestServer server({});
  for (const char* refused : {"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
                              "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                              "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"}) {
    const RawClient client(server.http().port());
    EXPECT_TRUE(client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" +
                            std::string(refused) +
                            "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const std::string replies = client.Rest();
    const size_t first = replies.find(R"({"status":"ok"})");
    EXPECT_NE(first, std::string::npos) << replies;
    EXPECT_NE(replies.find("Connection: close", first), std::string::npos) << replies;
    EXPECT_EQ(replies.find(R"({"status":"ok"})", first + 1), std::string::npos) << replies;
  }
}

// A request whose headers cannot be read has no end that is known: what follows is never taken for
// another request, which could come from a page that may not ask.
TEST(ClientStream, WhatFollowsAnUnreadableRequestIsNotARequest) {
  const TestServer server({});
  const std::string inner = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string post = "POST /v1/chat/completions HTTP/1.1\r\nHost: evil.example\r\n";
  const std::string rest = "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  for (const std::string& head :
       {fmt::format("{}Cookie: {:c>9000}\r\n{}", post, "", rest),
        fmt::format("{}no header at all\r\n{}", post, rest),
        fmt::format("MAGIC /health HTTP/1.1\r\nHost: evil.example\r\n{}", rest),
        std::string("x\r\n")}) {
    const RawClient client(server.http().port());
    EXPECT_TRUE(client.Send(head + inner));
    const std::string replies = client.Rest();
    EXPECT_EQ(replies.find("200 OK"), std::string::npos) << replies;
    EXPECT_EQ(replies.find("HTTP/1.1", 1), std::string::npos) << replies;  // one reply
  }
}

TEST(ClientStream, AClientThatHasLeftIsSeenBehindUnreadBytes) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_FALSE(HasLeft(ends[0]));
  EXPECT_EQ(send(ends[1], "\r\n", 2, 0), 2);
  EXPECT_FALSE(HasLeft(ends[0]));
  close(ends[1]);
  EXPECT_TRUE(HasLeft(ends[0]));
  close(ends[0]);
}

// A client that leaves behind a byte too many frees its lanes all the same.
TEST(ClientStream, ARunEndsWhoseClientHasLeft) {
  ServerSetup setup;
  setup.logits = Babble;
  setup.context = 1 << 20;
  TestServer server(setup);
  const std::string body = With(Chat("x"), "max_tokens", 32768).dump();
  {
    const RawClient client(server.http().port());
    EXPECT_TRUE(
        client.Send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Type: application/json\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body));
    while (server.scheduler().metrics().running == 0) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(client.Send("\r\n"));
  }
  EXPECT_EQ(server.Settled().runs_cancelled, 1);
}

// The end of a server does not wait for those who have not asked yet; the patience here is longer
// than any test.
TEST(ClientStream, TheEndDoesNotWaitForHalfARequest) {
  ServerSetup setup;
  setup.http.slow_client_s = 100000;
  auto server = std::make_unique<TestServer>(setup);
  const RawClient begun(server->http().port());
  EXPECT_TRUE(begun.Send("G"));
  const RawClient sending(server->http().port());
  EXPECT_TRUE(
      sending.Send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Length: 100000\r\n\r\n{"));
  std::this_thread::sleep_for(milliseconds(50));
  server.reset();
  EXPECT_EQ(begun.Rest().find("200 OK"), std::string::npos);
}

// The server ends only when what it owes is written: here to a client that reads late.
TEST(ClientStream, AStreamEndsWholeWhenTheServerEnds) {
  constexpr int kChoices = 16;  // no event of one is joined to another's, so there are many
  ServerSetup setup;
  setup.logits = Babble;
  setup.http.slow_client_s = 100000;  // the end cuts off who is slower; a sanitizer may be
  auto server = std::make_unique<TestServer>(setup);
  const RawClient client(server->http().port());
  const Json body = With(With(With(Chat("x"), "n", kChoices), "stream", true), "max_tokens", 2500);
  const std::string bytes = body.dump();
  EXPECT_TRUE(
      client.Send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                  "Content-Type: application/json\r\nContent-Length: " +
                  std::to_string(bytes.size()) + "\r\n\r\n" + bytes));
  while (server->scheduler().metrics().runs_finished == 0) {
    std::this_thread::yield();
  }
  std::string reply;
  std::thread reader([&] {
    std::this_thread::sleep_for(milliseconds(100));
    reply = client.Rest();
  });
  server.reset();
  reader.join();
  EXPECT_GT(reply.size(), size_t{5} << 20U);  // more than what waits in a socket
  EXPECT_NE(reply.find("data: [DONE]"), std::string::npos);
}

// A client that reads nothing for a while gets all that was written to it.
TEST(ClientStream, ALongReplyComesWhole) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string all(size_t{4} << 20U, 'x');
  std::thread writer([&] {
    ClientStream stream(ends[0], Patient(), kServing);
    size_t at = 0;
    while (at < all.size()) {
      const ssize_t sent = stream.write(all.data() + at, all.size() - at);
      ASSERT_GT(sent, 0);
      at += static_cast<size_t>(sent);
    }
    shutdown(ends[0], SHUT_WR);
    EXPECT_TRUE(stream.is_peer_alive());
    close(ends[0]);
  });
  std::this_thread::sleep_for(milliseconds(50));
  ClientStream reader(ends[1], Patient(), kServing);
  std::string got;
  std::string part(10000, '\0');
  ssize_t size = 0;
  while ((size = reader.read(part.data(), part.size())) > 0) {
    got.append(part, 0, static_cast<size_t>(size));
  }
  writer.join();
  EXPECT_EQ(size, 0);
  EXPECT_EQ(got, all);
  EXPECT_FALSE(reader.is_peer_alive());
  close(ends[1]);
}

TEST(ClientStream, AClientThatTakesNothingEndsTheWriting) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ClientStream stream(ends[0], milliseconds(50), kServing);
  const std::string much(size_t{1} << 20U, 'x');
  ssize_t sent = 0;
  for (int i = 0; i < 100 && sent >= 0; ++i) {
    sent = stream.write(much.data(), much.size());
  }
  EXPECT_EQ(sent, -1);
  EXPECT_EQ(stream.get_error(), httplib::Error::Write);
  close(ends[0]);
  close(ends[1]);
}

sockaddr_storage Peer(const char* text) {
  sockaddr_storage peer{};
  auto& four = reinterpret_cast<sockaddr_in&>(peer);
  auto& six = reinterpret_cast<sockaddr_in6&>(peer);
  if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
    peer.ss_family = AF_INET;
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    peer.ss_family = AF_INET6;
  }
  return peer;
}

TEST(AddressOf, IsThatOfACustomer) {
  EXPECT_EQ(AddressOf(Peer("192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(AddressOf(Peer("::ffff:192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(AddressOf(Peer("2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::");
  EXPECT_EQ(AddressOf(Peer("2001:db8:1:2:9::1")), "2001:db8:1:2::");
  EXPECT_EQ(AddressOf(sockaddr_storage{}), "");
}

TEST(AddressCount, CountsEachAddress) {
  AddressCount count;
  EXPECT_TRUE(count.Enter("a", 2));
  EXPECT_TRUE(count.Enter("a", 2));
  EXPECT_FALSE(count.Enter("a", 2));
  EXPECT_TRUE(count.Enter("b", 2));
  count.Leave("a");
  EXPECT_TRUE(count.Enter("a", 2));
  EXPECT_FALSE(count.Enter("a", 2));
}

}  // namespace
}  // namespace hyper::server
