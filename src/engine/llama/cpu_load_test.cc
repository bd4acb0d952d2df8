#include "src/engine/llama/cpu_load.h"

#include <gtest/gtest.h>

#include <thread>

namespace hyper::llama {
namespace {

TEST(BusySeconds, AddsAllButIdleAndWaiting) {
  EXPECT_EQ(BusySeconds("cpu  100 20 3 9000 800 4 5 6 50 60\ncpu0 1 1 1 1\n", 100.0), 1.38);
  EXPECT_EQ(BusySeconds("cpu 100 20 3 9000", 1.0), 123.0);
}

TEST(BusySeconds, OtherTextsGiveNothing) {
  EXPECT_FALSE(BusySeconds("", 100.0));
  EXPECT_FALSE(BusySeconds("cpu0 1 2 3 4", 100.0));
  EXPECT_FALSE(BusySeconds("cpu 1 2", 100.0));
  EXPECT_FALSE(BusySeconds("cpu one two three four", 100.0));
  EXPECT_FALSE(BusySeconds("cpu 1 2 3 4", 0.0));
}

TEST(CpuLoad, CountsAtMostTheCpusThatThereAre) {
  const CpuLoad load;
  const std::optional<int> free_cpus = load.FreeCpus();
  ASSERT_TRUE(free_cpus.has_value());
  EXPECT_GE(*free_cpus, 0);
  EXPECT_LE(*free_cpus, static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(DefaultThreads, TakesWhatIsFreeAndAtLeastOne) {
  EXPECT_EQ(DefaultThreads(4, 3), 3);
  EXPECT_EQ(DefaultThreads(4, 60), 4);
  EXPECT_EQ(DefaultThreads(4, 0), 1);
  EXPECT_EQ(DefaultThreads(4, std::nullopt), 4);
}

}  // namespace
}  // namespace hyper::llama
