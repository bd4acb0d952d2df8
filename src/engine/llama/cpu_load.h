// The CPUs that this process may use, and how many of all other programs leave free, for the
// default number of threads.
//
// ggml's threads wait for each other by spinning, at every node of the graph. Where another program
// runs on one of their CPUs, all of them spin until that one has had its turn, and a forward takes
// ten times as long and more. One thread less is then far faster, and says the same (strict mode).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace hyper::llama {

// Seconds for which all CPUs together were busy since the system was started, out of the text of
// /proc/stat; nothing where it cannot be read.
std::optional<double> BusySeconds(std::string_view stat, double ticks_per_second);

// Watches the CPUs from its construction on.
class CpuLoad {
 public:
  CpuLoad();

  // CPUs (of all that are online) that other programs have left free since then, rounded; nothing
  // where the system does not say. Waits until a tenth of a second has been watched.
  std::optional<int> FreeCpus() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<double> busy_s_;
  double own_s_;
};

// CPUs that this process may use, >= 1.
int AllowedCpus();

// Threads to use by default: `allowed`, or as many of them as are free; at least one.
int DefaultThreads(int allowed, std::optional<int> free_cpus);

}  // namespace hyper::llama
