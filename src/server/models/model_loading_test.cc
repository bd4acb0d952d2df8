// Models of a host that fail to load, are waited for, or go while they are wanted.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "src/server/models/model_host.h"
#include "tests/support/test_host.h"

namespace hyper::server {
namespace {

TEST(ModelLoading, AFailureIsOfTheRequestsThatWait) {
  std::atomic<int> told = 0;
  HostOptions options = AtOnce(2);
  options.on_failure = [&told](const std::string& name, const std::string& reason) {
    told += name == "b" && reason == "b.gguf is cut" ? 1 : 100;
  };
  TestHost host(options);
  host.Use(0);
  host.fleet().BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kDataLoss, "b.gguf is cut"});
  });
  const ApiError error = host.Refusal(1);
  AwaitThat([&] { return told.load() != 0; });
  EXPECT_EQ(error.status, 500);
  EXPECT_EQ(error.code, "model_load_failed");
  EXPECT_EQ(error.message, "model 'b' cannot be loaded: the log of the server has the reason");
  EXPECT_EQ(StatesOf(*host), "loaded unloaded unloaded");
  EXPECT_EQ(host->Statuses()[1].failures, 1);
  EXPECT_EQ(host.Ask(0), "a");
  host.fleet().BeforeLoad("b", [] { return std::nullopt; });
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host->Statuses()[1].failures, 1);
  EXPECT_EQ(told, 1);
}

TEST(ModelLoading, AnExceptionIsAFailureToo) {
  TestHost host(AtOnce(1));
  host.fleet().BeforeLoad("a", []() -> std::optional<Error> { throw std::bad_alloc(); });
  EXPECT_EQ(host.Refusal(0).status, 503);
  host.fleet().BeforeLoad("a", []() -> std::optional<Error> { throw std::runtime_error("no"); });
  EXPECT_EQ(host.Refusal(0).status, 500);
}

TEST(ModelLoading, ItsStatusIsThatOfTheServer) {
  TestHost host(AtOnce(1));
  const auto refusal = [&host](ErrorCode code) {
    host.fleet().BeforeLoad("a", [code] { return std::optional(Error{code, "/models/a.gguf"}); });
    return host.Refusal(0);
  };
  EXPECT_EQ(refusal(ErrorCode::kUnavailable).status, 503);
  EXPECT_EQ(refusal(ErrorCode::kUnavailable).message,
            "model 'a' cannot be loaded: the server that runs it does not answer");
  EXPECT_EQ(refusal(ErrorCode::kResourceExhausted).message,
            "model 'a' cannot be loaded: memory is short");
  EXPECT_EQ(refusal(ErrorCode::kUnsupported).status, 500);  // the request is not at fault
  EXPECT_EQ(refusal(ErrorCode::kNotFound).status, 500);
}

