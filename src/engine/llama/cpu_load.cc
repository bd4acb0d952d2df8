#include "src/engine/llama/cpu_load.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace hyper::llama {
namespace {

constexpr std::chrono::milliseconds kShortestWatch(100);  // ten of the system's usual ticks

std::optional<double> BusyNow() {
  std::ifstream file("/proc/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  return BusySeconds(line, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

double OwnSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

std::optional<double> BusySeconds(std::string_view stat, double ticks_per_second) {
  std::istringstream line{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  if (!(line >> name) || name != "cpu" || ticks_per_second <= 0) {
    return std::nullopt;
  }
  // user, nice, system, idle, iowait, irq, softirq, steal; guests count as users already.
  double busy = 0;
  int columns = 0;
  for (double ticks = 0; columns < 8 && line >> ticks; ++columns) {
    if (columns != 3 && columns != 4) {
      busy += ticks;
    }
  }
  if (columns < 4) {
    return std::nullopt;
  }
  return busy / ticks_per_second;
}

CpuLoad::CpuLoad()
    : begin_(std::chrono::steady_clock::now()), busy_s_(BusyNow()), own_s_(OwnSeconds()) {}

std::optional<int> CpuLoad::FreeCpus() const {
  std::this_thread::sleep_until(begin_ + kShortestWatch);  // small models are read sooner
  const std::chrono::duration<double> watched = std::chrono::steady_clock::now() - begin_;
  const std::optional<double> busy_s = BusyNow();
  const auto online = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  if (!busy_s_ || !busy_s || online < 1) {
    return std::nullopt;
  }
  const double others_s = (*busy_s - *busy_s_) - (OwnSeconds() - own_s_);
  const double free = online - std::max(0.0, others_s) / watched.count();
  return static_cast<int>(std::lround(std::clamp(free, 0.0, online)));
}

int AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int DefaultThreads(int allowed, std::optional<int> free_cpus) {
  return std::max(1, std::min(allowed, free_cpus.value_or(allowed)));
}

}  // namespace hyper::llama
