#!/usr/bin/env python3
"""Checks that the tests of src/core and src/decode notice when a line of logic is changed.

Each mutation replaces one piece of one source file (a wrong sign, a wrong k, a lost term); the tests
of its part must then fail. Works on a copy in a temporary folder and compiles without optimisation.
  tests/goldens/mutate.py [--share S] [--seed N] [--part core|decode] [--file NAME] VENDOR_DIR
    VENDOR_DIR  the folder that holds nlohmann/json.hpp
    --share     try this share of the mutations, drawn at random [1]
    --seed      of the draw [the day, so that a week of runs tries most of them]
    --file      only mutations of files with NAME in their path
Prints a line per mutation. The exit status is the number of those that no test noticed, that made the
tests crash or that do not compile: then no test said what is wrong.
"""
import argparse
import datetime
import math
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# None that changes no result: the sum log_sums[k] shifts all logits of a route alike, which the
# normalisation undoes; kLanes is a matter of speed.
CORE = [
    # file, original, mutant
    ("softmax.h", "- largest) / temperature", "- largest) * temperature"),
    ("softmax.h", "(static_cast<double>(values[i]) - largest)", "(largest - static_cast<double>(values[i]))"),
    ("softmax.h", "static_cast<Value>(weight / total)", "weight"),
    ("softmax.h", "first / (first + std::exp(second_logprob - larger))", "first"),
    ("quantile.cc", "q * static_cast<double>(sorted.size() - 1)", "q * static_cast<double>(sorted.size())"),
    ("aggregate.cc", "value - summary.log_sum_exp", "value"),
    ("aggregate.cc", "options.k + 1", "options.k"),
    ("confidence.cc", "return used == 0 ? kNan : -sum / used;", "return used == 0 ? kNan : sum / used;"),
    ("confidence.cc", "return used == 0 ? kNan : -sum / used;", "return used == 0 ? kNan : -sum / k;"),
    ("confidence.cc", "if (used >= k) {", "if (used > k) {"),
    ("confidence.cc", "candidate.token == chosen", "candidate.token != chosen"),
    ("confidence.cc", "entropy -= entry.probability", "entropy += entry.probability"),
    ("confidence.cc", "entry.probability /= total", "entry.probability /= 1"),
    ("confidence.cc", "recent_.size() > window_", "recent_.size() >= window_"),
    ("confidence.cc", "std::min(lowest_window_sum_, window_sum_)", "std::max(lowest_window_sum_, window_sum_)"),
    ("confidence.cc", "std::floor(fraction *", "std::ceil(fraction *"),
    ("confidence.h", "kLogProbFloor = -60.0", "kLogProbFloor = -50.0"),
    ("confidence.h", "double fraction = 0.1", "double fraction = 0.2"),
    ("confidence.cc", "std::exp(mean) : mean", "mean : mean"),
    ("confidence.cc", "geometric ? std::log(clipped) : clipped", "clipped"),
    ("confidence.cc", "geometric ? std::exp(kLogProbFloor) : 0.0", "0.0"),
    ("signal.cc", "kLogProbFloor, 0.0)", "kLogProbFloor, 1.0)"),
    ("signal.cc", "std::exp(Floored(logprob) + entropy)", "std::exp(Floored(logprob) - entropy)"),
    ("signal.cc", "std::exp(-entropy)", "std::exp(entropy)"),
    ("signal.cc", "return -Floored(mean_logprob)", "return Floored(mean_logprob)"),
    ("signal.cc", "return InversePerplexity(token.entropy)", "return Typicality(token.logprob, token.entropy)"),
    ("signal.cc", "signal == ConfidenceSignal::kSurprise", "false"),
    ("controller.cc", "(c + (1 - h) + d) / 3", "(c + h + d) / 3"),
    ("controller.cc", "(c + (1 - h) + d) / 3", "(c + (1 - h) - d) / 3"),
    ("controller.cc", "((1 - c) + h + (1 - beta)) / 3", "((1 - c) + h + beta) / 3"),
    ("controller.cc", "((1 - c) + h + (1 - beta)) / 3", "((1 - c) - h + (1 - beta)) / 3"),
    ("controller.cc", "((1 - d) + (1 - c) + v) / 3", "((1 - d) + (1 - c) - v) / 3"),
    ("controller.cc", "((1 - d) + (1 - c) + v) / 3", "((1 - d) + (1 - c) + v) / 2"),
    ("controller.cc", "((1 - d) + (1 - beta)) / 2", "(d + (1 - beta)) / 2"),
    ("controller.cc", "((1 - d) + (1 - beta)) / 2", "((1 - d) + (1 - beta)) / 3"),
    ("controller.cc", "scores[i] > scores[", "scores[i] >= scores["),
    ("controller.cc", "std::min(ratio, 1.0)", "ratio"),
    ("controller.cc", "seen.value <= maximum.value", "seen.value < maximum.value"),
    ("controller.cc", "return (width - 1) / survivors + 1", "return width / survivors"),
    ("levenshtein.cc", "int carry = 1;", "int carry = 0;"),
    ("levenshtein.cc", "equal |= carry_minus;", ""),
    ("levenshtein.cc", "plus << 1 | carry_plus", "plus << 1"),
    ("levenshtein.cc", "minus << 1 | carry_minus", "minus << 1"),
    ("logits.cc", "exponentials *= std::exp(static_cast<double>(max) - peak.max);", ""),
    ("logits.cc", "(n_vocab - unmasked) * kLogProbFloor", "0"),
    ("logits.cc", "a.logprob > b.logprob", "a.logprob >= b.logprob"),
    ("logits.cc", "has_nan = has_nan || peak.has_nan;", ""),
    ("logits.cc", "static_cast<double>(max) * sums.unmasked", "0"),
    ("pool_stats.cc", "0.5 * (p_value + q_value)", "(p_value + q_value)"),
    ("pool_stats.cc", "0.5 * DivergenceTerm(q_value, mixture)", "0.5 * DivergenceTerm(p_value, mixture)"),
    ("pool_stats.cc", "probability * std::log(probability / mixture)", "probability * std::log2(probability / mixture)"),
    ("pool_stats.cc", "return 2 * sum /", "return sum /"),
    ("pool_stats.cc", "std::max(paths[p].suffix.size()", "std::min(paths[p].suffix.size()"),
    ("pool_stats.cc", "(1 - eta) * statistics", "eta * statistics"),
    ("pool_stats.cc", "DistributionDiversity(paths, k)", "DistributionDiversity(paths, k + 1)"),
    ("pool_stats.cc", "(path.confidence - mean) * (path.confidence - mean)", "(path.confidence - mean)"),
    ("random.cc", "round < 10", "round < 9"),
    ("random.cc", "0x9E3779B9", "0x9E3779B8"),
    ("random.cc", "| a << 8", ""),
    ("random.cc", ") + 0.5) * 0x1p-52", ")) * 0x1p-52"),
    ("random.cc", "-std::log(-std::log(uniform))", "std::log(-std::log(uniform))"),
    ("random.cc", "{position, SecondWord(Purpose::kRoute, layer), route,", "{position, SecondWord(Purpose::kRoute, layer), 1,"),
    ("random.cc", "{decision_step, SecondWord(Purpose::kChild, 0), child, 0}", "{decision_step, SecondWord(Purpose::kChild, 0), 0, 0}"),
    ("repetition.cc", "bytes >= kLeastPeriods * period", "bytes > kLeastPeriods * period"),
    ("repetition.cc", "kLeastCounted = 32", "kLeastCounted = 31"),
    ("repetition.cc", "kLeastShortBytes = 400", "kLeastShortBytes = 401"),
    ("repetition.cc", "bytes >= kLeastShortPeriods * period", "bytes > kLeastShortPeriods * period"),
    ("repetition.cc", "std::any_of(last.begin(), last.end(), IsLetter)", "true"),
    ("repetition.cc", "value - before != before -", "value - before == before -"),
    ("repetition.cc", "kPhraseSeen = 3", "kPhraseSeen = 2"),
    ("routing.cc", "row[e] -= lambda *", "row[e] += lambda *"),
    ("routing.cc", "std::tanh(score_sum_[e])", "score_sum_[e]"),
    ("routing.cc", "noisy[e] += tau * noise[e]", "noisy[e] += noise[e]"),
    ("routing.cc", "noisy[e] += tau * noise[e]", "noisy[e] -= tau * noise[e]"),
    ("routing.cc", "  AddScores(noisy);", "  AddScores(penalised);"),
    ("routing.cc", "softmax ? probabilities[e] : noisy[e]", "noisy[e]"),
    ("routing.cc", "value > Orderable(", "value >= Orderable("),
    ("routing.cc", "score_sum_[e] < 0", "score_sum_[e] > 0"),
    ("sampling.cc", "a.logit > b.logit : a.token < b.token", "a.logit > b.logit : a.token > b.token"),
    ("sampling.cc", "std::min(1 / temperature, 1e30)", "std::min(temperature, 1e30)"),
    ("sampling.cc", "sum >= mass", "sum > 1.05 * mass"),
    ("sampling.cc", "each.weight < spec.min_p", "each.weight < 2 * spec.min_p"),
    ("sampling.cc", "spec.top_p * sum", "spec.top_p * sum * 0.9"),
    ("sampling.cc", "if (sum + block > target) {", "if (sum > target) {"),
    ("momentum.cc", "(1 - weight) * mean + weight * confidence", "weight * mean + (1 - weight) * confidence"),
    ("momentum.cc", "0.70 - 0.40 * beta", "0.70 + 0.40 * beta"),
    ("momentum.cc", "state.recent.back() = state.mean;", ""),
    ("momentum.cc", "finished >= rules.least_finished", "finished > rules.least_finished"),
    ("momentum.cc", "risen >= -rules.slack", "true"),
    ("momentum.cc", "risen <= rules.trend", "true"),
    ("momentum.cc", "round >= rules.warmup &&", "round > rules.warmup &&"),
    ("switching.cc", "same ? streak + 1 : 1", "same ? streak + 1 : 0"),
    ("switching.cc", "changes + (same ? 0 : 1)", "changes + (same ? 1 : 0)"),
    ("switching.cc", "confidence - last_confidence", "last_confidence - confidence"),
    ("switching.cc", "? 2 * gamma", "? gamma"),
    ("switching.cc", "? -1.0", "? 1.0"),
    ("switching.cc", "lead > HostileGain", "lead >= HostileGain"),
    ("switching.cc", "kPenalty = 0.01", "kPenalty = 1"),
    ("switching.cc", "0.1 * (tenths - 1)", "0.1 * tenths"),
    ("switching.cc", "model.scale * LogOddsOf(LogisticOf(x)) + model.shift", "LogOddsOf(LogisticOf(x)) - model.shift + 1"),
    ("action_values.cc", "gain / value.cost > most", "gain > most"),
    ("action_values.cc", "numbers[0] <= 0", "numbers[0] < 0"),
    ("action_values.cc", "*action == Action::kNone || ", ""),
    ("parallel_probe.cc", "votes > most", "votes >= most"),
    ("parallel_probe.cc", "if (pruned[i] || branches", "if (branches"),
    ("parallel_probe.cc", "!pruned[j] && ", ""),
    ("parallel_probe.cc", "state.steps++ >= rules.warmup", "state.steps++ > rules.warmup"),
    ("parallel_probe.cc", "branch.running && ", ""),
    ("parallel_probe.cc", "branch.answer >= 0 && branch.answer != winner", "branch.answer != winner"),
    ("parallel_probe.cc", "differs ? state.apart[i] + 1 : 0", "differs ? state.apart[i] + 1 : state.apart[i]"),
    ("parallel_probe.cc", "winner >= 0 && winner == before", "winner == before"),
    ("parallel_probe.cc", "state.stable >= rules.stable", "state.stable > rules.stable"),
    ("perplexity.cc", "(large ? above : below) = shape", "(large ? below : above) = shape"),
    ("perplexity.cc", ", 1 / shape)};", ", shape)};"),
    ("perplexity.cc", "kMostShare = 0.8", "kMostShare = 0.99"),
    ("perplexity.cc", "kLeastShare = 0.2", "kLeastShare = 0.01"),
    ("perplexity.cc", "(weibull.shape - 1) * log_ratio", "weibull.shape * log_ratio"),
    ("perplexity.cc", "value < split ? 0.99 : 0.01", "value < split ? 0.5 : 0.5"),
    ("perplexity.cc", "mixture.high.scale *= largest;", ""),
    ("perplexity.cc", "values[i] >= mean || ", ""),
    ("perplexity.cc", " || !(LogOdds(mixture, values[i]) > 0)", ""),
    ("perplexity.h", "kMixtureValues = 16", "kMixtureValues = 17"),
    ("stopping.cc", "j <= second", "j < second"),
    ("stopping.cc", "lead > static_cast<double>(coming) * most", "lead >= static_cast<double>(coming) * most"),
    ("stopping.cc", "static_cast<double>(group.size()) + 1", "static_cast<double>(group.size())"),
    ("stopping.cc", "      weights[group] += 1;\n", ""),
    ("stopping.cc", "stays + urn.draws - draw >= needed", "true"),
    ("stopping.cc", "opened > 0 ? opened : kFirstWave", "kFirstWave"),
    ("threshold.cc", "window.full() && ", ""),
    ("threshold.cc", "window.WindowMean() < threshold", "window.WindowMean() <= threshold"),
    ("threshold.cc", "window.WindowMean() < threshold", "window.TraceMean() < threshold"),
    ("threshold.cc", "sorted[sorted.size() - kept]", "sorted[kept - 1]"),
    ("threshold.cc", "needed * usable / plan.paths", "needed"),
    ("threshold.cc", "kPercentileShare = 0.75", "kPercentileShare = 0.7"),
    ("threshold.cc", "std::clamp(rule.percentile, 0.0, 100.0) / 100", "std::clamp(rule.percentile, 0.0, 50.0) / 100"),
    ("vote.cc", "options_.lambda_length * Ratio(ballot.length, length_sum_)", "options_.lambda_confidence * Ratio(ballot.length, length_sum_)"),
    ("vote.cc", "Ratio(ballot.confidence, largest_confidence_)", "Ratio(ballot.confidence, length_sum_)"),
    ("vote.cc", "std::exp(LinearWeight(ballot))", "1 + LinearWeight(ballot)"),
    ("vote.cc", "score.paths >= counts[wanted - 1]", "score.paths > counts[wanted - 1]"),
    ("vote.cc", "counts[wanted - 1]", "counts[wanted]"),
    ("vote.cc", "return ballot.lowest_window;", "return ballot.confidence;"),
    ("vote.cc", "largest_confidence_) / options_.temperature", "largest_confidence_) * options_.temperature"),
    ("vote.cc", "ballot.confidence - largest_confidence_", "largest_confidence_ - ballot.confidence"),
    ("vote.cc", "confidence > kMaxConfidence ? largest_sound : 0.0", "confidence > kMaxConfidence ? kMaxConfidence : 0.0"),
    ("vote.cc", "a.paths > b.paths", "a.paths < b.paths"),
    ("vote.cc", "a.confidence_sum > b.confidence_sum", "a.confidence_sum < b.confidence_sum"),
    ("vote.cc", "votes > total - votes", "votes >= total - votes"),
    ("vote.cc", "std::sort(values.begin(), values.end());", ""),
]

