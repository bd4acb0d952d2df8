#include "apps/hyper/commands/answer_conditions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/hyper/input/read_text.h"

namespace hyper::app {
namespace {

using Kind = AnswerCondition::Kind;

}  // namespace

Result<std::vector<AnswerCondition>> ParseConditions(std::string_view text) {
  std::vector<AnswerCondition> conditions;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string words = Trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    const size_t space = words.rfind(' ');
    const std::optional<Kind> kind =
        ValueOf<Kind>(space == words.npos ? words : words.substr(space + 1));
    const std::string row = space == words.npos ? "" : Trimmed(words.substr(0, space));
    if (!kind || (*kind == Kind::kDisagree && !row.empty())) {
      return InvalidArgument(fmt::format(
          "--where '{}' is not understood; it takes {}, and before the first four a row, "
          "such as 'sc right, hyper wrong'",
          words, fmt::join(kNamesOf<Kind>, ", ")));
    }
    conditions.push_back({row, *kind});
  }
  return conditions;
}

bool Meets(AnswerCondition::Kind kind, const ItemSummary& item) {
  const StoredVerdict verdict = item.grade ? item.grade->verdict : StoredVerdict::kNotGraded;
  const bool failed = item.status == ItemStatus::kFailed;
  switch (kind) {
    case Kind::kRight:
      return !failed && verdict == StoredVerdict::kRight;
    case Kind::kWrong:
      return !failed && verdict == StoredVerdict::kWrong;
    case Kind::kUndecided:
      return !failed && verdict == StoredVerdict::kUndecided;
    case Kind::kFailed:
      return failed;
    case Kind::kDisagree:
      break;
  }
  return false;
}

std::vector<StoredVote> OtherVotes(const StoredItem& item) {
  std::vector<StoredVote> others;
  std::copy_if(item.votes.begin(), item.votes.end(), std::back_inserter(others),
               [&item](const StoredVote& vote) {
                 return vote.answer && vote.rule != item.vote_rule && vote.answer != item.answer;
               });
  return others;
}

}  // namespace hyper::app
