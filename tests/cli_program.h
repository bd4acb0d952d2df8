// Command lines of the program and what they print, for the tests that run it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/json_schema.h"
#include "tests/support/process.h"

namespace hyper::test {

inline constexpr const char* kWordProblem =
    "Rosa has 14 bags with 30 cards each. Rosa buys 36 more. How many cards does Rosa have now?";

inline std::vector<std::string> Hyper(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{HYPER_PROGRAM};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A run without a model.
inline std::vector<std::string> Scripted(const std::vector<std::string>& more) {
  std::vector<std::string> arguments =
      Hyper({"run", "--engine", "scripted", "--preset", "short", "--seed", "5", "1 + 1 = ?"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A narrow run of the bundled model. One thread: others wait for each other by spinning, which is
// slow where tests share the machine.
inline std::vector<std::string> Bundled(const std::vector<std::string>& more,
                                        const std::string& threads = "1") {
  std::vector<std::string> arguments =
      Hyper({"run", "--width", "6", "--warmup", "4", "--threads", threads, kWordProblem});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline std::vector<nlohmann::json> Lines(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(ReadWholeFile(path));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

inline nlohmann::json Schema() {
  return nlohmann::json::parse(ReadWholeFile(HYPER_SOURCE_DIR "/docs/run.schema.json"));
}

// The votes, paths and ledger of a run agree with each other.
inline void ExpectConsistent(const nlohmann::json& run) {
  EXPECT_EQ(SchemaViolation(Schema(), run), "");
  const nlohmann::json& ledger = run["ledger"];
  EXPECT_EQ(run["answer"], run["votes"][run["vote_rule"].get<std::string>()]["answer"]);
  EXPECT_EQ(ledger["lanes_opened"], run["paths"].size());
  int64_t generated = 0;
  int votes = 0;
  for (const nlohmann::json& path : run["paths"]) {
    generated += path["tokens"].get<int64_t>() - path["fork_position"].get<int64_t>();
    votes += path["answer"].is_null() || path["status"] == "merged" ? 0 : 1;
  }
  EXPECT_EQ(ledger["generated"], generated);
  EXPECT_EQ(run["voting_paths"], votes);
  EXPECT_EQ(ledger["effective"].get<int64_t>(),
            generated + ledger["extra_routes"].get<int64_t>() + ledger["probe"].get<int64_t>() +
                ledger["judge"].get<int64_t>() + ledger["value"].get<int64_t>());
}

}  // namespace hyper::test