DECODE = [
    ("ask.cc", "if (found.cut_box) {", "if (false) {"),
    ("admission.cc", "constexpr int64_t kPart = 4;", "constexpr int64_t kPart = 2;"),
    ("admission.cc", "} else if (!parked) {", "} else {"),
    ("admission.cc", "now.reserved.cells + more.cells, can.cells_total", "now.reserved.cells, can.cells_total"),
    ("admission.cc", "kept.lanes - now.reserved.lanes", "kept.lanes"),
    ("admission.cc", "std::max(kept.cells, now.reserved_held)", "kept.cells"),
    ("admission.cc", "now.reserved.lanes + more.lanes <= kept.lanes", "true"),
    ("ask.cc", "most.lanes > 0 ? most.lanes : LaneLimit(options)", "LaneLimit(options)"),
    ("ask.cc", "std::min(most.cells, cells)", "most.cells"),
    ("ask.cc", "  if (status) {\n    status = CheckAbilities", "  if (status && method == nullptr) {\n    status = CheckAbilities"),
    ("ask.cc", "plan.path_tokens + plan.path_tokens / 5", "plan.path_tokens"),
    ("auto_choice.cc", "kTimeShare * request.time_s", "request.time_s"),
    ("auto_choice.cc", "tokens / (wanted / 2)", "tokens / wanted"),
    ("auto_choice.cc", "std::lround(share * calibrated)", "std::lround(calibrated)"),
    ("auto_choice.cc", 'option.name != "width" && option.name != "warmup"', "true"),
    ("ask.cc", "if (!Given(request.options, option.name)) {", "if (true) {"),
    ("auto_choice.cc", "model.context_train_tokens / 2", "model.context_train_tokens"),
    ("ballot.cc", "voter.path->mean_confidence, voter.path->lowest_window", "voter.path->lowest_window, voter.path->mean_confidence"),
    ("ballot.cc", "-a.second, a.first.size()", "a.second, a.first.size()"),
    ("cell_account.cc", "own_cells_ += count;", ""),
    ("cell_account.cc", "std::min(held.inherited, held.tokens)", "held.inherited"),
    ("cell_account.cc", "own_cells_ -= std::max(Of(path).judge_prompt, 0);", ""),
    ("driver.cc", "moved |= event.kind != EventKind::kStalled;", "moved = true;"),
    ("driver.cc", "bool behind = std::any_of(running_.begin(),", "bool behind = std::any_of(running_.end(),"),
    ("driver.cc", "KeepsWithin(kept_, now, more, can)", "true"),
    ("driver.cc", "(!moved || entry.how == Admission::kReserved)", "!moved"),
    ("driver.cc", "pressed && active > 1 ? youngest", "pressed ? youngest"),
    ("driver.cc", "React(moved || victim != nullptr);", "React(moved);"),
    ("driver.cc", "(others_give && entry.how == Admission::kReserved)", "false"),
    ("driver.cc", "ends_ > entry.parked_at &&", ""),
    ("driver.cc", "if (!alone && !fits) {", "if (!fits) {"),
    ("driver.cc", "const bool alone = std::all_of(running_.begin(),", "const bool alone = std::any_of(running_.end(),"),
    ("driver.cc", "entry.session->Start(++starts_);", "entry.session->Start(1);"),
    ("session.cc", "pool_->path(id).scores_due > 0;", "false;"),
    ("session.cc", "return;  // the forward was for others", ""),
    ("session_pool.cc", "spec.owner = owner_;", ""),
    ("session_pool.cc", "kind == PathKind::kReasoning && config_.prompt.form", "config_.prompt.form"),
    ("session_pool.cc", "SpecFor(path.key, PathKind::kJudge)", "SpecFor(path.key, path.kind)"),
    ("path_forks.cc", "SpecFor(key, kind)", "SpecFor(key, PathKind::kReasoning)"),
    ("session_pool.cc", "  if (!parked_) {\n    if (Status status = engine_.Grant", "  if (true) {\n    if (Status status = engine_.Grant"),
    ("shortage.cc", "    (void)engine_.Revoke(path(id).lane);\n", ""),
    ("shortage.cc", "    (void)engine_.Evict(path(id).lane);\n", ""),
    ("loop_guard.cc", "path.length() % kRepetitionInterval != 0", "false"),
    ("methods/deepconf.cc", "options_.consensus <= 0", "options_.consensus < 0"),
    ("methods/deepconf.cc", "share >= options_.consensus", "share <= options_.consensus"),
    ("methods/deepconf.cc", ".at(\"deepconf\")", ".at(\"majority\")"),
    ("methods/deepconf.cc", "path.lowest_window >= *pool", "path.mean_confidence >= *pool"),
    ("methods/deepconf.cc", "path.lowest_window >= *pool", "path.lowest_window < *pool"),
    ("methods/deepconf.cc", "|| all_vote_) {", "|| false) {"),
    ("methods/deepconf.cc", "  if (Consensus(pool)) {\n    pool.Emit", "  if (false) {\n    pool.Emit"),
    ("methods/deepconf.cc", "PathStatus::kFinished && Consensus(pool)", "PathStatus::kFinished && false"),
    ("methods/schedules.cc", "0.5 * MedianLength", "MedianLength"),
    ("methods/schedules.cc", "early ? Action::kMultiToken : Action::kSingleToken", "early ? Action::kSingleToken : Action::kMultiToken"),
    ("methods/schedules.cc", "decision.allowed.Has(action) ? action : Action::kNone", "action"),
    ("methods/grants.cc", "pool.FreeCells() < static_cast<int64_t>(writers.size())", "false"),
    ("methods/grants.cc", "pool.LeastConfident(writers)", "writers.front()"),
    ("methods/rebase.cc", "      --budget_;\n", ""),
    ("methods/rebase.cc", "tree.balance_temperature : 0.1", "tree.balance_temperature : 0.2"),
    ("methods/rebase.cc", "ShareRounding::kCeil : ShareRounding::kRound", "ShareRounding::kRound : ShareRounding::kCeil"),
    ("methods/rebase.cc", "} else if (AtDepthLimit(step)) {", "} else if (false) {"),
    ("methods/ets.cc", "kTemperature = 0.2", "kTemperature = 0.1"),
    ("methods/ets.cc", "static_cast<double>(share) / budget", "static_cast<double>(share)"),
    ("methods/ets.cc", "program.cost_weight = tree.cost_weight;", ""),
    ("methods/ets.cc", "options().tree.coverage_weight <= 0 || alike", "true"),
    ("methods/ets.cc", "RebaseShares(kept_values, budget", "RebaseShares(kept_values, budget + 1"),
    ("methods/mcts.cc", "kBranches = 3", "kBranches = 4"),
    ("methods/mcts.cc", "rollout_best_ = node(step).ended ? node(step).value : 0.0", "rollout_best_ = 0.0"),
    ("methods/mcts.cc", "std::max(rollout_best_, node(step).value)", "node(step).value"),
    ("methods/mcts.cc", "  ++child.visits;\n", ""),
    ("methods/mcts.cc", "value >= tree_[static_cast<size_t>(best)]", "value > tree_[static_cast<size_t>(best)]"),
    ("methods/mcts.cc", "rollouts_.count(path.id) == 0", "true"),
    ("methods/mcts.cc", "    if (!texts.insert(StepText(pool, step)).second) {", "    if (false) {"),
    ("methods/mcts.cc", "++rollout_length_ == options().tree.rollout_steps", "rollout_length_++ == options().tree.rollout_steps"),
    ("methods/tot.cc", "kBranches = 5", "kBranches = 4"),
    ("methods/tot.cc", "kKept = 5", "kKept = 4"),
    ("methods/tot.cc", "node(a).value > node(b).value; });\n  const auto kept", "node(a).value < node(b).value; });\n  const auto kept"),
    ("methods/tot.cc", "node(a).value > node(b).value; });\n  beam_", "node(a).value < node(b).value; });\n  beam_"),
    ("methods/tot.cc", "states.rbegin(), states.rend()", "states.begin(), states.end()"),
    ("methods/tot.cc", "node(step).value > options().tree.prune_value", "node(step).value >= options().tree.prune_value"),
    ("methods/tot.cc", "found_.count(path.id) > 0", "true"),
    ("methods/tot.cc", "InDepth() ? \"best\"", "false ? \"best\""),
    ("methods/tot.cc", "expansions_ == limit", "expansions_ == limit + 1"),
    ("methods/step_boundary.cc", "written + 1)", "size_t{0})"),
    ("methods/step_boundary.cc", "tokens_ >= limit_", "tokens_ > limit_"),
    ("methods/step_boundary.cc", "std::max(before - overlap, written + 1)", "std::max(before, written + 1)"),
    ("methods/step_tree.cc", "return Method::Votes(pool, path) && !path.warmup && CameToItsEnd(path.status);", "return Method::Votes(pool, path) && CameToItsEnd(path.status);"),
    ("methods/step_tree.cc", "if (std::isnan(step.value)) {", "if (false) {"),
    ("methods/step_tree.cc", "node(index).depth >= options_.tree.steps", "node(index).depth > options_.tree.steps"),
    ("methods/step_tree.cc", "const int child = ++forks_[path];", "const int child = 1;"),
    ("methods/step_reward.cc", "Quantile(sample, 0.05)", "Quantile(sample, 0.0)"),
    ("methods/step_reward.cc", "Quantile(sample, 0.95)", "Quantile(sample, 1.0)"),
    ("methods/step_reward.cc", "scores[0].back(), scores[1].back()", "scores[1].back(), scores[0].back()"),
    ("methods/judge_reward.cc", "value <= 1 ?", "true ?"),
    ("methods/judge_reward.cc", "value = worth / 20;", "value = worth;"),
    ("methods/judge_reward.cc", "(scale == JudgeScale::kWords ? 3 : 1)", "1"),
    ("methods/process_reward.cc", "event.scores[0].front(), event.scores[1].front()", "event.scores[1].front(), event.scores[0].front()"),
    ("methods/threadweaver.cc", "kMaxStates = 32", "kMaxStates = 33"),
    ("methods/threadweaver.cc", "trajectory.saved += all - longest;", "trajectory.saved += all;"),
    ("methods/threadweaver.cc", "return one.trunk == path.id;", "return true;"),
    ("methods/threadweaver.cc", "    trajectory.activated = true;\n", ""),
    ("methods/threadweaver.cc", "std::find(numbers.begin(), numbers.end(), number) == numbers.end()", "true"),
    ("methods/threadweaver.cc", "path.fork_position + thread.header_tokens", "path.fork_position"),
    ("methods/traits.cc", "method.starts_with(\"hyper\")", "true"),
    ("methods/traits.cc", "stem != \"tot\"", "true"),
    ("methods/traits.cc", "stem != \"mcts\"", "true"),
    ("methods/traits.cc", "method != \"multi-token-only\" &&", ""),
    ("methods/traits.cc", "options.width > 1", "true"),
    ("methods/traits.cc", "!method.starts_with(\"deepconf-offline\")", "true"),
    ("methods/traits.cc", "stem == \"esc\" ||", ""),
    ("methods/own_methods.cc", "FindOwnMethod(spec.name) == nullptr && FindMethod(spec.name)", "false"),
    ("methods/own_methods.cc", "FindOwnMethod(spec.base) != nullptr ||", ""),
    ("methods/own_methods.cc", "!IsSpecName(spec.name)", "false"),
    ("methods/registry.cc", "status && named->own != nullptr", "false"),
    ("methods/traits.cc", "    return own->traits;\n", "    return MethodTraits();\n"),
    ("methods/registry.cc", "threshold=percentile:90 confidence=topk", "threshold=percentile:10 confidence=topk"),
    ("methods/registry.cc", "\"threshold=percentile:10\"", "\"threshold=percentile:90\""),
    ("methods/registry.cc", "\"keep-percent=100\"", "\"keep-percent=10\""),
    ("methods/registry.cc", "lowest window vote\", \"scorer=lowest\"", "lowest window vote\", \"scorer=bottom\""),
    ("methods/registry.cc", "\"stop=0.95 launch=one\"", "\"stop=0.95\""),
    ("methods/registry.cc", "actions=none,multi_token,branch", "actions=none,single_token,branch"),
    ("methods/registry.cc", "\"scorer=mean confidence=topk confidence-count=20\"", "\"scorer=mean\""),
    ("methods/registry.cc", "rollouts (ReST-MCTS*)\", \"vote=best\"", "rollouts (ReST-MCTS*)\", \"vote=majority\""),
    ("methods/registry.cc", "vote=majority vote-tentative=false", "vote=majority"),
    ("methods/registry.cc", "skip-first-layers=1", "skip-first-layers=0"),
    ("methods/expansion.cc", "Sureness(pool.path(a)) > Sureness(pool.path(b))", "Sureness(pool.path(a)) < Sureness(pool.path(b))"),
    ("methods/expansion.cc", "path.confidences.begin() + start, path", "path.confidences.begin(), path"),
    ("methods/expansion.cc", "decision.expansion <= 1", "decision.expansion < 1"),
    ("methods/expansion.cc", "Refine(pool, decision) : PlainRouting(pool)", "Refine(pool, decision) : Status()"),
    ("methods/expansion.cc", "std::min(pool.FreeLanes(tokens), most_paths - decision.paths_before)", "pool.FreeLanes(tokens)"),
    ("methods/expansion.cc", "  std::reverse(ids.begin(), ids.end());\n", ""),
    ("methods/expansion.cc", "pool.FreeCells() - int64_t{decision.paths_before} * options_.interval", "pool.FreeCells()"),
    ("methods/expansion.cc", "decision.lanes_after > decision.paths_before", "decision.action != Action::kNone"),
    ("methods/expansion.cc", "std::min<double>(usual_length_, options_.max_tokens)", "options_.max_tokens"),
    ("methods/expansion.cc", "pool.path(id).length() < cost", "pool.path(id).length() <= cost"),
    ("methods/expansion.cc", "child < decision.expansion", "child <= decision.expansion"),
    ("methods/expansion.cc", "max() : HorizonTokens(options_)", "max() : options_.interval"),
    ("methods/expansion.cc", "path.running() || CameToItsEnd(path.status);", "path.running() || CameToItsEnd(path.status) || path.status == PathStatus::kPruned;"),
    ("methods/expansion.cc", "confidence > best_confidence", "confidence < best_confidence"),
    ("methods/expansion.cc", "      pool.Discard(id, reason, best);\n", ""),
    ("methods/hyper.cc", "pool.GrantAll(1)", "pool.GrantAll(2)"),
    ("methods/hyper.cc", "tokens_to_decision_ == 0 && ", ""),
    ("methods/hyper.cc", "tokens_to_decision_ = options_.interval", "tokens_to_decision_ = options_.interval + 1"),
    ("methods/hyper.cc", "  expansion_.Merge(pool);  ", "  "),
    ("methods/hyper.cc", "ExpansionFactor(wave_, decision.paths_before)", "ExpansionFactor(wave_, decision.paths_before + 1)"),
    ("methods/hyper.cc", "ExpansionFactor(wave_, decision.paths_before)", "ExpansionFactor(PoolWidth(options_), decision.paths_before)"),
    ("methods/hyper.cc", "NextWave(options_.launch, before, WarmupCount(options_) + PoolWidth(options_))", "NextWave(options_.launch, opened_, PoolWidth(options_))"),
    ("methods/hyper.cc", "Outlook{PoolWidth(options_) - opened_,", "Outlook{0,"),
    ("methods/hyper.cc", "Without(Action::kSingleToken)", "Without(Action::kBranch)"),
    ("methods/hyper.cc", "Normalise(decision.raw, maxima_)", "decision.raw"),
    ("methods/hyper.cc", "(options_.vote_warmup || !path.warmup)", "true"),
    ("methods/hyper.cc", "  expansion_.SetUsualLength(MedianLength(pool));\n", ""),
    ("methods/hyper.cc", "  pool.BeginPhase();\n", ""),
    ("methods/roe.cc", "options_.routes : 1", "1 : 1"),
    ("methods/hyper.cc", "!spawns && options_.vote_clones", "true"),
    ("methods/sc.cc", "    pool.BeginPhase();\n", ""),
    ("methods/sc.cc", "agreed_ < 0 || path.id >= agreed_", "true"),
    ("methods/sc.cc", ".second && chosen[i]", ".second"),
    ("methods/sc.cc", "texts.insert(paths[i]->text).second && chosen[i]", "chosen[i]"),
    ("methods/sc.cc", "std::min(left, Round(pool))", "Round(pool)"),
    ("methods/sc.cc", "ShareOfFirst(Sum(scores[0]), Sum(scores[1]))", "ShareOfFirst(Sum(scores[1]), Sum(scores[0]))"),
    ("methods/warmup.cc", "return ended >=", "return ended >"),
    ("methods/warmup.cc", "if (CameToItsEnd(path.status)) {", "if (path.status == PathStatus::kLength) {"),
    ("methods/warmup.cc", "    Observe(record", "    record.maxima = {};\n    Observe(record"),
    ("methods/warmup.cc", "Quantile(lengths, 0.5)", "Quantile(lengths, 0.4)"),
    ("options.cc", "PoolWidth(options) + late", "PoolWidth(options)"),
    ("options.cc", "fmt::format(\"0 to {}, the --interval:", "fmt::format(\"up to {}:"),
    ("options.cc", "options.horizon > options.interval", "options.horizon >= options.interval"),
    ("pool.cc", "x != y ? x < y : a > b", "x != y ? x > y : a > b"),
    ("session.cc", "result.voting_paths += voter.votes ? 1 : 0;", "result.voting_paths += 1;"),
    ("session.cc", "ledger.penalty_rewards > 0", "false"),
    ("session_pool.cc", "path.warmup && !warmup_over_", "path.warmup"),
    ("path_forks.cc", "WindowOf(parent));", "EmptyWindow());"),
    ("session_pool.cc", "MeanOf(config_.options.confidence)", "MeanKind::kArithmetic"),
    ("ask.cc", "!can.full_logits", "false"),
    ("methods/expansion.cc", "MeanOf(pool.options().confidence)", "MeanKind::kArithmetic"),
    ("methods/step_reward.cc", "MeanOf(pool.options().confidence)", "MeanKind::kArithmetic"),
    ("session_pool.cc", "path.length() >= config_.options.max_tokens", "path.length() > config_.options.max_tokens"),
    ("session_pool.cc", "event.routes - 1;", "event.routes;"),
    ("session_pool.cc", "tokens_at_[index]++ == 0 ? 1 : 0", "1"),
    ("path_forks.cc", "path.fork_position = from.length();", "path.fork_position = 0;"),
    ("path_answer.cc", "  path.answer.clear();\n", ""),
    ("session_pool.cc", "  NotePeaks();\n  engine_.Close", "  engine_.Close"),
    ("shortage.cc", "kAmpleIntervals * running * count <= room", "running * count <= room"),
    ("session_pool.cc", "!decided_ && config_", "config_"),
    ("stop.cc", " || !ProbesAgree(method, pool, *rule, record.answer)", ""),
    ("path_answer.cc", "path.status == PathStatus::kCancelled && !path.probed", "!path.probed"),
    ("path_answer.cc", "    path.tentative = true;\n    return;", "    return;"),
    ("ballot.cc", "voter.probed ? voter.path->probed.back() : voter.path->answer", "voter.path->answer"),
    ("session_pool.cc", "    ++ledger_.probe;\n", "    ++ledger_.judge;\n"),
    ("session_pool.cc", "path.kind == PathKind::kProbe ? ledger_.probe : ledger_.prefilled", "ledger_.prefilled"),
    ("methods/probed_paths.cc", " && path.status != PathStatus::kPruned", ""),
    ("methods/probed_paths.cc", "if (!std::exchange(started_, true)) {", "if (false) {"),
    ("methods/momentum_paths.cc", "apart_[i] >= rules_.patience", "apart_[i] > rules_.patience"),
    ("methods/momentum_paths.cc", "ids.size() > 2 ? ids.size() - 2", "ids.size() > 1 ? ids.size() - 1"),
    ("methods/momentum_paths.cc", "agrees ? rules_.burst - 1 : 0", "agrees ? rules_.burst : 0"),
    ("methods/momentum_paths.cc", "step.widen && free > 0", "free > 0"),
    ("methods/momentum_paths.cc", "any ? CameToItsEnd(path.status) : ", ""),
    ("methods/hyper.cc", "forced < 0 || decision.step < forced", "forced < 0 || decision.step <= forced"),
    ("methods/hyper.cc", "decision.step == forced && decision.allowed", "decision.allowed"),
    ("methods/probed_paths.cc", "path.running() && !path.probed", "!path.probed"),
    ("methods/probed_paths.cc", "kEqualProbes = 8", "kEqualProbes = 7"),
    ("methods/prober.cc", "closed |= byte == '}' && open <= 0", "closed |= byte == '}'"),
    ("methods/prober.cc", "path.text.find(kReasoningEnd) == std::string::npos", "true"),
    ("methods/prober.cc", "options_.probe_interval - Since(pool.path(id))", "options_.probe_interval"),
    ("methods/prober.cc", "if (any && free-- == 0) {", "if (any && free-- == 1) {"),
    ("methods/prober.cc", "pool.Finish(id, PathStatus::kLength, \"probe", "pool.Finish(id, PathStatus::kCancelled, \"probe"),
    ("stop.cc", "ahead->complete && IsSure", "IsSure"),
    ("stop.cc", "usual - path.length()", "usual"),
    ("stop.cc", "coming == 0 || ", ""),
    ("stop.cc", "rule != VoteRule::kMajority && !vote", "!vote"),
    ("statistics.cc", "return pool.path(id).warmup; });", "return false; });"),
    ("method.cc", "path.status != PathStatus::kFailed &&\n         !path.running()", "!path.running()"),
    ("statistics.cc", "std::max(length - suffix, 0)", "0"),
    ("statistics.cc", "path.length() >= length", "path.length() > length"),
    ("statistics.cc", "readings.push_back({id, pool.path(id).top})", "readings.push_back({id, {}})"),
]

