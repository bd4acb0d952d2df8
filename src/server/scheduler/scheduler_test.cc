// The scheduler on a scripted engine, without HTTP: who decodes when. Time is counted in forwards.
#include "src/server/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

constexpr int kPoolTokens = 200;

// A scheduler whose engine counts forwards, and tells at which one of them a prompt with "plain" in
// it had its first token.
class CountedScheduler {
 public:
  CountedScheduler(int lanes, int64_t cells, SchedulerOptions options) {
    FakeOptions fake;
    fake.capabilities.max_lanes = lanes;
    fake.capabilities.max_rows = lanes;
    fake.capabilities.cells_total = cells;
    fake.poll_fault = [this](int64_t poll) {
      poll_ = poll;
      if (on_poll) {
        on_poll(poll);
      }
      return std::nullopt;
    };
    fake.logits = [this](const FakeStep& step, std::span<float> logits) {
      std::string prompt(step.history.begin(), step.history.begin() + step.prompt_tokens);
      if (prompt.find("plain") != std::string::npos && first_plain < 0) {
        first_plain = poll_;
      }
      const bool end = static_cast<int>(step.history.size()) >= step.prompt_tokens + kPoolTokens;
      Babble(step, logits);
      logits[FakeEngine::kEnd] = end ? 100.0F : -100.0F;
    };
    engine_ = std::make_unique<FakeEngine>(std::move(fake));
    scheduler_ = std::make_unique<Scheduler>(*engine_, book_, options);
  }
  ~CountedScheduler() { scheduler_.reset(); }

  static ServedRun Plain(int tokens = 8) {
    ServedRun run;
    run.messages = {{"user", "plain"}};
    run.plan.options.max_tokens = tokens;
    return run;
  }
  static ServedRun PoolOf(int width) {
    ServedRun run;
    run.method = "sc";
    run.messages = {{"user", "pool"}};
    run.plan.options = *Preset("short");
    run.plan.options.width = width;
    run.plan.options.max_tokens = 400;
    return run;
  }
  std::string Submit(const ServedRun& run, int count = 1) {
    const Scheduler::Submission taken =
        scheduler_->Submit(std::vector<ServedRun>(static_cast<size_t>(count), run), reply_);
    EXPECT_FALSE(taken.error);
    return taken.id;
  }
  // Waits until so many runs have ended.
  void Finish(int runs) {
    for (int i = 0; i < 20000 * test::Patience() && scheduler_->metrics().runs_finished < runs;
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(scheduler_->metrics().runs_finished, runs);
  }
  Scheduler& scheduler() { return *scheduler_; }

  // Called before each forward, on the scheduler's thread; set before anything is submitted.
  std::function<void(int64_t)> on_poll;
  std::atomic<int64_t> first_plain{-1};

 private:
  std::shared_ptr<ReplyQueue> reply_ = std::make_shared<ReplyQueue>(size_t{1} << 22U);
  int64_t poll_ = 0;
  std::unique_ptr<FakeEngine> engine_;
  RunBook book_{BookOptions{}};
  std::unique_ptr<Scheduler> scheduler_;
};

SchedulerOptions WithPlainLanes() {
  SchedulerOptions options;
  options.plain_lanes = 16;
  return options;
}

TEST(Scheduler, APlainRunBesideAPoolOf512HasItsFirstTokenWithinThreeForwards) {
  CountedScheduler counted(528, 200000, WithPlainLanes());
  int64_t submitted = -1;
  counted.on_poll = [&](int64_t poll) {
    if (poll == 20) {
      submitted = poll;
      counted.Submit(CountedScheduler::Plain());
    }
  };
  const std::string pool = counted.Submit(CountedScheduler::PoolOf(512));
  counted.Finish(2);
  EXPECT_EQ(submitted, 20);
  EXPECT_GT(counted.first_plain, 20);
  EXPECT_LE(counted.first_plain, 23);
  const RunOverview run = *counted.scheduler().book().Find(pool);
  EXPECT_EQ(run.status, "done");
  EXPECT_EQ(run.paths, 512);
  EXPECT_EQ(run.tokens, 512 * (kPoolTokens + 1)) << "nothing is pruned for it";
}

// The same behind a pool that runs and one that waits: lanes and cells are kept for it.
TEST(Scheduler, APlainRunOvertakesAPoolThatWaits) {
  CountedScheduler counted(80, 20000, WithPlainLanes());
  counted.on_poll = [&](int64_t poll) {
    if (poll == 20) {
      counted.Submit(CountedScheduler::Plain());
    }
  };
  counted.Submit(CountedScheduler::PoolOf(64), 2);
  counted.Finish(3);
  EXPECT_GT(counted.first_plain, 20);
  EXPECT_LE(counted.first_plain, 23);
}

TEST(Scheduler, ABurstOfPlainRunsWaitsWithoutAnError) {
  CountedScheduler counted(32, 40000, WithPlainLanes());
  counted.Submit(CountedScheduler::PoolOf(8));
  for (int i = 0; i < 128; ++i) {
    counted.Submit(CountedScheduler::Plain());
  }
  counted.Finish(129);
  EXPECT_EQ(counted.scheduler().metrics().runs_refused, 0);
}

// Runs that wait are bounded by memory; the reply says when there will be room.
TEST(Scheduler, TheRefusalSaysWhenToTryAgain) {
  SchedulerOptions options;
  options.waiting_bytes = 30000;
  CountedScheduler counted(1, 0, options);
  std::vector<int> waits;
  counted.on_poll = [&](int64_t poll) {
    for (int i = 0; poll == 5 && i < 4; ++i) {
      const auto refused =
          counted.scheduler()
              .Submit({CountedScheduler::Plain()}, std::make_shared<ReplyQueue>(size_t{1} << 22U))
              .error;
      if (refused) {
        EXPECT_EQ(refused->status, 429);
        waits.push_back(refused->retry_after_s);
      }
    }
  };
  counted.Submit(CountedScheduler::Plain(60));
  counted.Finish(2);
  ASSERT_EQ(waits.size(), 3U);  // one waits
  for (const int wait : waits) {
    EXPECT_GE(wait, 1);
    EXPECT_LE(wait, 60);
  }
}

}  // namespace
}  // namespace hyper::server
