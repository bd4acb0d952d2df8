#include "src/eval/run/probed_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "hyper/extract.h"
#include "src/base/sha256.h"
#include "src/eval/data/rows.h"
#include "src/eval/run/answer_traces.h"
#include "src/eval/run/json_members.h"
#include "src/report/member_reader.h"

namespace hyper::eval {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kMostTokens = 1 << 24;  // of a path: more than any context
constexpr const char* kNoAnswer = "ERR";

// What the branches of a question answered when they were probed, by path.
using Replies = std::vector<std::vector<std::string>>;

bool AllTexts(const json& list) {
  return list.is_array() &&
         std::all_of(list.begin(), list.end(), [](const json& text) { return text.is_string(); });
}

Status AddBranch(const json& branch, StoredItem& item, Replies& replies) {
  const bool sound = branch.is_array() && branch.size() == 3 && AllTexts(branch[0]) &&
                     branch[1].is_number_integer() && branch[1].get<int64_t>() >= 2 &&
                     branch[1].get<int64_t>() <= kMostTokens && branch[2].is_string();
  if (!sound) {
    return Error{ErrorCode::kDataLoss,
                 "a branch is not [probed answers, tokens (2 or more), final answer]"};
  }
  StoredPath path;
  path.path = static_cast<PathId>(item.paths.size());
  path.status = PathStatus::kFinished;
  path.tokens = branch[1].get<int>();
  path.answer_raw = branch[2].get<std::string>();
  item.paths.push_back(std::move(path));
  replies.push_back(branch[0].get<std::vector<std::string>>());
  return {};
}

// Answers as the numbers of their strings. The numbers are in the strings' order, and of equally
// many digits, so that ties go as those of the strings would.
void NumberStrings(PoolEntry& entry, Replies& replies) {
  constexpr int kFirst = 1000;
  std::set<std::string> strings = {entry.question.gold};
  for (const StoredPath& path : entry.item.paths) {
    strings.insert(path.answer_raw);
  }
  for (const std::vector<std::string>& of_path : replies) {
    strings.insert(of_path.begin(), of_path.end());
  }
  const auto number = [&](const std::string& text) {
    return std::to_string(kFirst + std::distance(strings.begin(), strings.find(text)));
  };
  // The numbers are those of this pool: with other strings it is another question.
  entry.question.prompt = base::Sha256Of(fmt::format("{}", fmt::join(strings, "\n")));
  entry.question.gold = number(entry.question.gold);
  entry.question.kind = NameOf(AnswerKind::kInteger);
  for (StoredPath& path : entry.item.paths) {
    path.text = fmt::format("{}\n\\boxed{{{}}}", path.answer_raw, number(path.answer_raw));
  }
  for (std::vector<std::string>& of_path : replies) {
    std::transform(of_path.begin(), of_path.end(), of_path.begin(), number);
  }
}

// What a folder holds, by name; nothing where it cannot be read.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// JSON files of a folder, by name.
std::vector<fs::path> JsonFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path& path : EntriesOf(folder)) {
    if (path.extension() == ".json" && fs::is_regular_file(path, error)) {
      files.push_back(path);
    }
  }
  return files;
}

// The folder that holds the files: `given`, or the only one of a checkout.
Result<fs::path> FolderOfPools(const fs::path& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) {
    return Error{ErrorCode::kNotFound, given.string() + " is not a folder"};
  }
  if (!JsonFiles(given).empty()) {
    return given;
  }
  std::vector<std::string> found;
  for (const fs::path& path : EntriesOf(given / "evaluation")) {
    if (fs::is_directory(path, error) && !JsonFiles(path).empty()) {
      found.push_back(path.string());
    }
  }
  if (found.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("neither {} nor a folder in its evaluation/ holds *.json files; name a "
                    "checkout of Parallel-Probe or a folder of its pools",
                    given.string())};
  }
  if (found.size() > 1) {
    return InvalidArgument(
        fmt::format("there are pools of several models; name one: {}", fmt::join(found, ", ")));
  }
  return fs::path(found.front());
}

