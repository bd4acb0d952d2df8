#include "src/core/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

#include "src/core/random.h"
#include "src/core/signal.h"

namespace hyper {
namespace {

// The answers of a vote as an urn: what is drawn goes in once more.
class Urn {
 public:
  Urn(std::span<const Ballot> ballots, std::span<const std::string> answers, const UrnSpec& spec)
      : ballots_(ballots.begin(), ballots.end()),
        answers_(answers.begin(), answers.end()),
        given_(ballots.size()),
        spec_(spec) {
    groups_.resize(answers.size());
    for (size_t i = 0; i < ballots.size(); ++i) {
      if (ballots[i].group >= 0) {
        groups_[static_cast<size_t>(ballots[i].group)].push_back(i);
        voters_.push_back(i);
      }
    }
  }

  // The vote with `coming` further ballots, those of one draw.
  void Fill(int coming, uint32_t draw) {
    ballots_.resize(given_);
    answers_.resize(groups_.size());
    std::vector<double> weights;
    double total = spec_.new_answer;
    for (const std::vector<size_t>& group : groups_) {
      weights.push_back(group.empty() ? 0.0 : static_cast<double>(group.size()) + 1);
      total += weights.back();
    }
    for (int i = 0; i < coming; ++i) {
      const size_t group = Pick(weights, total * Draw(draw, 2 * i));
      if (group == weights.size()) {
        weights.push_back(0);
        answers_.push_back(fmt::format("new answer {}", group));
      }
      const std::vector<size_t>& like = group < groups_.size() ? groups_[group] : voters_;
      const auto at = static_cast<size_t>(Draw(draw, 2 * i + 1) * static_cast<double>(like.size()));
      Ballot ballot = ballots_[like[at]];
      ballot.group = static_cast<int>(group);
      ballots_.push_back(ballot);
      weights[group] += 1;
      total += 1;
    }
  }

  std::span<const Ballot> ballots() const { return ballots_; }
  std::span<const std::string> answers() const { return answers_; }

 private:
  double Draw(uint32_t draw, int number) const {
    return Uniform(spec_.key, spec_.step, Purpose::kStop, 0, draw, static_cast<uint32_t>(number));
  }

  // The group whose part of the urn `place` falls into; one past the last: a new answer.
  static size_t Pick(const std::vector<double>& weights, double place) {
    size_t group = 0;
    while (group < weights.size() && place >= weights[group]) {
      place -= weights[group++];
    }
    return group;
  }

  std::vector<Ballot> ballots_;  // those given, then those of the last draw
  std::vector<std::string> answers_;
  std::vector<std::vector<size_t>> groups_;  // ballots of each given answer
  std::vector<size_t> voters_;
  size_t given_;  // ballots
  UrnSpec spec_;
};

}  // namespace

bool IsStopPosterior(double posterior) { return posterior > 0.5 && posterior < 1; }

Result<StopRule> ParseStopRule(std::string_view text) {
  StopRule rule;
  if (text == "never" || text == "sure") {
    rule.kind = text == "sure" ? StopRule::Kind::kSure : StopRule::Kind::kNever;
    return rule;
  }
  rule.kind = StopRule::Kind::kPosterior;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, rule.posterior);
  if (error != std::errc() || stop != end || !IsStopPosterior(rule.posterior)) {
    return InvalidArgument(fmt::format(
        "stop '{}' is not a rule; use never, sure, or a probability above 0.5 and below 1", text));
  }
  return rule;
}

std::string StopRuleText(const StopRule& rule) {
  switch (rule.kind) {
    case StopRule::Kind::kNever:
      return "never";
    case StopRule::Kind::kSure:
      return "sure";
    case StopRule::Kind::kPosterior:
      break;
  }
  return fmt::format("{}", rule.posterior);
}

double LeaderPosterior(int64_t first, int64_t second) {
  const int64_t n = first + second + 1;
  const double log_all = static_cast<double>(n) * std::log(2.0);
  double log_ways = 0;  // log C(n, j)
  double other = 0;     // the binomial's other tail, which has the same sum
  for (int64_t j = 0; j <= second; ++j) {
    other += std::exp(log_ways - log_all);
    log_ways += std::log(static_cast<double>(n - j) / static_cast<double>(j + 1));
  }
  return 1 - other;
}

bool IsSureLead(double lead, int64_t coming, double most) {
  return lead > static_cast<double>(coming) * most;
}

std::optional<double> MostWeight(VoteRule rule, ConfidenceSignal signal) {
  switch (rule) {
    case VoteRule::kMajority:
      return 1.0;
    case VoteRule::kConfidence:
    case VoteRule::kDeepConf:
      return LargestSignal(signal);
    default:
      return std::nullopt;
  }
}

bool CanStop(VoteRule rule) { return rule != VoteRule::kBest; }

int NextWave(LaunchOrder launch, int opened, int width) {
  constexpr int kFirstWave = 8;
  switch (launch) {
    case LaunchOrder::kParallel:
      return width - opened;
    case LaunchOrder::kWaves:
      return std::min(opened > 0 ? opened : kFirstWave, width - opened);
    case LaunchOrder::kOne:
      break;
  }
  return std::min(1, width - opened);
}

double UrnPosterior(std::span<const Ballot> ballots, std::span<const std::string> answers,
                    VoteRule rule, const VoteOptions& options, int coming, const UrnSpec& urn) {
  const int winner = CountVotes(ballots, answers, rule, options).winner;
  if (winner < 0) {
    return 0;
  }
  Urn filled(ballots, answers, urn);
  const double needed = urn.at_least * urn.draws;
  int stays = 0;
  for (int draw = 0; draw < urn.draws && stays + urn.draws - draw >= needed; ++draw) {
    filled.Fill(coming, static_cast<uint32_t>(draw));
    stays += CountVotes(filled.ballots(), filled.answers(), rule, options).winner == winner ? 1 : 0;
  }
  return static_cast<double>(stays) / urn.draws;
}

}  // namespace hyper
