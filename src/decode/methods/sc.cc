#include "src/decode/methods/sc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include "hyper/equal.h"
#include "src/core/perplexity.h"
#include "src/core/signal.h"
#include "src/core/softmax.h"
#include "src/core/stopping.h"
#include "src/core/threshold.h"
#include "src/core/vote.h"

namespace hyper {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr char kProbeQuestion[] = "\nIs the answer above correct? Answer Yes or No: ";

void NoteNoProbe(Pool& pool, PathId path, const Error& error) {
  pool.Emit(NoticeRecord{"path " + std::to_string(path) +
                         " got no P(True), so that it has no weight: " + error.message});
}

double Sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

double PathScore(const Path& path, PathScorer scorer, int vocabulary, int window, MeanKind kind) {
  if (path.tokens.empty()) {
    return kUnknown;
  }
  const std::vector<double> confidences(path.confidences.begin(), path.confidences.end());
  switch (scorer) {
    case PathScorer::kSelfCertainty:
      // KL(uniform || P) = -mean log P - log V; a token without a full-vocabulary mean makes it
      // NaN.
      return -Sum(path.mean_logprobs) / path.length() - std::log(static_cast<double>(vocabulary));
    case PathScorer::kMean:
      return TraceConfidence(confidences, kind);
    case PathScorer::kTail:
      return TailConfidence(confidences, window, kind);
    case PathScorer::kBottom:
      return BottomWindowConfidence(confidences, window, kind);
    case PathScorer::kLowest:
      return LowestWindow(confidences, window, kind);
    case PathScorer::kPTrue:
      break;
  }
  return kUnknown;
}

Status SelfConsistency::Start(Pool& pool) { return OpenNext(pool, Next(pool)); }

void SelfConsistency::OnToken(Pool& pool, PathId path) { prober_.OnToken(pool, path); }

void SelfConsistency::OnShortage(Pool& pool) { prober_.Cancel(pool); }

void SelfConsistency::OnProbed(Pool& /*pool*/) {}

Status SelfConsistency::OnSettled(Pool& pool) {
  Result<Prober::Step> probes = prober_.OnSettled(pool);
  if (!probes || *probes == Prober::Step::kAsking) {
    return probes ? Status() : probes.error();
  }
  if (*probes == Prober::Step::kAnswered) {
    OnProbed(pool);
  }
  return pool.running().empty() ? OpenNext(pool, Next(pool)) : Proceed(pool);
}

Status SelfConsistency::OpenNext(Pool& pool, int count) {
  if (count == 0) {
    return {};
  }
  if (opened_ > 0) {
    pool.BeginPhase();
  }
  Status status = Open(pool, count);
  return status ? Proceed(pool) : status;
}

Status SelfConsistency::Open(Pool& pool, int count) {
  const auto first = static_cast<uint64_t>(opened_);
  opened_ += count;
  return OpenPaths(pool, first, count, /*warmup=*/false);
}

int SelfConsistency::Next(Pool& /*pool*/) {
  return NextWave(options_.launch, opened_, options_.width);
}

int SelfConsistency::Round(const Pool& pool) const {
  return std::min(options_.interval, prober_.Left(pool));
}

Status SelfConsistency::Proceed(Pool& pool) { return pool.GrantAll(Round(pool)); }

bool SelfConsistency::Done(const Pool& pool) const {
  return pool.running().empty() && opened_ >= options_.width;
}

std::optional<Outlook> SelfConsistency::Ahead(const Pool& /*pool*/) const {
  return Outlook{options_.width - opened_, /*complete=*/true};
}

int EqualWindows::Most() const {
  const int window = options().esc_window;
  const int whole = options().width / window * window;
  return whole > 0 ? whole : options().width;
}

bool EqualWindows::Agrees(const Pool& pool, int first) const {
  std::vector<std::string> answers;
  for (auto path = static_cast<size_t>(first); path < pool.paths().size(); ++path) {
    if (SelfConsistency::Votes(pool, pool.paths()[path])) {
      answers.push_back(pool.paths()[path].answer);
    }
  }
  const std::vector<int> groups = GroupAnswers(answers);
  return static_cast<int>(answers.size()) == options().esc_window &&
         std::all_of(groups.begin(), groups.end(), [](int group) { return group == 0; });
}

int EqualWindows::Next(Pool& pool) {
  const int window = std::min(options().esc_window, Most());
  if (opened() > 0 && Agrees(pool, opened() - window)) {
    agreed_ = opened() - window;
    pool.Emit(NoticeRecord{fmt::format("the answers of paths {} to {} are equal: no further paths",
                                       agreed_, opened() - 1)});
    return 0;
  }
  return opened() < Most() ? window : 0;
}

bool EqualWindows::Done(const Pool& pool) const {
  return pool.running().empty() && (agreed_ >= 0 || opened() >= Most());
}

bool EqualWindows::Votes(const Pool& pool, const Path& path) const {
  return SelfConsistency::Votes(pool, path) && (agreed_ < 0 || path.id >= agreed_);
}

Status CappedPaths::Proceed(Pool& pool) {
  const int left = options().length_cap - pool.position();
  if (left > 0) {
    return pool.GrantAll(std::min(left, Round(pool)));
  }
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    pool.Finish(id, PathStatus::kLength, fmt::format("length-cap {}", options().length_cap));
  }
  return {};
}

