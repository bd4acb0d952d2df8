#include "src/eval/run/pool_labels.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hyper/equal.h"
#include "src/eval/grade/study_grades.h"
#include "src/eval/run/signal_scores.h"

namespace hyper::eval {
namespace {

// The answer that most paths have, and more than any other; empty where two tie or none repeats.
Result<std::string> ConsensusOf(const PoolEntry& entry) {
  const Result<Question> question = QuestionOf(entry.question);
  if (!question) {
    return question.error();
  }
  std::vector<std::string> answers;
  for (const StoredPath& path : entry.item.paths) {
    std::string answer = AnswerOfPath(path, *question);
    if (!answer.empty()) {
      answers.push_back(std::move(answer));
    }
  }
  const std::vector<int> groups = GroupAnswers(answers);
  std::string consensus;
  int64_t most = 1;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto first = std::find(groups.begin(), groups.end(), groups[i]);
    if (first - groups.begin() != static_cast<std::ptrdiff_t>(i)) {
      continue;  // of a group that was counted
    }
    const int64_t votes = std::count(groups.begin(), groups.end(), groups[i]);
    if (votes >= most) {
      consensus = votes == most ? std::string() : answers[i];
      most = votes;
    }
  }
  return consensus;
}

// What makes two entries the same question.
std::string IdentityOf(const StoredQuestion& question) {
  return question.text.empty() ? question.suite + '\n' + question.name : question.text;
}

}  // namespace

Result<LabelCounts> LabelPool(TracePool& pool, PoolLabels labels) {
  LabelCounts counts;
  std::vector<PoolEntry> kept;
  for (PoolEntry& entry : pool.entries) {
    std::string& gold = entry.question.gold;
    const bool known = labels == PoolLabels::kGold && !gold.empty();
    if (!known) {
      Result<std::string> consensus = ConsensusOf(entry);
      if (!consensus) {
        return consensus.error();
      }
      gold = std::move(*consensus);
    }
    ++(known ? counts.gold : gold.empty() ? counts.dropped : counts.consensus);
    if (!gold.empty()) {
      kept.push_back(std::move(entry));
    }
  }
  pool.entries = std::move(kept);
  return counts;
}

std::array<TracePool, 2> SplitPool(TracePool pool) {
  std::array<TracePool, 2> halves;
  for (TracePool& half : halves) {
    half.made_by = pool.made_by;
    half.pieces = pool.pieces;
  }
  std::map<std::string, size_t> half_of;
  // Groups begin with either half in turn: many small ones are split evenly too.
  std::map<std::string, size_t> next_of_group;
  for (PoolEntry& entry : pool.entries) {
    const auto group = next_of_group.try_emplace(entry.question.group, next_of_group.size()).first;
    const auto [at, added] = half_of.try_emplace(IdentityOf(entry.question), group->second % 2);
    if (added) {
      ++group->second;
    }
    halves[at->second].entries.push_back(std::move(entry));
  }
  return halves;
}

}  // namespace hyper::eval
