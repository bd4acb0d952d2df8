#include "src/eval/metrics/study_summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/eval/grade/grader.h"
#include "src/eval/grade/study_grades.h"

namespace hyper::eval {
namespace {

constexpr double kConfidenceLevel = 0.95;

// Outcomes of a run by question, repeats in order.
using OutcomesByQuestion = std::map<int64_t, std::map<int, Outcome>>;

Outcome OutcomeOf(StoredVerdict verdict) {
  switch (verdict) {
    case StoredVerdict::kRight:
      return Outcome::kRight;
    case StoredVerdict::kWrong:
      return Outcome::kWrong;
    case StoredVerdict::kUndecided:
    case StoredVerdict::kNotGraded:
      break;
  }
  return Outcome::kUndecided;
}

// The questions that have every repeat of the run, and how many have not.
struct WholeQuestions {
  std::vector<int64_t> questions;
  std::vector<std::vector<Outcome>> outcomes;
  int left_out = 0;
};

WholeQuestions KeepWhole(const OutcomesByQuestion& by_question) {
  size_t repeats = 0;
  for (const auto& [question, outcomes] : by_question) {
    repeats = std::max(repeats, outcomes.size());
  }
  WholeQuestions whole;
  for (const auto& [question, outcomes] : by_question) {
    if (outcomes.size() < repeats) {
      ++whole.left_out;
      continue;
    }
    whole.questions.push_back(question);
    whole.outcomes.emplace_back();
    for (const auto& [repeat, outcome] : outcomes) {
      whole.outcomes.back().push_back(outcome);
    }
  }
  return whole;
}

// Numbers of the questions that the options choose.
Result<std::map<int64_t, StoredQuestion>> ChosenQuestions(Store& store,
                                                          const SummaryOptions& options) {
  const Result<std::vector<StoredQuestion>> all = store.Questions();
  if (!all) {
    return all.error();
  }
  std::map<int64_t, StoredQuestion> chosen;
  for (const StoredQuestion& question : *all) {
    const bool wanted = options.groups.empty() ||
                        std::find(options.groups.begin(), options.groups.end(), question.group) !=
                            options.groups.end();
    const bool left_out =
        !options.left_out_suite.empty() && question.suite == options.left_out_suite;
    if (wanted && !left_out) {
      chosen.emplace(question.id, question);
    }
  }
  return chosen;
}

void AddCosts(const ItemSummary& item, RunSummary& summary) {
  const Ledger& ledger = item.ledger;
  summary.generated_tokens += static_cast<double>(ledger.generated + item.lost.generated_tokens);
  summary.effective_tokens += static_cast<double>(ledger.effective() + item.lost.effective_tokens);
  summary.instances += ledger.lanes_opened;
  summary.sequential_tokens += static_cast<double>(ledger.positions);
  summary.mean_paths += ledger.mean_lanes();
  summary.latency_s += ledger.wall_s;
  summary.peak_paths = std::max(summary.peak_paths, ledger.lanes_peak);
  summary.peak_kv_bytes = std::max(summary.peak_kv_bytes, ledger.cells_peak_bytes());
  summary.failed += item.status == ItemStatus::kFailed ? 1 : 0;
}

// The share of one of a question's `repeats` items in its means.
void AddCosts(const ItemSummary& item, double repeats, QuestionShare& share) {
  const Ledger& ledger = item.ledger;
  share.generated += static_cast<double>(ledger.generated + item.lost.generated_tokens) / repeats;
  share.effective += static_cast<double>(ledger.effective() + item.lost.effective_tokens) / repeats;
  share.instances += ledger.lanes_opened / repeats;
}

void DivideCosts(double items, RunSummary& summary) {
  for (double* sum :
       {&summary.generated_tokens, &summary.effective_tokens, &summary.sequential_tokens,
        &summary.instances, &summary.mean_paths, &summary.latency_s}) {
    *sum /= items;
  }
}

bool IsOpen(const std::vector<Outcome>& outcomes) {
  return std::any_of(outcomes.begin(), outcomes.end(), [](Outcome outcome) {
    return outcome == Outcome::kFailed || outcome == Outcome::kUndecided;
  });
}

double ShareRight(const std::vector<Outcome>& outcomes) {
  return static_cast<double>(std::count(outcomes.begin(), outcomes.end(), Outcome::kRight)) /
         static_cast<double>(outcomes.size());
}

// The summary of a run, or nothing where it has no whole question.
Result<std::optional<RunSummary>> SummariseRun(Store& store, const StoredRun& run,
                                               const std::map<int64_t, StoredQuestion>& chosen) {
  const Result<std::vector<ItemSummary>> items = store.Items(run.id);
  if (!items) {
    return items.error();
  }
  OutcomesByQuestion outcomes;
  for (const ItemSummary& item : *items) {
    const auto question = chosen.find(item.key.question);
    if (question == chosen.end()) {
      continue;
    }
    const Result<Outcome> outcome = OutcomeOfItem(item, question->second);
    if (!outcome) {
      return outcome.error();
    }
    outcomes[item.key.question][item.key.repeat] = *outcome;
  }
  const WholeQuestions whole = KeepWhole(outcomes);
  if (whole.questions.empty()) {
    return std::optional<RunSummary>();
  }
  RunSummary summary;
  summary.run = run;
  summary.left_out = whole.left_out;
  const Result<Accuracy> accuracy = Summarise(whole.outcomes);
  if (!accuracy) {
    return accuracy.error();
  }
  summary.accuracy = *accuracy;
  std::map<int64_t, QuestionShare*> kept;
  summary.per_question.resize(whole.questions.size());
  for (size_t i = 0; i < whole.questions.size(); ++i) {
    const StoredQuestion& question = chosen.at(whole.questions[i]);
    summary.per_question[i] = {question.suite + "/" + question.name, ShareRight(whole.outcomes[i])};
    summary.per_question[i].open = IsOpen(whole.outcomes[i]);
    kept[question.id] = &summary.per_question[i];
  }
  const auto repeats = static_cast<double>(whole.outcomes.front().size());
  for (const ItemSummary& item : *items) {
    const auto share = kept.find(item.key.question);
    if (share == kept.end()) {
      continue;
    }
    AddCosts(item, summary);
    AddCosts(item, repeats, *share->second);
  }
  DivideCosts(repeats * static_cast<double>(whole.questions.size()), summary);
  const Result<std::map<int64_t, ActionTally>> actions = store.ActionCounts(run.id);
  if (!actions) {
    return actions.error();
  }
  for (const auto& [question, tally] : *actions) {
    if (kept.count(question) == 0) {
      continue;
    }
    for (size_t action = 0; action < kActionCount; ++action) {
      summary.actions[action] += tally[action];
    }
  }
  return std::optional<RunSummary>(std::move(summary));
}

}  // namespace

Result<Outcome> OutcomeOfItem(const ItemSummary& item, const StoredQuestion& stored) {
  if (item.status == ItemStatus::kFailed) {
    return Outcome::kFailed;
  }
  if (item.grade && item.grade->gold == stored.gold) {
    return OutcomeOf(item.grade->verdict);
  }
  const Result<Question> question = QuestionOf(stored);
  if (!question) {
    return question.error();
  }
  const Result<GradeOutcome> grade = GradeAnswer(*question, item.answer);
  return grade ? OutcomeOf(grade->verdict) : Result<Outcome>(grade.error());
}

Result<std::vector<RunSummary>> SummariseStudy(Store& store, const SummaryOptions& options) {
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  const auto chosen = ChosenQuestions(store, options);
  if (!chosen) {
    return chosen.error();
  }
  std::vector<RunSummary> summaries;
  for (const StoredRun& run : *runs) {
    Result<std::optional<RunSummary>> summary = SummariseRun(store, run, *chosen);
    if (!summary) {
      return summary.error();
    }
    if (*summary) {
      summaries.push_back(std::move(**summary));
    }
  }
  return summaries;
}

Result<std::vector<RuleAccuracy>> SummariseVotes(Store& store, int64_t run,
                                                 const SummaryOptions& options) {
  const auto chosen = ChosenQuestions(store, options);
  if (!chosen) {
    return chosen.error();
  }
  const Result<std::vector<VoteAnswer>> votes = store.VoteAnswers(run);
  if (!votes) {
    return votes.error();
  }
  const Result<AnswerVerdicts> verdicts = AnswerVerdicts::Load(store);
  if (!verdicts) {
    return verdicts.error();
  }
  std::map<std::string, OutcomesByQuestion> by_rule;
  for (const VoteAnswer& vote : *votes) {
    const auto stored = chosen->find(vote.key.question);
    if (stored == chosen->end()) {
      continue;
    }
    const Result<StoredVerdict> verdict = verdicts->Of(stored->second, vote.answer);
    if (!verdict) {
      return verdict.error();
    }
    by_rule[vote.rule][vote.key.question][vote.key.repeat] = OutcomeOf(*verdict);
  }
  const Result<std::vector<ItemSummary>> items = store.Items(run);
  if (!items) {
    return items.error();
  }
  for (const ItemSummary& item : *items) {
    if (item.status != ItemStatus::kFailed || chosen->count(item.key.question) == 0) {
      continue;
    }
    for (auto& [rule, outcomes] : by_rule) {
      outcomes[item.key.question][item.key.repeat] = Outcome::kFailed;
    }
  }
  std::vector<RuleAccuracy> accuracies;
  for (const auto& [rule, outcomes] : by_rule) {
    const WholeQuestions whole = KeepWhole(outcomes);
    const Result<Accuracy> accuracy = Summarise(whole.outcomes);
    if (!accuracy) {
      return accuracy.error();
    }
    accuracies.push_back({rule, *accuracy});
  }
  return accuracies;
}

Result<RunComparison> CompareRuns(const RunSummary& first, const RunSummary& second,
                                  uint64_t bootstrap_seed) {
  std::map<std::string, const QuestionShare*> others;
  for (const QuestionShare& share : second.per_question) {
    others[share.question] = &share;
  }
  RunComparison comparison;
  std::vector<double> a;
  std::vector<double> b;
  for (const QuestionShare& share : first.per_question) {
    const auto other = others.find(share.question);
    if (other == others.end()) {
      continue;
    }
    if (share.open || other->second->open) {
      ++comparison.left_out;
      continue;
    }
    a.push_back(share.right);
    b.push_back(other->second->right);
    const bool first_right = a.back() > 0.5;
    const bool second_right = b.back() > 0.5;
    comparison.only_first += first_right && !second_right ? 1 : 0;
    comparison.only_second += second_right && !first_right ? 1 : 0;
  }
  if (a.empty()) {
    return InvalidArgument(
        first.run.label + " and " + second.run.label +
        (comparison.left_out == 0
             ? " have no question in common"
             : " have no question in common that both decided: each failed or is "
               "undecided in one of them; resume the studies, or grade them with "
               "a judge"));
  }
  comparison.questions = static_cast<int>(a.size());
  comparison.first = Mean(a);
  comparison.second = Mean(b);
  comparison.mcnemar_p = McNemarExact(comparison.only_first, comparison.only_second);
  const Result<PairedDifference> difference =
      PairedBootstrap(a, b, kConfidenceLevel, kBootstrapResamples, bootstrap_seed);
  if (!difference) {
    return difference.error();
  }
  comparison.difference = *difference;
  return comparison;
}

}  // namespace hyper::eval
