// What the routes of runs share: numbers in paths, and the runs that a client may see.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/server/http/send.h"
#include "src/server/scheduler/run_book.h"

namespace hyper::server {

// A run of another client is as unknown as one that there is not.
inline void SendUnknownRun(httplib::Response& response, const std::string& id) {
  SendError(response, {404, "not_found_error", "run_not_found", "",
                       "run '" + id + "' is not kept; GET /v1/runs lists those that are"});
}

// Nothing where it is not in memory, or is not shown to `client`.
inline std::optional<RunOverview> FindInMemory(const RunBook& book, const Client& client,
                                               const std::string& id) {
  std::optional<RunOverview> run = book.Find(id);
  return run && MaySee(client, run->client) ? run : std::nullopt;
}

// All records that a log has now.
inline std::vector<Json> RecordsIn(const RunLog& log) {
  std::vector<Json> records;
  for (size_t at = 0;;) {
    const RunLog::Page page = log.Read(at, 512, std::chrono::milliseconds(0));
    for (const std::string& line : page.lines) {
      Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!record.is_discarded()) {
        records.push_back(std::move(record));
      }
    }
    if (page.lines.empty()) {
      return records;
    }
    at = page.next;
  }
}

// A number from 0; nothing where the text is none.
inline std::optional<int> WholeNumber(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace hyper::server
