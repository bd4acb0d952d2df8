// A server on a scripted engine, and requests to it over real HTTP.
#pragma once

#include <cpp-httplib/httplib.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hyper/fake_engine.h"
#include "src/server/archive/run_archive.h"
#include "src/server/http/http_server.h"
#include "tests/support/patience.h"

namespace hyper::server {

inline constexpr const char* kChat = "/v1/chat/completions";

// Writes what the prompt says after "say ", then ends; each path the same.
inline void Say(const FakeStep& step, std::span<float> logits) {
  std::string history;
  for (const Token token : step.history) {
    history += static_cast<char>(token);
  }
  const std::string prompt = history.substr(0, static_cast<size_t>(step.prompt_tokens));
  const size_t say = prompt.find("say ");
  const std::string text =
      say == std::string::npos ? "" : prompt.substr(say + 4, prompt.find('\n', say) - say - 4);
  const size_t at = step.history.size() - static_cast<size_t>(step.prompt_tokens);
  const char next = at < text.size() ? text[at] : static_cast<char>(FakeEngine::kEnd);
  logits[static_cast<size_t>(next)] = 20.0F;
}

// Letters drawn at random, for ever.
inline void Babble(const FakeStep& /*step*/, std::span<float> logits) {
  for (size_t c = 'a'; c <= 'z'; ++c) {
    logits[c] = 20.0F;
  }
}

struct ServerSetup {
  std::function<void(const FakeStep&, std::span<float>)> logits = Say;
  int lanes = 64;
  int context = 4096;
  int64_t cells = 0;
  bool routing = false;
  // Another engine than the plain scripted one.
  std::function<std::unique_ptr<Engine>(FakeOptions)> make_engine;
  std::vector<std::string> plain_names;
  BookOptions book;
  SchedulerOptions scheduler;
  HttpOptions http;
};

// One where runs write letters until they are ended.
inline ServerSetup Endless() {
  ServerSetup setup;
  setup.logits = Babble;
  setup.context = 1 << 20;
  return setup;
}

// A pool of four paths for it.
inline ServedRun EndlessPool() {
  ServedRun request;
  request.method = "sc";
  request.messages = {{"user", "x"}};
  request.plan.options = Preset("short").value_or({});
  request.plan.options.width = 4;
  request.plan.options.max_tokens = 1 << 19;
  return request;
}

class TestServer {
 public:
  explicit TestServer(ServerSetup setup) {
    const FakeOptions options = EngineOptions(setup);
    engine_ =
        setup.make_engine ? setup.make_engine(options) : std::make_unique<FakeEngine>(options);
    book_ = std::make_unique<RunBook>(setup.book);
    scheduler_ = std::make_unique<Scheduler>(*engine_, *book_, setup.scheduler);
    ServerLimits limits;
    limits.model_name = "m";
    limits.plain_names = setup.plain_names;
    limits.preset = "short";
    limits.model = engine_->model();
    limits.most_lanes = setup.lanes;
    limits.routing = setup.routing;
    setup.http.port = 0;
    server_ = std::move(*HttpServer::Listen(*scheduler_, limits, setup.http));
  }
  ~TestServer() {
    scheduler_->Shutdown(0);
    server_->Stop();
    scheduler_.reset();
    EXPECT_EQ(engine_->cost().lanes_open, 0);
  }

  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", server_->port());
    client.set_read_timeout(std::chrono::seconds(static_cast<int>(20 * test::Patience())));
    return client;
  }
  httplib::Result Post(const std::string& path, const Json& body) const {
    return Client().Post(path, body.dump(), "application/json");
  }
  Json Good(const std::string& path, const Json& body) const {
    const httplib::Result reply = Answered(path, body, 200);
    return reply ? Json::parse(reply->body) : Json();
  }
  // The field that a 400 names.
  std::string BadField(const std::string& path, const Json& body) const {
    const httplib::Result reply = Answered(path, body, 400);
    const Json param = reply ? Json::parse(reply->body)["error"]["param"] : Json();
    return param.is_string() ? param.get<std::string>() : "";
  }
  // The data of a stream's events, "[DONE]" left out; checks that it is the last one.
  std::vector<Json> Stream(const std::string& path, Json body) const {
    body["stream"] = true;
    const httplib::Result reply = Answered(path, body, 200);
    std::vector<Json> events;
    if (!reply) {
      return events;
    }
    bool done = false;
    for (size_t at = 0; (at = reply->body.find("data: ", at)) != std::string::npos;) {
      const size_t end = reply->body.find('\n', at);
      const std::string data = reply->body.substr(at + 6, end - at - 6);
      EXPECT_FALSE(done);
      done = data == "[DONE]";
      if (!done) {
        events.push_back(Json::parse(data));
      }
      at = end;
    }
    EXPECT_TRUE(done || path == "/v1/responses") << reply->body;
    return events;
  }
  // Waits until nothing runs or waits.
  SchedulerMetrics Settled() const {
    for (int i = 0; i < 1000 * test::Patience(); ++i) {
      const SchedulerMetrics metrics = scheduler_->metrics();
      if (metrics.running + metrics.waiting == 0) {
        return metrics;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "runs are left";
    return scheduler_->metrics();
  }
  // A reply that must be there and have that status.
  httplib::Result Answered(const std::string& path, const Json& body, int status) const {
    httplib::Result reply = Post(path, body);
    EXPECT_TRUE(reply) << httplib::to_string(reply.error());
    if (reply) {
      EXPECT_EQ(reply->status, status) << reply->body;
    }
    return reply;
  }
  // The records of a run.
  std::vector<Json> Records(const std::string& id) const {
    const std::string body = Client().Get("/v1/runs/" + id + "/events")->body;
    std::vector<Json> records;
    for (size_t at = 0; (at = body.find("data: ", at)) != std::string::npos; at += 6) {
      records.push_back(Json::parse(body.substr(at + 6, body.find('\n', at) - at - 6)));
    }
    return records;
  }
  Scheduler& scheduler() { return *scheduler_; }
  std::shared_ptr<const RunLog> scheduler_log(const std::string& id) const {
    return book_->Log(id);
  }
  const HttpServer& http() const { return *server_; }

 private:
  static FakeOptions EngineOptions(const ServerSetup& setup) {
    FakeOptions options;
    options.logits = setup.logits;
    options.capabilities.max_lanes = setup.lanes;
    options.capabilities.max_rows = setup.lanes;
    options.capabilities.context_tokens = setup.context;
    options.capabilities.cells_total = setup.cells;
    return options;
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<RunBook> book_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<HttpServer> server_;
};

inline std::unique_ptr<RunArchive> ArchiveAt(const std::string& path) {
  ArchiveOptions options;
  options.path = path;
  return std::move(*RunArchive::Open(options));
}

inline Json Chat(const std::string& text, const std::string& model = "m:plain") {
  return {{"model", model}, {"messages", {{{"role", "user"}, {"content", text}}}}};
}

inline Json With(Json body, const std::string& name, Json value) {
  body[name] = std::move(value);
  return body;
}

inline std::string Content(const Json& reply, size_t choice = 0) {
  return reply["choices"][choice]["message"]["content"];
}

}  // namespace hyper::server
