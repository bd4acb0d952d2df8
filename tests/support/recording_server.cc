#include "tests/support/recording_server.h"

#include <utility>

namespace hyper::test {

RecordingServer::RecordingServer(Handler handler)
    : handler_(std::move(handler)),
      server_([this](const HttpMessage& message, ServerConnection& connection) {
        Answer(message, connection);
      }) {}

std::vector<ServerRequest> RecordingServer::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void RecordingServer::Answer(const HttpMessage& message, ServerConnection& connection) {
  ServerRequest request{message.method, message.path, message.head, message.body};
  const ServerReply reply = handler_(request);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
  }
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) +
                     " scripted\r\nContent-Length: " + std::to_string(reply.body.size()) +
                     "\r\nConnection: close\r\n";
  for (const std::string& line : reply.headers) {
    head += line + "\r\n";
  }
  connection.Write(head + "\r\n" + reply.body.substr(0, reply.cut_at));
  connection.CloseAfterwards();
}

}  // namespace hyper::test