std::optional<Outlook> ScoredPaths::Ahead(const Pool& pool) const {
  if (options().scorer == PathScorer::kPTrue) {
    return std::nullopt;  // the probes come last
  }
  return SelfConsistency::Ahead(pool);
}

double ScoredPaths::Weight(const Pool& pool, const Path& path) const {
  if (options().scorer == PathScorer::kPTrue) {
    const auto at = p_true_.find(path.id);
    return at != p_true_.end() ? at->second : kUnknown;
  }
  return PathScore(path, options().scorer, pool.model().vocab_size, options().window,
                   MeanOf(options().confidence));
}

bool ScoredPaths::Done(const Pool& pool) const {
  return SelfConsistency::Done(pool) &&
         (options().scorer != PathScorer::kPTrue || probed_ == pool.paths().size());
}

Status ScoredPaths::OnSettled(Pool& pool) {
  return SelfConsistency::Done(pool) ? Probe(pool) : SelfConsistency::OnSettled(pool);
}

bool ScoredPaths::HasWeights() const {
  return options().scorer != PathScorer::kPTrue ||
         std::any_of(p_true_.begin(), p_true_.end(),
                     [](const auto& answer) { return std::isfinite(answer.second); });
}

std::string ScoredPaths::VoteRule(const Pool& pool) const {
  const std::string rule = SelfConsistency::VoteRule(pool);
  const bool weighs = std::any_of(kWeightRules.begin(), kWeightRules.end(),
                                  [&rule](hyper::VoteRule known) { return NameOf(known) == rule; });
  return weighs && !HasWeights() ? NameOf(hyper::VoteRule::kMajority) : rule;
}