// Whether the object has all that an entry takes, and if not, what is missing.
Status CheckQuestion(const json& object, size_t paths) {
  for (const char* member : {"question", "gold_answer"}) {
    if (TextOf(object, member).empty()) {
      return Error{ErrorCode::kDataLoss, fmt::format("it has no {}", member)};
    }
  }
  if (!object.contains("each_branch") || !object["each_branch"].is_array() ||
      object["each_branch"].empty()) {
    return Error{ErrorCode::kDataLoss, "it has no each_branch, the list of its paths"};
  }
  const int every = MemberOr(object, "probe_freq", 1);  // without one its replies are not read
  if (every < 1 || every > kMostTokens) {
    return Error{ErrorCode::kDataLoss,
                 "its probe_freq, the tokens between two probes of a path, is no number from 1"};
  }
  const size_t own = object["each_branch"].size();
  if (paths > 0 && own != paths) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("it has {} paths, the questions before it {}", own, paths)};
  }
  return {};
}

Status AddFile(const fs::path& file, AnswerEquality equality, TracePool& pool) {
  const Result<std::string> text = ReadWholeFile(file.string());
  if (!text) {
    return text.error();
  }
  const Result<std::vector<DataRow>> rows = ParseRows(*text, file.string());
  if (!rows) {
    return rows.error();
  }
  for (const DataRow& row : *rows) {
    const size_t paths = pool.entries.empty() ? 0 : pool.entries.front().item.paths.size();
    Status status = CheckQuestion(row.value, paths);
    const std::string group = file.stem().string();
    Result<PoolEntry> entry =
        status ? EntryOfProbes(row.value, fmt::format("{}-{}", group, row.number), equality)
               : Result<PoolEntry>(status.error());
    if (!entry) {
      return Error{ErrorCode::kDataLoss, fmt::format("{} question {}: {}", file.string(),
                                                     row.number, entry.error().message)};
    }
    entry->question.group = group;
    pool.entries.push_back(std::move(*entry));
  }
  return {};
}

}  // namespace

StoredRun ProbedRun() {
  StoredRun run;
  run.label = "sc";
  run.method = "sc";
  run.suite = "parallel-probe";
  run.settings = {{kRecorded, kAnswersOnly}};
  return run;
}

Result<PoolEntry> EntryOfProbes(const json& object, const std::string& name,
                                AnswerEquality equality) {
  PoolEntry entry;
  entry.question.suite = ProbedRun().suite;
  entry.question.name = name;
  entry.question.text = TextOf(object, "question");
  entry.question.gold = TextOf(object, "gold_answer");
  entry.question.kind = NameOf(AnswerKind::kMath);
  Replies replies;
  for (const json& branch : object["each_branch"]) {
    if (Status status = AddBranch(branch, entry.item, replies); !status) {
      return status.error();
    }
  }
  if (equality == AnswerEquality::kStrings) {
    NumberStrings(entry, replies);
  } else {
    // The texts are not published: a path's text is its answer in a box.
    for (StoredPath& path : entry.item.paths) {
      if (path.answer_raw != kNoAnswer) {
        path.text = fmt::format("\\boxed{{{}}}", path.answer_raw);
      }
    }
    for (std::vector<std::string>& of_path : replies) {
      std::replace(of_path.begin(), of_path.end(), std::string(kNoAnswer), std::string());
    }
  }
  for (size_t path = 0; path < replies.size(); ++path) {
    if (!replies[path].empty() && object.contains("probe_freq")) {
      entry.item.series.push_back(SeriesOfReplies(static_cast<PathId>(path), replies[path],
                                                  MemberOr(object, "probe_freq", 0)));
    }
  }
  return entry;
}

Result<TracePool> ReadProbedFolder(const std::string& folder, AnswerEquality equality) {
  const Result<fs::path> found = FolderOfPools(folder);
  if (!found) {
    return found.error();
  }
  TracePool pool;
  pool.made_by = ProbedRun();
  std::error_code error;
  pool.made_by.model = fs::canonical(*found, error).filename().string();
  for (const fs::path& file : JsonFiles(*found)) {
    if (Status status = AddFile(file, equality, pool); !status) {
      return status.error();
    }
  }
  return pool;
}

}  // namespace hyper::eval