# Answers are compared and read by src/answer and src/extract, of which nothing is changed.
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(mutants C CXX)
set(CMAKE_CXX_STANDARD 20)
list(APPEND CMAKE_MODULE_PATH ${{CMAKE_SOURCE_DIR}}/cmake)
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${{CCACHE}})
endif()
find_package(GTest REQUIRED)
find_package(hwy REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(CBC REQUIRED IMPORTED_TARGET cbc)
include(HyperExact)
include_directories(include .)
include_directories(SYSTEM {vendor})
add_compile_definitions(HYPER_SOURCE_DIR="${{CMAKE_SOURCE_DIR}}")
add_compile_options(-ffp-contract=off)
file(GLOB_RECURSE answer src/answer/*.cc src/answer/*.c src/extract/*.cc
  src/base/think_tags.cc src/base/utf8.cc)
list(FILTER answer EXCLUDE REGEX "_test.cc$")
file(GLOB core src/core/*.cc src/base/result.cc)
file(GLOB core_tests src/core/*_test.cc)
list(FILTER core EXCLUDE REGEX "_test.cc$")
file(GLOB_RECURSE decode src/decode/*.cc src/engine/fake/*.cc)
list(FILTER decode EXCLUDE REGEX "_test.cc$")
file(GLOB_RECURSE decode_tests src/decode/*_test.cc)
add_library(hyper_cbc MODULE src/core/cbc/cbc_module.cc)  # lies beside the tests, which load it
target_link_libraries(hyper_cbc PRIVATE PkgConfig::CBC)
add_library(core STATIC ${{core}})
target_link_libraries(core PUBLIC hwy fmt::fmt ${{CMAKE_DL_LIBS}})
add_library(answer STATIC EXCLUDE_FROM_ALL ${{answer}})
target_link_libraries(answer PUBLIC core hyper::exact fmt::fmt PkgConfig::UTF8PROC)
add_library(decode STATIC EXCLUDE_FROM_ALL ${{decode}})
target_link_libraries(decode PUBLIC core answer fmt::fmt)
add_executable(core_tests EXCLUDE_FROM_ALL ${{core_tests}})
target_link_libraries(core_tests PRIVATE core GTest::gtest_main)
add_executable(decode_tests EXCLUDE_FROM_ALL ${{decode_tests}})
target_link_libraries(decode_tests PRIVATE decode GTest::gtest_main)
# Bundles of files: the first build, which costs most, takes half the time.
set_source_files_properties(${{CMAKE_SOURCE_DIR}}/src/core/logits.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# For many mutations it is the files by themselves that are quicker.
set_target_properties(answer core_tests decode_tests PROPERTIES
  UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
set_target_properties(core decode PROPERTIES UNITY_BUILD {bundled} UNITY_BUILD_BATCH_SIZE 8)
add_dependencies(core_tests hyper_cbc)
add_dependencies(decode_tests hyper_cbc)
"""


MANY = 60


def verdict(build, part, limit_s):
    """"passed", "failed", "crashed" or "unbuilt": only a test that fails says what is wrong. Tests that
    do not end within the limit of processor time fail: many a mutant runs for ever. Those that wait for
    ever do too, after ten times as long."""
    made = subprocess.run(["cmake", "--build", build, "--target", f"{part}_tests"],
                          capture_output=True, text=True)
    if made.returncode != 0:
        print(made.stdout[-2000:])
        return "unbuilt"
    try:
        code = subprocess.run([f"{build}/{part}_tests", "--gtest_brief=1", "--gtest_fail_fast"],
                              capture_output=True, timeout=limit_s and 10 * limit_s,
                              preexec_fn=lambda: limit_s and resource.setrlimit(
                                  resource.RLIMIT_CPU, (limit_s, limit_s + 5))).returncode
    except subprocess.TimeoutExpired:
        return "failed"
    if code == -signal.SIGXCPU:
        return "failed"
    return "passed" if code == 0 else "crashed" if code < 0 else "failed"


def tests_cpu_s(build, part):
    """The processor time of the tests as they are."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict(build, part, None)  # there is nothing left to build
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def draw(share, seed, only, name):
    """The mutations to try, each with its part: a random share, in the order of the lists."""
    every = [(part, *mutation) for part, all_of in (("core", CORE), ("decode", DECODE))
             for mutation in all_of if only in (None, part) and name in mutation[0]]
    chosen = random.Random(seed).sample(range(len(every)), max(1, round(share * len(every))))
    return [every[i] for i in sorted(chosen)]


def mutate(tree, build, limits_s, part, name, original, mutant):
    """Prints what the tests say of one mutation; whether they noticed it."""
    path = tree / "src" / part / name
    text = path.read_text()
    path.write_text(text.replace(original, mutant))
    said = verdict(build, part, limits_s[part])
    path.write_text(text)
    word = {"passed": "UNNOTICED", "crashed": "CRASHED  ", "unbuilt": "UNBUILT  ",
            "failed": "noticed  "}[said]
    print(word, f"{part}/{name}", "|", original.strip(), "->", mutant.strip(), flush=True)
    return said == "failed"


def check_places(mutations):
    """Each piece stands in its file, and nowhere else in it."""
    for part, name, original, _ in mutations:
        found = (ROOT / "src" / part / name).read_text().count(original)
        if found != 1:
            sys.exit(f"{part}/{name} contains {found} times: {original}")


def main():
    arguments = argparse.ArgumentParser(description="mutation tests of src/core and src/decode")
    arguments.add_argument("vendor", type=pathlib.Path)
    arguments.add_argument("--share", type=float, default=1.0)
    arguments.add_argument("--seed", default=str(datetime.date.today()))
    arguments.add_argument("--part", choices=("core", "decode"))
    arguments.add_argument("--file", default="", help="only files with this in their name")
    options = arguments.parse_args()
    mutations = draw(options.share, options.seed, options.part, options.file)
    check_places(draw(1, "", None, ""))
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("include", "cmake", "src", "tests/goldens", "tests/support", "tests/cases"):
            shutil.copytree(ROOT / part, tree / part)
        (tree / "CMakeLists.txt").write_text(CMAKE.format(
            vendor=options.vendor.resolve(), bundled="ON" if len(mutations) < MANY else "OFF"))
        build = f"{folder}/build"
        subprocess.run(["cmake", "-S", folder, "-B", build, "-G", "Ninja"], check=True,
                       stdout=subprocess.DEVNULL)
        limits_s = {}
        for part in sorted({mutation[0] for mutation in mutations}):
            if verdict(build, part, None) != "passed":
                sys.exit(f"the tests of src/{part} fail before any mutation")
            limits_s[part] = 10 + 5 * math.ceil(tests_cpu_s(build, part))
        unnoticed = sum(not mutate(tree, build, limits_s, *mutation) for mutation in mutations)
    print(f"{len(mutations)} mutations, {unnoticed} not noticed")
    sys.exit(min(unnoticed, 100))


if __name__ == "__main__":
    main()
