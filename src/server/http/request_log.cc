#include "src/server/http/request_log.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

namespace hyper::server {

void RequestCounts::Add(Key key) {
  const std::lock_guard lock(mutex_);
  ++counts_[std::move(key)];
}

std::map<RequestCounts::Key, int64_t> RequestCounts::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string UtcTime(int64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(unix_ms)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Json RequestLine(const AnsweredRequest& request, int64_t unix_ms, const RunOverview* run) {
  constexpr double kThousand = 1000;
  Json line = {{"time", UtcTime(unix_ms)},
               {"method", request.method},
               {"path", request.path},
               {"status", request.status},
               {"ms", std::llround(request.seconds * kThousand)}};
  const auto add = [&line](const char* name, const std::string& value) {
    if (!value.empty()) {
      line[name] = value;
    }
  };
  add("address", request.address);
  add("client", request.client);
  if (run != nullptr) {
    line["run"] = run->id;
    add("model", run->model);
    line["run_method"] = run->method;
    line["run_status"] = run->status;
    line["width"] = run->width;
    line["paths"] = run->paths;
    line["tokens"] = run->tokens;
  }
  return line;
}

}  // namespace hyper::server
