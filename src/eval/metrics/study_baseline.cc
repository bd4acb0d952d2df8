#include "src/eval/metrics/study_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hyper::eval {
namespace {

using Candidates = std::vector<const RunSummary*>;

// Settings that SC shares with the methods that it is compared to.
constexpr const char* kSharedSettings[] = {"temperature", "top-k", "top-p", "min-p", "max-tokens"};

std::string SettingOf(const RunSummary& run, const char* name) {
  const auto at = run.run.settings.find(name);
  return at != run.run.settings.end() ? at->second : "?";
}

// Keeps those that fit, where any does.
template <class Fits>
void Prefer(Candidates& candidates, Fits fits) {
  Candidates fitting;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(fitting), fits);
  if (!fitting.empty()) {
    candidates = std::move(fitting);
  }
}

Candidates ScOfPlace(const std::vector<RunSummary>& runs, const RunSummary& run) {
  Candidates candidates;
  for (const RunSummary& other : runs) {
    if (other.run.method == kBaselineMethod && SamePlace(other, run)) {
      candidates.push_back(&other);
    }
  }
  return candidates;
}

// The runs that fit best: one, none, or several that are equally good.
Candidates BestBaselines(const std::vector<RunSummary>& runs, const RunSummary& run) {
  Candidates candidates = ScOfPlace(runs, run);
  Prefer(candidates, [](const RunSummary* one) { return one->run.label == kBaselineMethod; });
  Prefer(candidates, [&](const RunSummary* one) { return one->run.seed == run.run.seed; });
  Prefer(candidates, [&](const RunSummary* one) { return one->run.engine == run.run.engine; });
  Prefer(candidates, [&](const RunSummary* one) { return one->run.version == run.run.version; });
  for (const char* name : kSharedSettings) {
    Prefer(candidates,
           [&](const RunSummary* one) { return SettingOf(*one, name) == SettingOf(run, name); });
  }
  return candidates;
}

// "width 8 on tinymath", with the row's name where it is not plain which one that is.
std::string BaselineName(const std::vector<RunSummary>& runs, const RunSummary& base) {
  std::string name = fmt::format("{} on {}", SettingOf(base, "width"), base.run.suite);
  if (base.run.label != kBaselineMethod || ScOfPlace(runs, base).size() > 1) {
    name += fmt::format(" (row #{} {}, seed {})", base.run.id, base.run.label, base.run.seed);
  }
  return name;
}

std::string Joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

bool SamePlace(const RunSummary& a, const RunSummary& b) {
  return a.run.model == b.run.model && a.run.model_hash == b.run.model_hash &&
         a.run.suite == b.run.suite;
}

const RunSummary* Baseline(const std::vector<RunSummary>& runs, const RunSummary& run) {
  const Candidates best = BestBaselines(runs, run);
  return best.size() == 1 ? best.front() : nullptr;
}

CommonCosts OverCommonQuestions(const RunSummary& run, const RunSummary& base) {
  std::map<std::string, const QuestionShare*> of_base;
  for (const QuestionShare& share : base.per_question) {
    of_base[share.question] = &share;
  }
  CommonCosts common;
  for (const QuestionShare& share : run.per_question) {
    const auto other = of_base.find(share.question);
    if (other == of_base.end()) {
      continue;
    }
    ++common.questions;
    common.right += share.right;
    common.generated += share.generated;
    common.effective += share.effective;
    common.base_generated += other->second->generated;
    common.base_effective += other->second->effective;
    common.base_instances += other->second->instances;
  }
  for (double* sum : {&common.right, &common.generated, &common.effective, &common.base_generated,
                      &common.base_effective, &common.base_instances}) {
    *sum = common.questions > 0 ? *sum / common.questions : kNaN;
  }
  return common;
}

double EffectiveRatio(const std::vector<RunSummary>& runs, const RunSummary& run) {
  const RunSummary* base = Baseline(runs, run);
  if (base == nullptr) {
    return kNaN;
  }
  const CommonCosts common = OverCommonQuestions(run, *base);
  return common.effective / common.base_effective;
}

double GeneratedRatio(const std::vector<RunSummary>& runs, const RunSummary& run) {
  const RunSummary* base = Baseline(runs, run);
  if (base == nullptr) {
    return kNaN;
  }
  const CommonCosts common = OverCommonQuestions(run, *base);
  return common.generated / common.base_generated;
}

std::vector<std::string> BaselineNotes(const std::vector<RunSummary>& runs) {
  std::vector<std::string> used;
  std::map<std::string, std::vector<std::string>> unclear;  // rows by the SC rows that fit them
  std::vector<std::string> parts;
  for (const RunSummary& run : runs) {
    const Candidates best = BestBaselines(runs, run);
    if (best.size() > 1) {
      std::vector<std::string> names;
      for (const RunSummary* one : best) {
        names.push_back(fmt::format("#{} {} of width {}", one->run.id, one->run.label,
                                    SettingOf(*one, "width")));
      }
      unclear[Joined(names)].push_back(run.run.label);
    }
    if (best.size() != 1) {
      continue;
    }
    const std::string name = BaselineName(runs, *best.front());
    if (std::find(used.begin(), used.end(), name) == used.end()) {
      used.push_back(name);
    }
    const int common = OverCommonQuestions(run, *best.front()).questions;
    const auto all = std::max(run.per_question.size(), best.front()->per_question.size());
    if (static_cast<size_t>(common) < all) {
      parts.push_back(fmt::format("{}: {} questions in common with SC, and Token is over these{}.",
                                  run.run.label, common, common == 0 ? ", so empty" : ""));
    }
  }
  std::vector<std::string> notes;
  if (!used.empty()) {
    notes.push_back("Token: effective tokens over those of SC; SC ran with width " + Joined(used) +
                    ".");
  } else if (unclear.empty()) {
    notes.emplace_back("Token is empty: there is no run of sc to compare with.");
  }
  for (const auto& [fitting, labels] : unclear) {
    notes.push_back(fmt::format("Token is empty for {}: several rows of SC fit equally: {}.",
                                Joined(labels), fitting));
  }
  notes.insert(notes.end(), parts.begin(), parts.end());
  return notes;
}

}  // namespace hyper::eval
