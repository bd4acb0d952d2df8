#include "src/eval/figures/material.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "src/eval/grade/study_grades.h"
#include "src/store/series.h"

namespace hyper::eval {
namespace {

// What is kept of every item of a study.
struct Reader {
  Store& store;
  const std::vector<StoredQuestion>& questions;
  const AnswerVerdicts& verdicts;
};

std::vector<double> CurveOf(const StoredItem& item, const StoredPath& path) {
  if (path.kind != PathKind::kReasoning || path.status == PathStatus::kMerged) {
    return {};
  }
  const Result<std::vector<float>> series = ExpandSeries(item, path.path, "confidence");
  return series && !series->empty() ? NormalisedCurve(*series, kCurvePlaces)
                                    : std::vector<double>();
}

Result<MaterialItem> ReadItem(const Reader& reader, const ItemKey& key, size_t place) {
  Result<StoredItem> stored = reader.store.LoadItem(key);
  if (!stored) {
    return stored.error();
  }
  const StoredQuestion& question = reader.questions[place];
  MaterialItem item;
  item.question = place;
  const Result<StoredVerdict> verdict = reader.verdicts.Of(question, stored->answer);
  if (!verdict) {
    return verdict.error();
  }
  item.verdict = *verdict;
  for (StoredPath& path : stored->paths) {
    const Result<StoredVerdict> of_path = reader.verdicts.Of(question, path.answer);
    if (!of_path) {
      return of_path.error();
    }
    item.path_verdicts.push_back(*of_path);
    item.curves.push_back(CurveOf(*stored, path));
    path.text.clear();
  }
  stored->series.clear();
  item.item = std::move(*stored);
  return item;
}

// Places of the questions whose every repeat is there and did not fail.
std::set<int64_t> WholeQuestionsOf(const std::vector<ItemSummary>& items, int repeats) {
  std::map<int64_t, int> done;
  for (const ItemSummary& item : items) {
    done[item.key.question] += item.status == ItemStatus::kFailed ? 0 : 1;
  }
  std::set<int64_t> whole;
  for (const auto& [question, count] : done) {
    if (count == repeats) {
      whole.insert(question);
    }
  }
  return whole;
}

Status ReadRun(const Reader& reader, RunMaterial& run) {
  const Result<std::vector<ItemSummary>> items = reader.store.Items(run.run().id);
  if (!items) {
    return items.error();
  }
  for (const ItemSummary& item : *items) {
    run.repeats = std::max(run.repeats, item.key.repeat + 1);
  }
  const std::set<int64_t> whole = WholeQuestionsOf(*items, run.repeats);
  std::map<int64_t, size_t> places;
  std::set<std::string> names;
  for (size_t i = 0; i < reader.questions.size(); ++i) {
    const StoredQuestion& question = reader.questions[i];
    places[question.id] = i;
    if (whole.count(question.id) > 0) {
      names.insert(question.suite + "/" + question.name);
    }
  }
  for (const ItemSummary& summary : *items) {
    if (whole.count(summary.key.question) == 0) {
      continue;
    }
    Result<MaterialItem> item = ReadItem(reader, summary.key, places.at(summary.key.question));
    if (!item) {
      return item.error();
    }
    run.items.push_back(std::move(*item));
  }
  Result<std::vector<SampleCounts>> samples = CountSamples(reader.store, run.run().id, {});
  if (!samples) {
    return samples.error();
  }
  for (SampleCounts& sample : *samples) {
    if (names.count(sample.question) > 0) {
      run.samples.push_back(std::move(sample));
    }
  }
  return {};
}

}  // namespace

Result<StudyMaterial> LoadMaterial(Store& store, const SummaryOptions& options) {
  Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  Result<std::vector<RunSummary>> summaries = SummariseStudy(store, options);
  if (!summaries) {
    return summaries.error();
  }
  const Result<AnswerVerdicts> verdicts = AnswerVerdicts::Load(store);
  if (!verdicts) {
    return verdicts.error();
  }
  StudyMaterial material;
  material.questions = std::move(*questions);
  const Reader reader{store, material.questions, *verdicts};
  for (RunSummary& summary : *summaries) {
    RunMaterial run;
    run.summary = std::move(summary);
    if (Status status = ReadRun(reader, run); !status) {
      return status.error();
    }
    if (!run.items.empty()) {
      material.runs.push_back(std::move(run));
    }
  }
  if (material.runs.empty()) {
    return Error{ErrorCode::kNotFound,
                 "no row of the study has a question with all its repeats; run hyper eval first"};
  }
  return material;
}

std::vector<double> NormalisedCurve(std::span<const float> values, int places) {
  std::vector<double> curve(static_cast<size_t>(places), kNaN);
  const size_t count = values.size();
  for (size_t place = 0; place < curve.size() && count > 0; ++place) {
    const size_t first = place * count / curve.size();
    const size_t last = std::max(first + 1, (place + 1) * count / curve.size());
    ValueSum sum;
    for (size_t i = first; i < last; ++i) {
      if (std::isfinite(values[i])) {
        sum.Add(static_cast<double>(values[i]));
      }
    }
    curve[place] = sum.count > 0 ? sum.sum / sum.count : kNaN;
  }
  return curve;
}

bool IsComplete(const StoredPath& path) {
  return path.kind == PathKind::kReasoning && CameToItsEnd(path.status);
}

bool HasIndependentPaths(const RunMaterial& run) {
  const size_t paths = run.items.front().item.paths.size();
  return paths > 1 &&
         std::all_of(run.items.begin(), run.items.end(), [&](const MaterialItem& item) {
           return item.item.paths.size() == paths &&
                  std::all_of(item.item.paths.begin(), item.item.paths.end(),
                              [](const StoredPath& path) {
                                return path.kind == PathKind::kReasoning &&
                                       path.parent == kNoPath && !path.warmup &&
                                       (CameToItsEnd(path.status) ||
                                        path.status == PathStatus::kDegenerate);
                              });
         });
}

std::vector<const RunMaterial*> FirstOfMethods(const StudyMaterial& material, size_t most,
                                               bool (*wanted)(const RunMaterial&)) {
  std::vector<const RunMaterial*> found;
  for (const RunMaterial& run : material.runs) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const RunMaterial* other) {
      return other->run().method == run.run().method && other->run().suite == run.run().suite &&
             other->run().model == run.run().model;
    });
    if (!known && found.size() < most && wanted(run)) {
      found.push_back(&run);
    }
  }
  return found;
}

}  // namespace hyper::eval
