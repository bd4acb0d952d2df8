#include "python/native/run_report.h"

#include <variant>
#include <vector>

#include "hyper/extract.h"
#include "src/report/winner.h"

namespace hyper::python {
namespace {

// What a path says outside its reasoning; all of it where that is nothing.
std::string Reply(const Path& path, const Prompt& prompt) {
  const std::vector<TagPair> tags = DefaultThinkTags();
  const ReasoningSplit split = SplitReasoning(path.text, tags, prompt.reasoning_opened);
  return split.content.empty() ? path.text : JoinSpans(path.text, split.content);
}

}  // namespace

Json RunReport(const RunFacts& facts, const Session& session, std::span<const Record> records) {
  const SessionResult result = session.Result();
  const Prompt& prompt = session.pool().prompt();
  Json report =
      ReportJson({facts.method, facts.model, facts.seed, records, facts.timing}, session, result);
  report["question"] = prompt.question;
  report["prompt"] = prompt.text;
  report["preset"] = facts.preset;
  report["warmup"] = nullptr;
  report["warnings"] = Json::array();
  if (!prompt.warning.empty()) {
    report["warnings"].push_back(prompt.warning);
  }
  for (const Record& record : records) {
    if (std::holds_alternative<WarmupRecord>(record) && report["warmup"].is_null()) {
      report["warmup"] = RecordJson(record);
    } else if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
      report["warnings"].push_back(notice->text);
    } else if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
      report["warnings"].push_back(ShortageText(*shortage));
    }
  }
  const Path* winner = WinningPath(session.pool().paths(), result.answer);
  report["winner"] = winner == nullptr ? Json(nullptr) : Json(winner->id);
  report["text"] = winner == nullptr ? "" : Reply(*winner, prompt);
  return report;
}

}  // namespace hyper::python
