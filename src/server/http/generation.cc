#include "src/server/http/generation.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "src/server/http/client_stream.h"
#include "src/server/http/send.h"

namespace hyper::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostEvents = size_t{1} << 16U;  // that a slow client may leave unread

// The events of a reply, and a look at the client now and then.
class Watch {
 public:
  // The next event, or nothing when the client has left or was too slow. Events may come without a
  // pause, so the client is looked at even where there is no need to wait.
  std::optional<ReplyEvent> Wait(ReplyQueue& reply) {
    while (true) {
      std::optional<ReplyEvent> event = reply.Take(kLook);
      if (Clock::now() - looked_ >= kLook) {
        looked_ = Clock::now();
        if (ClientHasLeft()) {
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
  Clock::time_point looked_ = Clock::now();
};

void SendWhole(ReplyQueue& reply, ReplyFormat& format, httplib::Response& response) {
  Watch watch;
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
  Send(response, 200, format.Body());
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

void SendStream(Scheduler& scheduler, std::shared_ptr<ReplyQueue> reply,
                std::unique_ptr<ReplyFormat> format, double heartbeat_s,
                httplib::Response& response) {
  auto stream = std::make_shared<EventStream>();
  stream->first = Watch().Wait(*reply);
  if (!stream->first) {
    response.status = 499;
    return;
  }
  if (stream->first->kind == ReplyEvent::Kind::kError) {
    SendError(response, stream->first->error);
    return;
  }
  scheduler.book().AwaitStored();  // so that no id is known of a run that could be lost
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

void Generate(const ModelLease& model, const Client& client, ParsedRequest parsed,
              MakeFormat format, double heartbeat_s, httplib::Response& response) {
  if (const auto* error = std::get_if<ApiError>(&parsed)) {
    SendError(response, *error);
    return;
  }
  auto& api = std::get<ApiRequest>(parsed);
  for (ServedRun& run : api.runs) {
    run.client = client;
    run.model = model.label();
  }
  Scheduler& scheduler = model.scheduler();
  auto reply = std::make_shared<ReplyQueue>(kMostEvents);
  const Scheduler::Submission submission = scheduler.Submit(api.runs, reply);
  if (submission.error) {
    SendError(response, *submission.error);
    return;
  }
  response.set_header("X-Hyper-Run", submission.id);
  std::unique_ptr<ReplyFormat> shape = format(api, submission.id, std::time(nullptr));
  if (api.stream) {
    SendStream(scheduler, std::move(reply), std::move(shape), heartbeat_s, response);
  } else {
    SendWhole(*reply, *shape, response);
  }
}

}  // namespace hyper::server
