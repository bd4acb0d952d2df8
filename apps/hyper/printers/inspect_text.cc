#include "apps/hyper/printers/inspect_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "apps/hyper/command.h"

namespace hyper::app {
namespace {

std::string Shown(const std::optional<std::string>& answer) {
  return answer ? OneLine(*answer) : "none";
}

std::string VerdictText(const std::optional<StoredGrade>& grade) {
  if (!grade) {
    return "not graded";
  }
  const std::string note = grade->note.empty() ? "" : ", " + OneLine(grade->note);
  return NameOf(grade->verdict) + note;
}

std::string QuestionText(const StoredQuestion& question) {
  if (question.suite == kRunsSuite) {
    return fmt::format("run      {}\nquestion {}\n", OneLine(question.name),
                       OneLine(question.text));
  }
  const std::string group = question.group.empty() ? "" : ", group " + OneLine(question.group);
  const std::string gold = question.gold.empty() ? "" : "gold     " + OneLine(question.gold) + "\n";
  return fmt::format("question #{} {} ({}{})\n         {}\n{}", question.id, OneLine(question.name),
                     OneLine(question.suite), group, OneLine(question.text), gold);
}

// What answered: of a run the method, of a study its row.
std::string RowText(const StoredQuestion& question, const StoredRun& run, int repeat) {
  if (question.suite == kRunsSuite) {
    return fmt::format("method   {}, model {}\n", run.method, OneLine(run.model));
  }
  return fmt::format("row      #{} {} ({}, model {}), repeat {}\n", run.id, OneLine(run.label),
                     run.method, OneLine(run.model), repeat);
}

const StoredVote* FindVote(const StoredItem& item, const std::string& rule) {
  for (const StoredVote& vote : item.votes) {
    if (vote.rule == rule) {
      return &vote;
    }
  }
  return nullptr;
}

// What the rule that decided saw.
std::string DecidingReason(const StoredItem& item, const StoredVote& vote) {
  if (vote.tallies.empty()) {
    return "no path that votes has an answer";
  }
  const StoredTally& first = vote.tallies.front();
  std::string reason = fmt::format(
      "{} has the largest score of {}: {:.4f}, {:.0f} % of all scores, from {} of {} "
      "votes",
      OneLine(first.answer), vote.rule, first.score, 100 * first.share, first.paths,
      item.voting_paths);
  if (vote.tallies.size() > 1) {
    const StoredTally& second = vote.tallies[1];
    reason +=
        fmt::format("; next is {} with {:.4f} ({:.0f} %, {} vote{})", OneLine(second.answer),
                    second.score, 100 * second.share, second.paths, second.paths == 1 ? "" : "s");
  }
  if (vote.tie) {
    reason += "; the scores are equal, so more paths, confidence or the text decided";
  }
  return reason;
}

std::string OtherRules(const StoredItem& item) {
  std::vector<std::string> others;
  for (const StoredVote& vote : item.votes) {
    if (vote.answer != item.answer) {
      others.push_back(vote.rule + ": " + Shown(vote.answer));
    }
  }
  if (others.empty()) {
    return fmt::format("all {} rules choose the same answer", item.votes.size());
  }
  return fmt::format("{} of {} rules choose otherwise ({})", others.size(), item.votes.size(),
                     fmt::join(others, ", "));
}

std::string WhyText(const StoredItem& item) {
  const StoredVote* vote = FindVote(item, item.vote_rule);
  if (vote == nullptr) {
    return "why      the study holds no vote of this answer\n";
  }
  return fmt::format("why      {}\n         {}\n", DecidingReason(item, *vote), OtherRules(item));
}

std::string VotesText(const StoredItem& item) {
  std::string text = "\nvote     every rule, * at the one that decided: score, share, paths\n";
  for (const StoredVote& vote : item.votes) {
    text += fmt::format("  {} {:<20}", vote.rule == item.vote_rule ? '*' : ' ', vote.rule);
    for (const StoredTally& tally : vote.tallies) {
      text += fmt::format("  {}: {:.4f} {:.0f} % {}{}", OneLine(tally.answer), tally.score,
                          100 * tally.share, tally.paths, tally.candidate ? "" : " (no candidate)");
    }
    text += vote.tallies.empty() ? "  no answer" : "";
    text += vote.tie ? "  tie" : "";
    text += vote.clipped > 0 ? fmt::format("  {} clipped", vote.clipped) : "";
    text += '\n';
  }
  return text;
}

const char* VotedText(Voted voted) {
  switch (voted) {
    case Voted::kYes:
      return "yes";
    case Voted::kNo:
      return "no";
    case Voted::kUnknown:
      break;
  }
  return "?";
}

std::string PathsText(const StoredItem& item, bool texts) {
  std::string text =
      "\npaths    number, from, status, votes, tokens, mean and lowest-window confidence, answer\n";
  const std::vector<Voted> voted = WhoVoted(item);
  for (size_t i = 0; i < item.paths.size(); ++i) {
    const StoredPath& path = item.paths[i];
    const std::string from = path.parent != kNoPath
                                 ? fmt::format("{}@{}", path.parent, path.fork_position)
                                 : std::string(path.warmup ? "warm-up" : "prompt");
    const std::string kind =
        path.kind == PathKind::kReasoning ? "" : NameOf(path.kind) + std::string(" ");
    text += fmt::format("  {:>4} {:<8} {:<10} {:<3} {:>6} {:>6} {:>6}  {}{}{}\n", path.path, from,
                        kind + NameOf(path.status), VotedText(voted[i]), path.tokens,
                        ShortNumber(path.mean_confidence), ShortNumber(path.lowest_window),
                        Shown(path.answer), path.tentative ? " (tentative)" : "",
                        path.reason.empty() ? "" : "  | " + OneLine(path.reason));
    if (texts) {
      text += "       " + OneLine(path.text) + "\n";
    }
  }
  return text;
}

std::string DecisionsText(const StoredItem& item) {
  if (item.decisions.empty()) {
    return "";
  }
  std::string text =
      "\ndecisions  at token, action, r_t, paths before and after; scores of none, single_token, "
      "multi_token, branch\n";
  for (const DecisionRecord& decision : item.decisions) {
    text += fmt::format("  {:>4} {:<12} {:>3} {:>4} {:>4} ", decision.position,
                        NameOf(decision.effect()), decision.expansion, decision.paths_before,
                        decision.paths_after);
    for (size_t action = 0; action < kActionCount; ++action) {
      text += decision.allowed.Has(static_cast<Action>(action))
                  ? fmt::format(" {:>6}", ShortNumber(decision.scores[action]))
                  : std::string("      -");
    }
    text += decision.note.empty() ? "\n" : "  | " + OneLine(decision.note) + "\n";
  }
  return text;
}

std::string CostText(const StoredItem& item) {
  const Ledger& ledger = item.ledger;
  return fmt::format("cost     {} tokens generated, {} effective, {} lanes opened, {} at once\n",
                     ledger.generated, ledger.effective(), ledger.lanes_opened, ledger.lanes_peak);
}

// The places of the paths that `votes` names, where they are as many as voted.
template <class Votes>
bool Mark(const StoredItem& item, Votes votes, std::vector<Voted>& voted) {
  int count = 0;
  for (size_t i = 0; i < item.paths.size(); ++i) {
    const bool yes = votes(item.paths[i]);
    voted[i] = yes ? Voted::kYes : Voted::kNo;
    count += yes ? 1 : 0;
  }
  return count == item.voting_paths;
}

bool MayVote(const StoredPath& path) {
  return path.kind == PathKind::kReasoning && path.status != PathStatus::kMerged && path.answer;
}

std::string AnswerLine(const AnswerOverview& answer) {
  return fmt::format("#{} {} repeat {}: {}, {}; {} voted, {} tokens", answer.run.id,
                     OneLine(answer.run.label), answer.item.key.repeat, Shown(answer.item.answer),
                     VerdictText(answer.item.grade), answer.item.voting_paths,
                     answer.item.ledger.effective());
}

}  // namespace

std::vector<Voted> WhoVoted(const StoredItem& item) {
  std::vector<Voted> voted(item.paths.size(), Voted::kUnknown);
  const auto ended = [](const StoredPath& path) { return CameToItsEnd(path.status); };
  const bool threshold = item.warmup && item.warmup->has_threshold;
  const auto above = [&](const StoredPath& path) {
    return !threshold || path.lowest_window >= item.warmup->threshold;
  };
  if (Mark(item, MayVote, voted)) {
    return voted;
  }
  if (Mark(
          item, [](const auto& path) { return MayVote(path) && !path.tentative; }, voted)) {
    return voted;
  }
  // Online DeepConf's set, and that of the step-wise methods.
  if (Mark(
          item, [&](const auto& p) { return MayVote(p) && ended(p) && above(p); }, voted)) {
    return voted;
  }
  if (Mark(
          item, [&](const auto& p) { return MayVote(p) && ended(p) && !p.warmup; }, voted)) {
    return voted;
  }
  for (size_t i = 0; i < voted.size(); ++i) {
    voted[i] = MayVote(item.paths[i]) ? Voted::kUnknown : Voted::kNo;
  }
  return voted;
}

std::string OverviewText(const StoredQuestion& question,
                         const std::vector<AnswerOverview>& answers) {
  std::string text = QuestionText(question) +
                     "\nanswers  row, repeat, answer, verdict, votes, "
                     "effective tokens\n";
  for (const AnswerOverview& answer : answers) {
    text += "  " + AnswerLine(answer) + "\n";
  }
  return text;
}

std::string ListLine(const StoredQuestion& question, const AnswerOverview& answer,
                     const std::vector<StoredVote>& others) {
  std::string text = OneLine(question.name) + "  " + AnswerLine(answer);
  if (!question.gold.empty()) {
    text += "; gold " + OneLine(question.gold);
  }
  std::map<std::string, std::vector<std::string>> rules;  // by what they chose
  for (const StoredVote& vote : others) {
    rules[*vote.answer].push_back(vote.rule);
  }
  for (const auto& [chosen, names] : rules) {
    text += fmt::format("; {} by {}", OneLine(chosen), fmt::join(names, ", "));
  }
  return text + "\n";
}

std::string InspectText(const StoredQuestion& question, const AnswerOverview& overview,
                        const StoredItem& item, bool texts) {
  std::string text = QuestionText(question);
  text += RowText(question, overview.run, item.key.repeat);
  const bool graded = overview.item.grade || !question.gold.empty();
  text += fmt::format("answer   {}{}\n", Shown(item.answer),
                      graded ? " (" + VerdictText(overview.item.grade) + ")" : "");
  if (item.status != ItemStatus::kDone) {
    text += fmt::format("{:<8} {}\n", NameOf(item.status), OneLine(item.reason));
  }
  text += WhyText(item) + CostText(item) + VotesText(item) + PathsText(item, texts) +
          DecisionsText(item);
  for (const std::string& notice : item.notices) {
    text += "\nnotice   " + OneLine(notice);
  }
  return text + (item.notices.empty() ? "" : "\n");
}

}  // namespace hyper::app
