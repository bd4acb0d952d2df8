#include "src/server/http/connection_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace hyper::server {
namespace {

// A connection that lasts until it is let go.
class Gate {
 public:
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(ConnectionThreads, ServeSoManyAtOnceAndLetAsManyWait) {
  Gate gate;
  std::atomic<int> begun{0};
  std::atomic<int> served{0};
  ConnectionThreads threads(3);
  const auto connection = [&] {
    ++begun;
    gate.Pass();
    ++served;
  };
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(threads.enqueue(connection)) << i;
  }
  EXPECT_FALSE(threads.enqueue(connection));
  while (begun < 3) {
    std::this_thread::yield();
  }
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(served, 0);
  gate.Open();
  threads.shutdown();
  EXPECT_EQ(served, 6);
}

TEST(ConnectionThreads, ServeAgainAfterAllHaveEnded) {
  std::atomic<int> served{0};
  ConnectionThreads threads(2);
  for (int i = 0; i < 200; ++i) {
    while (!threads.enqueue([&] { ++served; })) {
      std::this_thread::yield();
    }
  }
  threads.shutdown();
  EXPECT_EQ(served, 200);
}

}  // namespace
}  // namespace hyper::server