TEST(ModelLoading, WhereMemoryIsShortNoMoreGoThanMust) {
  TestHost host(AtOnce(3));
  host.Use(0);
  host.Use(2);
  host.fleet().BeforeLoad("b", [&]() -> std::optional<Error> {
    const bool room = host.fleet().events() == "+a +c -a";
    return room ? std::nullopt : std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host.fleet().events(), "+a +c -a +b");
  EXPECT_EQ(StatesOf(*host), "unloaded loaded loaded");
}

TEST(ModelLoading, WhereMemoryIsShortOthersMakeRoom) {
  TestHost host(AtOnce(3));
  host.Use(0);
  host.Use(2);
  host.fleet().BeforeLoad("b", [&]() -> std::optional<Error> {
    const bool alone = host.fleet().events() == "+a +c -a -c";
    return alone ? std::nullopt : std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host.fleet().events(), "+a +c -a -c +b");
  EXPECT_EQ(host->Statuses()[1].failures, 0);
}

TEST(ModelLoading, WhatIsTooLargeAloneIsRefused) {
  TestHost host(AtOnce(3));
  host.Use(0);
  host.fleet().BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  EXPECT_EQ(host.Refusal(1).status, 503);
  EXPECT_EQ(host.fleet().events(), "+a -a");
  EXPECT_EQ(host.Ask(0), "a");
  // From now on it gets what room there is, and no more.
  EXPECT_EQ(host.Refusal(1).status, 503);
  EXPECT_EQ(host.fleet().events(), "+a -a +a");
  host.fleet().BeforeLoad("b", [] { return std::nullopt; });
  EXPECT_EQ(host.Ask(1), "b");
  EXPECT_EQ(host.fleet().events(), "+a -a +a +b");
}

TEST(ModelLoading, WhatIsTooLargeAloneTakesNoPlace) {
  TestHost host(AtOnce(1));
  host.fleet().BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  EXPECT_EQ(host.Refusal(1).status, 503);
  host.Use(0);
  EXPECT_EQ(host.Refusal(1).message, "model 'b' cannot be loaded: memory is short");
  EXPECT_EQ(host.fleet().events(), "+a");
  EXPECT_EQ(host->Statuses()[1].failures, 1);  // it was not tried again
}

TEST(ModelLoading, WhatHasLoadedIsNotTooLargeAnyMore) {
  TestHost host(AtOnce(1));
  host.fleet().BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  EXPECT_EQ(host.Refusal(1).status, 503);
  host.fleet().BeforeLoad("b", [] { return std::nullopt; });
  host.Use(1);
  host.Use(0);
  host.Use(1);
  EXPECT_EQ(host.fleet().events(), "+b -b +a -a +b");
}

// A later request looks itself whether memory is short.
TEST(ModelLoading, AShortageEndsWithThoseWhoWaited) {
  TestHost host(AtOnce(2));
  const ModelLease busy = host.Lease(0);
  host.fleet().BeforeLoad("b", [] {
    return std::optional(Error{ErrorCode::kResourceExhausted, "too large"});
  });
  const auto draining = [&host] { return StatesOf(*host) == "unloading unloaded unloaded"; };
  EXPECT_EQ(host.Refusal(1, draining).status, 499);
  AwaitThat([&] { return !draining(); });
  host.fleet().BeforeLoad("b", [] { return std::nullopt; });
  const auto lease = host->Acquire(1, draining);
  EXPECT_TRUE(std::holds_alternative<ModelLease>(lease));
  EXPECT_EQ(host.fleet().events(), "+a +b");
}

// A model whose loading ends when the test says so.
class Gate {
 public:
  explicit Gate(TestHost& host, const std::optional<Error>& error = std::nullopt) {
    host.fleet().BeforeLoad("a", [open = opened_.get_future().share(), error] {
      open.wait();
      return error;
    });
  }
  void Open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

using Acquired = std::variant<ModelLease, ApiError>;

// A request for the model; counts itself in `waiting` once it waits.
std::future<Acquired> Request(TestHost& host, size_t model, std::atomic<int>& waiting) {
  return std::async(std::launch::async, [&host, model, &waiting] {
    bool counted = false;
    return host->Acquire(model, [&] {
      waiting += std::exchange(counted, true) ? 0 : 1;
      return false;
    });
  });
}

TEST(ModelLoading, RequestsThatWaitTogetherLoadTheModelOnce) {
  TestHost host(AtOnce(1));
  Gate gate(host);
  std::atomic<int> waiting = 0;
  std::future<Acquired> one = Request(host, 0, waiting);
  std::future<Acquired> other = Request(host, 0, waiting);
  AwaitThat([&] { return waiting.load() == 2; });
  gate.Open();
  EXPECT_TRUE(std::holds_alternative<ModelLease>(one.get()));
  EXPECT_TRUE(std::holds_alternative<ModelLease>(other.get()));
  EXPECT_EQ(host.fleet().events(), "+a");
}

TEST(ModelLoading, RequestsThatWaitTogetherFailTogether) {
  TestHost host(AtOnce(1));
  Gate gate(host, Error{ErrorCode::kDataLoss, "a.gguf is cut"});
  std::atomic<int> waiting = 0;
  std::future<Acquired> one = Request(host, 0, waiting);
  std::future<Acquired> other = Request(host, 0, waiting);
  AwaitThat([&] { return waiting.load() == 2; });
  gate.Open();
  EXPECT_TRUE(std::holds_alternative<ApiError>(one.get()));
  EXPECT_TRUE(std::holds_alternative<ApiError>(other.get()));
  EXPECT_EQ(host->Statuses()[0].failures, 1);
}

TEST(ModelLoading, ARequestDuringUnloadingLoadsTheModelAgain) {
  TestHost host(AtOnce(1));
  host.Use(0);
  std::promise<void> opened;
  host.fleet().BeforeUnload("a", [go_on = opened.get_future().share()] { go_on.wait(); });
  std::atomic<int> waiting = 0;
  std::future<Acquired> other = Request(host, 1, waiting);
  AwaitThat([&] { return StatesOf(*host) == "unloading unloaded unloaded"; });
  EXPECT_FALSE(host->IfLoaded(0).has_value());
  std::future<Acquired> again = Request(host, 0, waiting);
  AwaitThat([&] { return waiting.load() == 2; });
  opened.set_value();
  EXPECT_TRUE(std::holds_alternative<ModelLease>(other.get()));  // and is let go of
  EXPECT_TRUE(std::holds_alternative<ModelLease>(again.get()));
  EXPECT_EQ(host.fleet().events(), "+a -a +b -b +a");
}

TEST(ModelLoading, ALeaseKeepsItsModel) {
  TestHost host(AtOnce(1, /*idle_s=*/0.001));
  std::atomic<int> waiting = 0;
  std::future<Acquired> other;
  {
    const ModelLease lease = host.Lease(0);
    other = Request(host, 1, waiting);
    AwaitThat([&] { return StatesOf(*host) == "unloading unloaded unloaded"; });
    EXPECT_EQ(host.fleet().events(), "+a");
    EXPECT_TRUE(host->IfLoaded(0).has_value());  // its runs can be steered
  }
  EXPECT_TRUE(std::holds_alternative<ModelLease>(other.get()));
  EXPECT_EQ(host.fleet().events().rfind("+a -a +b", 0), 0U);
}

TEST(ModelLoading, ABusyModelTakesRequestsWhileAnotherWaits) {
  HostOptions options = AtOnce(1);
  options.busy_s = 1e9;
  TestHost host(options);
  std::atomic<int> looks = 0;
  std::future<Acquired> other;
  {
    const ModelLease busy = host.Lease(0);
    other = std::async(std::launch::async, [&] {
      return host->Acquire(1, [&] {
        ++looks;
        return false;
      });
    });
    AwaitThat([&] { return looks.load() > 2; });
    const Acquired again = host->Acquire(0, [] { return true; });
    EXPECT_TRUE(std::holds_alternative<ModelLease>(again));
    EXPECT_EQ(host.fleet().events(), "+a");
  }
  EXPECT_TRUE(std::holds_alternative<ModelLease>(other.get()));
  EXPECT_EQ(host.fleet().events(), "+a -a +b");
}

TEST(ModelLoading, ABusyModelTakesThemNotForEver) {
  HostOptions options = AtOnce(1);
  options.busy_s = 0.01;
  TestHost host(options);
  std::atomic<int> waiting = 0;
  std::future<Acquired> other;
  {
    const ModelLease busy = host.Lease(0);
    other = Request(host, 1, waiting);
    AwaitThat([&] { return StatesOf(*host) == "unloading unloaded unloaded"; });
  }
  EXPECT_TRUE(std::holds_alternative<ModelLease>(other.get()));
}

TEST(ModelLoading, WaitingHasAnEnd) {
  HostOptions options = AtOnce(1);
  options.wait_s = 0.01;
  TestHost host(options);
  Gate gate(host);
  const ApiError error = host.Refusal(0);
  EXPECT_EQ(error.status, 503);
  EXPECT_EQ(error.code, "model_not_loaded");
  EXPECT_EQ(error.param, "model");
  gate.Open();
}

TEST(ModelLoading, WhoLeavesWaitsNoLonger) {
  TestHost host(AtOnce(1));
  Gate gate(host);
  bool gone = false;
  const ApiError error = host.Refusal(0, [&] {
    gone = gone || StatesOf(*host) == "loading unloaded unloaded";
    return gone;
  });
  EXPECT_EQ(error.status, 499);
  gate.Open();
  AwaitThat([&] { return StatesOf(*host) == "loaded unloaded unloaded"; });  // all the same
}

}  // namespace
}  // namespace hyper::server
