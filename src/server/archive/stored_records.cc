#include "src/server/archive/stored_records.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "src/core/signal.h"
#include "src/store/series.h"

namespace hyper::server {
namespace {

// What happens at one position, in this order.
enum class Place { kOpen, kRefine, kToken, kFinish, kDecision };

struct Placed {
  bool after_warmup = false;  // first of all: warm-up paths end before all others begin
  int position = 0;
  Place place = Place::kOpen;
  Record record;
};

template <class Value>
const std::vector<Value>* ValuesOf(const StoredItem& item, PathId path, const char* name) {
  for (const StoredSeries& series : item.series) {
    if (series.path == path && series.name == name) {
      return std::get_if<std::vector<Value>>(&series.values);
    }
  }
  return nullptr;
}

// A number that was not stored is not a number; a count is 0.
template <class Value>
Value At(const std::vector<Value>* values, size_t index) {
  if (values != nullptr && index < values->size()) {
    return (*values)[index];
  }
  return std::numeric_limits<Value>::quiet_NaN();
}

// Bytes of a path's text that its own tokens do not hold: those inherited from its parent.
size_t InheritedBytes(const StoredPath& path, const std::vector<uint8_t>& own) {
  size_t bytes = 0;
  for (const uint8_t count : own) {
    bytes += count;
  }
  return path.text.size() - std::min(bytes, path.text.size());
}

// The run's --window and --confidence: how its confidences were averaged.
ConfidenceWindow WindowOf(const StoredRun& run) {
  MethodOptions options;
  for (const char* name : {"window", "confidence"}) {
    if (const auto found = run.settings.find(name); found != run.settings.end()) {
      (void)SetOption(options, name, found->second);  // the default, where it cannot be read
    }
  }
  return ConfidenceWindow(options.window, MeanOf(options.confidence));
}

// The window mean at each token of a path, inherited ones included; none where they are not known.
std::vector<double> WindowMeans(const StoredItem& item, PathId path, ConfidenceWindow running) {
  std::vector<double> means;
  for (const float confidence : ExpandSeries(item, path, "confidence").value_or({})) {
    running.Push(confidence);
    means.push_back(running.WindowMean());
  }
  return means;
}

void PlaceTokens(const StoredItem& item, const StoredPath& path, const ConfidenceWindow& window,
                 std::vector<Placed>& placed) {
  const auto* bytes = ValuesOf<uint8_t>(item, path.path, kTokenBytes);
  if (bytes == nullptr) {
    return;
  }
  const auto* tokens = ValuesOf<int32_t>(item, path.path, "token");
  const auto* logprobs = ValuesOf<float>(item, path.path, "logprob");
  const auto* confidences = ValuesOf<float>(item, path.path, "confidence");
  const auto* entropies = ValuesOf<float>(item, path.path, "entropy");
  const auto* routes = ValuesOf<uint8_t>(item, path.path, "routes");
  const auto* confidences_top20 = ValuesOf<float>(item, path.path, "confidence_top20");
  const auto* mean_logprobs = ValuesOf<float>(item, path.path, "mean_logprob");
  const std::vector<double> window_means = WindowMeans(item, path.path, window);
  size_t at = InheritedBytes(path, *bytes);
  for (size_t i = 0; i < bytes->size(); ++i) {
    const int position = path.fork_position + static_cast<int>(i);
    std::string text = path.text.substr(std::min(at, path.text.size()), (*bytes)[i]);
    at += (*bytes)[i];
    placed.push_back(
        {!path.warmup, position, Place::kToken,
         TokenRecord{path.path, position, At(tokens, i), std::move(text), At(logprobs, i),
                     At(confidences, i), At(entropies, i), At(routes, i), At(confidences_top20, i),
                     At(mean_logprobs, i), At(&window_means, static_cast<size_t>(position))}});
  }
}

std::vector<Placed> PlaceAll(const StoredItem& item, const ConfidenceWindow& window) {
  std::vector<Placed> placed;
  for (const StoredPath& path : item.paths) {
    const bool after = !path.warmup;
    placed.push_back(
        {after, path.fork_position, Place::kOpen,
         PathRecord{path.path, path.parent, path.fork_position, path.warmup, path.kind}});
    PlaceTokens(item, path, window, placed);
    placed.push_back(
        {after, path.tokens, Place::kFinish,
         FinishRecord{path.path, path.status, path.tokens, path.reason, path.answer.value_or(""),
                      path.tentative, path.mean_confidence, path.lowest_window, path.kept}});
  }
  for (const RefineRecord& refinement : item.refinements) {
    const auto of = std::find_if(
        item.paths.begin(), item.paths.end(),
        [&refinement](const StoredPath& path) { return path.path == refinement.path; });
    const bool warmup = of != item.paths.end() && of->warmup;
    placed.push_back({!warmup, refinement.position, Place::kRefine, refinement});
  }
  for (const DecisionRecord& decision : item.decisions) {
    placed.push_back({true, decision.position, Place::kDecision, decision});
  }
  // Among equals the order of numbers stays: a path stands behind its parent.
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tuple(a.after_warmup, a.position, a.place) <
           std::tuple(b.after_warmup, b.position, b.place);
  });
  return placed;
}

Json Head(const std::string& id, const eval::ItemContext& context, const StoredItem& item) {
  Json options = Json::object();
  for (const auto& [name, value] : context.run.settings) {
    const Json parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    options[name] = parsed.is_number() || parsed.is_boolean() ? parsed : Json(value);
  }
  Json head = {{"record", "run"},
               {"id", id},
               {"method", context.run.method},
               {"model", {{"name", context.run.model}, {"hash", context.run.model_hash}}},
               {"seed", context.run.seed},
               {"question", context.question.text},
               {"prompt", context.question.prompt}};
  if (const auto* tokens = ValuesOf<int32_t>(item, kNoPath, kPromptTokens)) {
    head["prompt_tokens"] = *tokens;
  }
  head["options"] = std::move(options);
  return head;
}

// The members of a report that a stored answer has.
Json Tail(const eval::ItemContext& context, const StoredItem& item, const Json& options) {
  const Json whole = eval::ItemJson(context, item, /*series=*/false);
  Json tail = {{"record", "result"},
               {"answer", whole["answer"]},
               {"method", context.run.method},
               {"model", whole["run"]["model"]},
               {"seed", context.run.seed},
               {"partial", item.status != ItemStatus::kDone},
               {"partial_reason", whole["reason"]}};
  for (const char* name :
       {"vote_rule", "voting_paths", "votes", "paths", "decisions", "ledger", "timing"}) {
    tail[name] = whole[name];
  }
  tail["options"] = options;
  return tail;
}

}  // namespace

std::vector<Json> StoredRecords(const std::string& id, const eval::ItemContext& context,
                                const StoredItem& item) {
  std::vector<Json> records{Head(id, context, item)};
  bool warmup_due = item.warmup.has_value();
  for (const Placed& one : PlaceAll(item, WindowOf(context.run))) {
    if (one.after_warmup && std::exchange(warmup_due, false)) {
      records.push_back(RecordJson(Record(*item.warmup)));
    }
    records.push_back(RecordJson(one.record));
  }
  for (const std::string& notice : item.notices) {
    records.push_back(RecordJson(NoticeRecord{notice}));
  }
  Json tail = Tail(context, item, records.front()["options"]);
  records.push_back(std::move(tail));
  return records;
}

}  // namespace hyper::server
