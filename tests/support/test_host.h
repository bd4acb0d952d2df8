// Test support: a host of the models a, b and c, and requests for them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/server/models/model_host.h"
#include "tests/support/model_fleet.h"

namespace hyper::server {

inline bool Stays() { return false; }

// At most so many models, which are unloaded when unused for idle_s; 0: not for that.
inline HostOptions AtOnce(int most_loaded, double idle_s = 0) {
  HostOptions options;
  options.most_loaded = most_loaded;
  options.idle_s = idle_s;
  options.wait_s = 60 * test::Patience();
  options.busy_s = 0;
  return options;
}

class TestHost {
 public:
  explicit TestHost(HostOptions options, const std::vector<std::string>& names = {"a", "b", "c"})
      : host_(book_, Models(names), std::move(options)) {}

  ModelHost& operator*() { return host_; }
  ModelHost* operator->() { return &host_; }
  ModelFleet& fleet() { return fleet_; }
  RunBook& book() { return book_; }

  // Which must work.
  ModelLease Lease(size_t model) {
    std::variant<ModelLease, ApiError> lease = host_.Acquire(model, Stays);
    if (const auto* error = std::get_if<ApiError>(&lease)) {
      ADD_FAILURE() << error->message;
      std::abort();
    }
    return std::get<ModelLease>(std::move(lease));
  }
  ApiError Refusal(size_t model, const std::function<bool()>& gone = Stays) {
    std::variant<ModelLease, ApiError> lease = host_.Acquire(model, gone);
    const auto* error = std::get_if<ApiError>(&lease);
    EXPECT_NE(error, nullptr);
    return error != nullptr ? *error : ApiError();
  }
  // Loads it and lets go of it.
  void Use(size_t model) { Lease(model); }
  // What a plain run on the model writes.
  std::string Ask(size_t model) {
    auto reply = std::make_shared<ReplyQueue>(64);
    Lease(model).scheduler().Submit({Run("say it")}, reply);
    std::string text;
    for (int look = 0; look < 1200 * test::Patience(); ++look) {  // a minute
      const std::optional<ReplyEvent> event = reply->Take(std::chrono::milliseconds(50));
      text += event && event->kind == ReplyEvent::Kind::kText ? event->content : "";
      if (event && event->kind == ReplyEvent::Kind::kError) {
        return event->error.message;
      }
      if (event && event->kind == ReplyEvent::Kind::kDone) {
        return text;
      }
    }
    ADD_FAILURE() << "the run did not end";
    return text;
  }
  // Begins a run that does not end by itself; its id.
  std::string Begin(size_t model) {
    ServedRun run = Run("endless");
    run.keep_running = true;
    const std::string id =
        Lease(model).scheduler().Submit({run}, std::make_shared<ReplyQueue>(1 << 16)).id;
    Grow(id);
    return id;
  }
  // Returns once the run has more tokens than now.
  void Grow(const std::string& id) {
    const int64_t tokens = book_.Find(id)->tokens;
    AwaitThat([&] { return book_.Find(id)->tokens > tokens; });
  }
  void Cancel(size_t model, const std::string& id) {
    RunCommand cancel;
    cancel.kind = RunCommand::Kind::kCancel;
    const std::optional<ModelLease> lease = host_.IfLoaded(model);
    ASSERT_TRUE(lease.has_value());
    EXPECT_FALSE(lease->scheduler().Control(id, cancel).error.has_value());
  }

 private:
  // Each has one other name, such as "a's".
  std::vector<ServedModel> Models(const std::vector<std::string>& names) {
    std::vector<ServedModel> models = fleet_.Models(names);
    for (ServedModel& model : models) {
      model.scheduler.plain_lanes = 8;
      model.limits.plain_names = {model.limits.model_name + "'s"};
    }
    return models;
  }
  static ServedRun Run(const std::string& text) {
    ServedRun run;
    run.messages = {{"user", text}};
    run.plan.options.max_tokens = 1 << 18;
    return run;
  }

  ModelFleet fleet_;
  RunBook book_{BookOptions{}};
  ModelHost host_;  // last: it uses the others
};

}  // namespace hyper::server
