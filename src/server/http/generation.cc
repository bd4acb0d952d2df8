#include "src/server/http/generation.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "src/server/http/client_stream.h"

namespace hyper::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostEvents = size_t{1} << 16U;  // that a slow client may leave unread
constexpr milliseconds kLook{50};  // between two looks at whether the client is still there

void SendError(httplib::Response& response, const ApiError& error) {
  response.status = error.status;
  if (error.status == 429 || error.status == 503) {
    response.set_header("Retry-After", "1");
  }
  response.set_content(DumpJson(error.ToJson()), "application/json");
}

// The client of a request, looked at now and then.
class Watch {
 public:
  explicit Watch(const httplib::Request& request) : request_(request) {}

  // The next event, or nothing when the client has left or was too slow. Events may come without a
  // pause, so the client is looked at even where there is no need to wait.
  std::optional<ReplyEvent> Wait(ReplyQueue& reply) {
    while (true) {
      std::optional<ReplyEvent> event = reply.Take(kLook);
      if (Clock::now() - looked_ >= kLook) {
        looked_ = Clock::now();
        if (HasLeft(SocketOf(request_))) {
          reply.Abandon();
          return std::nullopt;
        }
      }
      if (event || reply.abandoned()) {
        return event;
      }
    }
  }

 private:
  const httplib::Request& request_;
  Clock::time_point looked_ = Clock::now();
};

void SendWhole(ReplyQueue& reply, ReplyFormat& format, const httplib::Request& request,
               httplib::Response& response) {
  Watch watch(request);
  while (!format.complete()) {
    const std::optional<ReplyEvent> event = watch.Wait(reply);
    if (!event) {
      response.status = 499;
      return;
    }
    if (event->kind == ReplyEvent::Kind::kError) {
      reply.Abandon();
      SendError(response, event->error);
      return;
    }
    format.Collect(*event);
  }
  response.set_content(DumpJson(format.Body()), "application/json");
}

// The state of a stream between two calls of its content provider.
struct EventStream {
  std::shared_ptr<ReplyQueue> reply;
  std::unique_ptr<ReplyFormat> format;
  std::optional<ReplyEvent> first;
  Clock::time_point last_sent = Clock::now();
  double heartbeat_s = 0;
  bool failed = false;

  // Writes what there is, waiting a moment for it; false: the client has left.
  bool Advance(httplib::DataSink& sink);
};

bool EventStream::Advance(httplib::DataSink& sink) {
  std::optional<ReplyEvent> event = first ? std::exchange(first, std::nullopt) : reply->Take(kLook);
  std::string bytes;
  if (event) {
    bytes = format->Stream(*event);
    failed = event->kind == ReplyEvent::Kind::kError;
  } else if (reply->abandoned() || !sink.is_writable()) {
    return false;
  } else if (Clock::now() - last_sent >= std::chrono::duration<double>(heartbeat_s)) {
    bytes = ": heartbeat\n\n";
  }
  if (!bytes.empty()) {
    last_sent = Clock::now();
    if (!sink.write(bytes.data(), bytes.size())) {
      return false;
    }
  }
  if (format->complete() || failed) {
    sink.done();
  }
  return true;
}

void SendStream(std::shared_ptr<ReplyQueue> reply, std::unique_ptr<ReplyFormat> format,
                double heartbeat_s, const httplib::Request& request, httplib::Response& response) {
  auto stream = std::make_shared<EventStream>();
  stream->first = Watch(request).Wait(*reply);
  if (!stream->first) {
    response.status = 499;
    return;
  }
  if (stream->first->kind == ReplyEvent::Kind::kError) {
    SendError(response, stream->first->error);
    return;
  }
  stream->reply = std::move(reply);
  stream->format = std::move(format);
  stream->heartbeat_s = heartbeat_s;
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Accel-Buffering", "no");
  response.set_chunked_content_provider(
      "text/event-stream",
      [stream](size_t /*offset*/, httplib::DataSink& sink) { return stream->Advance(sink); },
      [stream](bool /*success*/) { stream->reply->Abandon(); });
}

}  // namespace

void Generate(Scheduler& scheduler, ParsedRequest parsed, MakeFormat format, double heartbeat_s,
              const httplib::Request& request, httplib::Response& response) {
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    SendError(response, *error);
    return;
  }
  auto& api = std::get<ApiRequest>(parsed);
  auto reply = std::make_shared<ReplyQueue>(kMostEvents);
  const Scheduler::Submission submission = scheduler.Submit(api.runs, reply);
  if (submission.error) {
    SendError(response, *submission.error);
    return;
  }
  response.set_header("X-Hyper-Run", submission.id);
  std::unique_ptr<ReplyFormat> shape = format(api, submission.id, std::time(nullptr));
  if (api.stream) {
    SendStream(std::move(reply), std::move(shape), heartbeat_s, request, response);
  } else {
    SendWhole(*reply, *shape, request, response);
  }
}

}  // namespace hyper::server
