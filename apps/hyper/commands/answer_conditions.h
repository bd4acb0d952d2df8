// What `hyper inspect --where` asks of answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"
#include "src/store/store.h"

namespace hyper::app {

// "wrong": of the answer itself. "sc right": of what the row sc answered to the same question in
// the same repeat. "disagree": some vote rule chose another answer than the one that decided.
struct AnswerCondition {
  enum class Kind { kRight, kWrong, kUndecided, kFailed, kDisagree };

  std::string row;  // its label or #N; empty: the answer itself
  Kind kind = Kind::kWrong;

  bool operator==(const AnswerCondition&) const = default;
};

// The conditions in `text`, separated by commas. Errors: kInvalidArgument with the one that is not
// understood. Pure.
Result<std::vector<AnswerCondition>> ParseConditions(std::string_view text);

// Whether an answer is as `kind`, which is not kDisagree, says. Pure.
bool Meets(AnswerCondition::Kind kind, const ItemSummary& item);

// The rules that chose another answer than the one that decided, with it. Pure.
std::vector<StoredVote> OtherVotes(const StoredItem& item);

}  // namespace hyper::app

template <>
inline constexpr std::array hyper::kNamesOf<hyper::app::AnswerCondition::Kind> = {
    "right", "wrong", "undecided", "failed", "disagree"};