// Asks of each path that answered, one after another, whether it is correct: p(Yes) against p(No).
Status ScoredPaths::Probe(Pool& pool) {
  while (probed_ < pool.paths().size() && pool.settled()) {
    const Path& path = pool.paths()[probed_++];
    if (path.kind != PathKind::kReasoning || path.answer.empty()) {
      continue;
    }
    Result<std::vector<Token>> question = pool.engine().Tokenize(kProbeQuestion, false);
    Result<std::vector<Token>> yes = pool.engine().Tokenize("Yes", false);
    Result<std::vector<Token>> no = pool.engine().Tokenize("No", false);
    if (!question || !yes || !no) {
      return Error{ErrorCode::kInternal, "the tokenizer cannot read the P(True) question"};
    }
    std::vector<Token> prompt = pool.prompt().tokens;
    for (const Token token : path.tokens) {
      if (!pool.engine().IsEndOfGeneration(token)) {
        prompt.push_back(token);
      }
    }
    prompt.insert(prompt.end(), question->begin(), question->end());
    const PathId asked = path.id;
    Result<PathId> judge = pool.OpenJudge(prompt, static_cast<uint64_t>(asked));
    if (!judge) {
      NoteNoProbe(pool, asked, judge.error());
      continue;
    }
    const std::vector<std::vector<Token>> replies = {*yes, *no};
    Result<uint64_t> request = pool.Score(*judge, replies);
    if (!request && request.error().code == ErrorCode::kUnsupported) {
      return request.error();
    }
    if (!request) {
      pool.Finish(*judge, PathStatus::kFailed, request.error().message);
      NoteNoProbe(pool, asked, request.error());
      continue;
    }
    asked_[*judge] = asked;
  }
  const bool votes = std::any_of(pool.paths().begin(), pool.paths().end(),
                                 [&](const Path& path) { return Votes(pool, path); });
  if (pool.settled() && votes && VoteRule(pool) != SelfConsistency::VoteRule(pool)) {
    pool.Emit(NoticeRecord{"no path got a P(True): the vote is by " + VoteRule(pool)});
  }
  return {};
}

void ScoredPaths::OnScored(Pool& pool, PathId path, uint64_t /*request*/,
                           const std::vector<std::vector<float>>& scores) {
  p_true_[asked_[path]] = ShareOfFirst(Sum(scores[0]), Sum(scores[1]));
  pool.Finish(path, PathStatus::kFinished, "P(True) probe answered");
}

bool OfflineDeepConf::Votes(const Pool& pool, const Path& path) const {
  if (!SelfConsistency::Votes(pool, path)) {
    return false;
  }
  const size_t ended = pool.paths().size() - pool.running().size();
  if (ended_ != ended) {
    std::vector<const Path*> paths;
    std::vector<double> scores;
    for (const Path& other : pool.paths()) {
      const double score = SelfConsistency::Votes(pool, other) ? Weight(pool, other) : kUnknown;
      if (std::isfinite(score)) {
        paths.push_back(&other);
        scores.push_back(score);
      }
    }
    const std::vector<bool> chosen = Chosen(paths, scores);
    votes_.assign(pool.paths().size(), false);
    for (size_t i = 0; i < paths.size(); ++i) {
      votes_[static_cast<size_t>(paths[i]->id)] = chosen[i];
    }
    ended_ = ended;
  }
  return votes_[static_cast<size_t>(path.id)];
}

std::optional<Outlook> OfflineDeepConf::Ahead(const Pool& pool) const {
  return options().keep_percent < 100 ? std::nullopt : ScoredPaths::Ahead(pool);
}

std::vector<bool> OfflineDeepConf::Chosen(const std::vector<const Path*>& /*paths*/,
                                          const std::vector<double>& scores) const {
  ThresholdRule rule;
  rule.kind = ThresholdRule::Kind::kPercentile;
  rule.percentile = 100.0 - options().keep_percent;
  const std::optional<double> threshold = ComputeThreshold(rule, scores);
  std::vector<bool> chosen(scores.size());
  std::transform(scores.begin(), scores.end(), chosen.begin(),
                 [&](double score) { return score >= threshold; });
  return chosen;
}

std::vector<bool> PerplexityConsistency::Chosen(const std::vector<const Path*>& paths,
                                                const std::vector<double>& scores) const {
  std::vector<bool> chosen = KeptByMixture(scores);
  std::set<std::string_view> texts;
  for (size_t i = 0; i < paths.size(); ++i) {
    chosen[i] = texts.insert(paths[i]->text).second && chosen[i];
  }
  return chosen;
}

}  // namespace hyper
