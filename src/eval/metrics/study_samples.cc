#include "src/eval/metrics/study_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "hyper/equal.h"
#include "src/eval/grade/study_grades.h"

namespace hyper::eval {
namespace {

// Wrong answers that are equal to each other become one.
std::vector<int> Grouped(const std::vector<std::pair<std::string, int>>& wrong) {
  std::vector<std::string> texts;
  texts.reserve(wrong.size());
  for (const auto& [text, paths] : wrong) {
    texts.push_back(text);
  }
  const std::vector<int> groups = GroupAnswers(texts);
  std::vector<int> counts;
  for (size_t i = 0; i < wrong.size(); ++i) {
    const auto group = static_cast<size_t>(groups[i]);
    counts.resize(std::max(counts.size(), group + 1));
    counts[group] += wrong[i].second;
  }
  return counts;
}

// The mean of `estimate` over the items, each with at least k paths.
template <class Estimate>
double MeanOver(const std::vector<SampleCounts>& items, int k, Estimate estimate) {
  double sum = 0;
  for (const SampleCounts& item : items) {
    if (k < 1 || item.total() < k) {
      return kNaN;
    }
    const Result<double> value = estimate(item);
    if (!value) {
      return kNaN;
    }
    sum += *value;
  }
  return items.empty() ? kNaN : sum / static_cast<double>(items.size());
}

}  // namespace

int SampleCounts::total() const {
  return right + silent + std::accumulate(others.begin(), others.end(), 0);
}

Result<std::vector<SampleCounts>> CountSamples(Store& store, int64_t run,
                                               const SummaryOptions& options) {
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  std::map<int64_t, const StoredQuestion*> by_number;
  for (const StoredQuestion& question : *questions) {
    const bool wanted = options.groups.empty() ||
                        std::find(options.groups.begin(), options.groups.end(), question.group) !=
                            options.groups.end();
    if (wanted) {
      by_number[question.id] = &question;
    }
  }
  const Result<AnswerVerdicts> verdicts = AnswerVerdicts::Load(store);
  if (!verdicts) {
    return verdicts.error();
  }
  const Result<std::vector<PathAnswers>> answers = store.AnswersOfPaths(run);
  if (!answers) {
    return answers.error();
  }
  std::vector<SampleCounts> items;
  std::vector<std::pair<std::string, int>> wrong;
  for (size_t i = 0; i < answers->size(); ++i) {
    const PathAnswers& one = (*answers)[i];
    const auto stored = by_number.find(one.key.question);
    if (stored == by_number.end()) {
      continue;
    }
    if (i == 0 || (*answers)[i - 1].key != one.key) {
      items.push_back({stored->second->suite + "/" + stored->second->name, 0, {}, 0});
      wrong.clear();
    }
    const Result<StoredVerdict> verdict = verdicts->Of(*stored->second, one.answer);
    if (!verdict) {
      return verdict.error();
    }
    SampleCounts& item = items.back();
    if (!one.answer) {
      item.silent += one.paths;
    } else if (*verdict == StoredVerdict::kRight) {
      item.right += one.paths;
    } else {
      wrong.emplace_back(*one.answer, one.paths);
    }
    const bool last = i + 1 == answers->size() || (*answers)[i + 1].key != one.key;
    if (last) {
      item.others = Grouped(wrong);
    }
  }
  return items;
}

double Existence(const std::vector<SampleCounts>& items) {
  if (items.empty()) {
    return kNaN;
  }
  const auto right = std::count_if(items.begin(), items.end(),
                                   [](const SampleCounts& item) { return item.right > 0; });
  return static_cast<double>(right) / static_cast<double>(items.size());
}

double MeanPassAtK(const std::vector<SampleCounts>& items, int k) {
  return MeanOver(items, k,
                  [k](const SampleCounts& item) { return PassAtK(item.total(), item.right, k); });
}

double MeanMajorityAtK(const std::vector<SampleCounts>& items, int k) {
  return MeanOver(items, k, [k](const SampleCounts& item) {
    return MajorityAtK(item.right, item.others, item.silent, k);
  });
}

double MeanMajorityOfAll(const std::vector<SampleCounts>& items) {
  if (items.empty()) {
    return kNaN;
  }
  double sum = 0;
  for (const SampleCounts& item : items) {
    sum += MajorityAtK(item.right, item.others, item.silent, item.total()).value_or(0);
  }
  return sum / static_cast<double>(items.size());
}

double MajorityAtTokens(const std::vector<SampleCounts>& items, double k) {
  if (!(k >= 1) || items.empty()) {
    return kNaN;
  }
  const double below = std::floor(k);
  const double low = MeanMajorityAtK(items, static_cast<int>(below));
  if (below == k) {
    return low;
  }
  const double high = MeanMajorityAtK(items, static_cast<int>(below) + 1);
  return low + (k - below) * (high - low);
}

}  // namespace hyper::eval
