// Clients that are slow, and requests that come together, over a socket of the test's own.
#include "src/server/client_stream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "src/server/testing/server_fixture.h"

namespace hyper {
namespace {

using std::chrono::milliseconds;

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

// A client that reads nothing for a while gets all that was written to it.
TEST(ClientStream, ALongReplyComesWhole) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string all(size_t{4} << 20U, 'x');
  std::thread writer([&] {
    ClientStream stream(ends[0], std::chrono::seconds(static_cast<int>(20 * test::Patience())));
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
  ClientStream reader(ends[1], std::chrono::seconds(static_cast<int>(20 * test::Patience())));
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
  ClientStream stream(ends[0], milliseconds(50));
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

}  // namespace
}  // namespace hyper
