#include "hyper/equal.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/answer/compare/compare.h"
#include "src/answer/compare/near.h"
#include "src/answer/numbers/exact.h"
#include "src/answer/read/reader.h"
#include "src/answer/values/evaluate.h"

namespace hyper::answer {
namespace {

// An answer, and its second reading where letters in it may be a unit.
struct Readings {
  Reading plain;
  std::optional<Reading> with_units;
};

Readings Read(std::string_view answer, const EqualOptions& options, Budget& budget) {
  Readings readings{ReadAnswer(answer, {options.base}, budget), std::nullopt};
  if (readings.plain.may_have_units) {
    readings.with_units = ReadAnswer(answer, {options.base, true}, budget);
  }
  return readings;
}

EqualResult CompareReadings(const Reading& gold, const Reading& answer, const EqualOptions& options,
                            Budget& budget) {
  if (gold.normalised.empty()) {
    return {Verdict::kUndecided, "first answer: " + gold.error};
  }
  if (answer.normalised.empty()) {
    return {Verdict::kUndecided, "second answer: " + answer.error};
  }
  if (gold.normalised == answer.normalised) {
    return {Verdict::kEqual, "the same text"};
  }
  if (gold.tree.root == kNoNode) {
    return {Verdict::kUndecided, "first answer: " + gold.error};
  }
  if (answer.tree.root == kNoNode) {
    return {Verdict::kUndecided, "second answer: " + answer.error};
  }
  // The smaller text first: the verdict cannot depend on the order of the arguments.
  const bool swap = answer.normalised < gold.normalised;
  Expression tree = swap ? answer.tree : gold.tree;
  const NodeId second = tree.Import(swap ? gold.tree : answer.tree);
  Comparer comparer(tree, options, budget);
  const Verdict verdict = comparer.CompareAnswers(tree.root, second);
  return {verdict, comparer.reason()};
}

// "10 N" is ten newtons or a product: equal if it is so in one reading, not equal if in both.
EqualResult CompareReadings(const Readings& gold, const Readings& answer,
                            const EqualOptions& options, Budget& budget) {
  EqualResult plain = CompareReadings(gold.plain, answer.plain, options, budget);
  if (plain.verdict == Verdict::kEqual || (!gold.with_units && !answer.with_units)) {
    return plain;
  }
  const Reading& left = gold.with_units ? *gold.with_units : gold.plain;
  const Reading& right = answer.with_units ? *answer.with_units : answer.plain;
  EqualResult units = CompareReadings(left, right, options, budget);
  const auto sure = [](const Readings& side) {
    return side.plain.surely_units || side.plain.tree.root == kNoNode;
  };
  const auto sure_or_plain = [&](const Readings& side) { return !side.with_units || sure(side); };
  if (units.verdict == Verdict::kEqual && sure_or_plain(gold) && sure_or_plain(answer)) {
    return units;
  }
  // 2 kJ and 2 J
  const bool both = gold.with_units && answer.with_units && sure(gold) && sure(answer);
  if (units.verdict == Verdict::kNotEqual && both) {
    return units;
  }
  if (units.verdict == plain.verdict) {
    return plain;
  }
  return {Verdict::kUndecided, "letters behind a number may be a unit or a factor"};
}

std::string KeyOf(const Reading& reading, const EqualOptions& options, Budget& budget) {
  if (reading.normalised.empty()) {
    return {};
  }
  if (reading.tree.root != kNoNode) {
    std::string key = StructuralKey(reading.tree, reading.tree.root, budget, options.rounded);
    if (!key.empty()) {
      return "=" + key;
    }
  }
  return "?" + reading.normalised;
}

// Disjoint sets of answers, merged as equalities are found.
class Groups {
 public:
  explicit Groups(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0U); }
  size_t Find(size_t i) {
    while (parent_[i] != i) {
      i = parent_[i] = parent_[parent_[i]];
    }
    return i;
  }
  void Merge(size_t i, size_t j) { parent_[Find(i)] = Find(j); }
  std::vector<int> Numbered() {
    std::vector<int> number(parent_.size(), -1);
    std::vector<int> result(parent_.size());
    int next = 0;
    for (size_t i = 0; i < parent_.size(); ++i) {
      int& group = number[Find(i)];
      if (group < 0) {
        group = next++;
      }
      result[i] = group;
    }
    return result;
  }

 private:
  std::vector<size_t> parent_;
};

// An answer with a key of its own.
struct Distinct {
  size_t place = 0;
  Readings readings;
  NearRange range;
};

// Compares every pair whose ranges overlap, in the order of their lower ends, and no other.
void MergeNeighbours(std::vector<Distinct>& answers, const EqualOptions& options, Groups& groups) {
  std::stable_sort(answers.begin(), answers.end(),
                   [](const Distinct& a, const Distinct& b) { return a.range.low < b.range.low; });
  for (size_t a = 0; a < answers.size(); ++a) {
    for (size_t b = a + 1; b < answers.size(); ++b) {
      if (!Overlap(answers[a].range, answers[b].range)) {
        break;
      }
      if (groups.Find(answers[a].place) == groups.Find(answers[b].place)) {
        continue;
      }
      Budget budget(options.max_steps, options.max_bytes);
      const EqualResult result =
          CompareReadings(answers[a].readings, answers[b].readings, options, budget);
      if (result.verdict == Verdict::kEqual) {
        groups.Merge(answers[a].place, answers[b].place);
      }
    }
  }
}

}  // namespace
}  // namespace hyper::answer

namespace hyper {

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kNotEqual:
      return "not equal";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

EqualResult AnswersEqual(std::string_view gold, std::string_view answer,
                         const EqualOptions& options) {
  answer::Budget budget(options.max_steps, options.max_bytes);
  const answer::Readings first = answer::Read(gold, options, budget);
  const answer::Readings second = answer::Read(answer, options, budget);
  return answer::CompareReadings(first, second, options, budget);
}

std::string CanonicalKey(std::string_view answer, const EqualOptions& options) {
  answer::Budget budget(options.max_steps, options.max_bytes);
  return answer::KeyOf(answer::ReadAnswer(answer, {options.base}, budget), options, budget);
}

std::vector<int> GroupAnswers(std::span<const std::string> answers, const EqualOptions& options) {
  answer::Groups groups(answers.size());
  std::unordered_map<std::string, size_t> first_of;
  std::vector<answer::Distinct> distinct;
  for (size_t i = 0; i < answers.size(); ++i) {
    answer::Budget budget(options.max_steps, options.max_bytes);
    answer::Readings readings = answer::Read(answers[i], options, budget);
    const std::string key = answer::KeyOf(readings.plain, options, budget);
    if (key.empty()) {
      continue;
    }
    const auto [found, added] = first_of.emplace(key, i);
    if (!added) {
      groups.Merge(i, found->second);
    } else if (readings.with_units) {
      distinct.push_back({i, std::move(readings), {}});
    } else if (const answer::Expression& tree = readings.plain.tree; tree.root != answer::kNoNode) {
      // An answer that could not be read equals only its own text, which is its key.
      const answer::NearRange range = answer::NearRangeOf(tree, tree.root, options, budget);
      distinct.push_back({i, std::move(readings), range});
    }
  }
  answer::MergeNeighbours(distinct, options, groups);
  return groups.Numbered();
}

}  // namespace hyper
