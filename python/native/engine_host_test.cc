// What is thrown on the engine's thread ends the runs, and not the program.
#include "python/native/engine_host.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "hyper/fake_engine.h"

namespace hyper::python {
namespace {

Job Question() {
  Job job;
  job.messages = {{"user", "x"}};
  job.options.method = "cot";
  job.options.preset = "short";
  return job;
}

std::string Words(const std::shared_ptr<Run>& run) {
  while (!run->Wait(1.0)) {
  }
  const Result<std::string> report = run->Report();
  return report ? "a report" : report.error().message;
}

TEST(EngineHost, AnExceptionEndsTheRunsAndNotTheProgram) {
  const auto make = []() -> Result<std::unique_ptr<Engine>> {
    FakeOptions options;
    options.logits = [](const FakeStep&, std::span<float>) {
      throw std::runtime_error("out of luck");
    };
    return std::unique_ptr<Engine>(std::make_unique<FakeEngine>(options));
  };
  const Result<std::unique_ptr<EngineHost>> host = EngineHost::Open(make);
  ASSERT_TRUE(host.has_value()) << host.error().message;
  EXPECT_EQ(Words((*host)->Start(Question())), "the engine has failed: out of luck");
  EXPECT_EQ(Words((*host)->Start(Question())), "the engine has failed: out of luck");
  (*host)->Close();
}

TEST(EngineHost, AnExceptionWhileTheEngineIsMadeIsAnError) {
  const Result<std::unique_ptr<EngineHost>> host =
      EngineHost::Open([]() -> Result<std::unique_ptr<Engine>> { throw 5; });
  ASSERT_FALSE(host.has_value());
  EXPECT_EQ(host.error().message, "the engine has failed");
}

TEST(EngineHost, AnExceptionOfOneQuestionLeavesTheOthers) {
  const auto make = []() -> Result<std::unique_ptr<Engine>> {
    FakeOptions options;
    options.logits = [](const FakeStep&, std::span<float> logits) { logits[0] = 30.0F; };
    return std::unique_ptr<Engine>(std::make_unique<FakeEngine>(options));
  };
  const Result<std::unique_ptr<EngineHost>> host = EngineHost::Open(make);
  ASSERT_TRUE(host.has_value());
  Job bad = Question();
  bad.make = [](const RunPlan&) -> Result<std::unique_ptr<Method>> {
    throw std::logic_error("no method");
  };
  EXPECT_EQ(Words((*host)->Start(bad)), "no method");
  EXPECT_EQ(Words((*host)->Start(Question())), "a report");
}

}  // namespace
}  // namespace hyper::python
