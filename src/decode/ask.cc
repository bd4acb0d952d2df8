#include "hyper/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "hyper/driver.h"
#include "src/core/stopping.h"
#include "src/decode/methods/registry.h"

namespace hyper {
namespace {

// Cells where the engine does not count them: more than any session can fill.
constexpr int64_t kUncountedCells = int64_t{1} << 40U;

// Puts values into their fields. To change an option that the method does not read would change
// nothing: where `must_read`, that is said rather than done.
Status Take(const OptionValues& values, const MethodEntry& method, bool must_read,
            std::vector<Option>& options) {
  for (const OptionValue& value : values) {
    Option* option = FindOption(options, value.name);
    if (option == nullptr) {
      return InvalidArgument(
          fmt::format("option '{}' is not known; docs/options.md lists them", value.name));
    }
    const OptionInfo& info = option->info();
    const std::string before = option->Text();
    if (Status status = option->Set(value.text); !status) {
      return status;
    }
    const bool changed = option->Text() != before;
    if (must_read && changed && (info.read_by & method.features) == 0) {
      return InvalidArgument(fmt::format("--{} has no effect on the method '{}'; it is read by {}",
                                         value.name, method.name,
                                         fmt::join(ReadersOf(info), ", ")));
    }
  }
  return {};
}

std::string TimeText(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  if (seconds < 1.5 * kMinute) {
    return fmt::format("about {:.0f} s", std::max(1.0, seconds));
  }
  return seconds < 1.5 * kHour ? fmt::format("about {:.0f} minutes", seconds / kMinute)
                               : fmt::format("about {:.1f} hours", seconds / kHour);
}

// Whether steps are scored as the method's name says, where it does and the caller asks for another
// scorer. What is meant for all methods changes nothing.
Status CheckReward(const RunRequest& request, const MethodEntry& method, MethodOptions& options) {
  const char* reward = NameOf(options.tree.reward);
  if (method.reward.empty() || method.reward == reward) {
    return {};
  }
  if (!Given(request.options, "reward")) {
    options.tree.reward = *ValueOf<RewardKind>(method.reward);
    return {};
  }
  return InvalidArgument(fmt::format(
      "--reward {} has no effect on the method '{}', whose name gives the reward; use --method {}",
      reward, method.name, method.name.substr(0, method.name.find('-') + 1) + reward));
}

// Whether the method gives what its vote rule takes.
Status CheckRule(const MethodEntry& method, VoteRule rule) {
  const bool weighs =
      rule == VoteRule::kWeighted || rule == VoteRule::kBest || rule == VoteRule::kBorda;
  if (!weighs || (method.features & kWeights) != 0) {
    return {};
  }
  return InvalidArgument(
      fmt::format("--vote {} needs a score of each path, and the method '{}' gives none; use "
                  "another rule, or bon or self-certainty",
                  NameOf(rule), method.name));
}

// Whether a stop that the caller asks for can come under the vote rule.
Status CheckStop(const RunRequest& request, const MethodOptions& options) {
  const VoteRule rule = options.vote.rule;
  const char* name = NameOf(rule);
  if (!Given(request.options, "stop") || options.stop.kind == StopRule::Kind::kNever) {
    return {};
  }
  if (!CanStop(rule)) {
    return InvalidArgument(
        fmt::format("--stop {} has no effect under --vote {}, where one better path beats all "
                    "others; use another rule, or --stop never",
                    StopRuleText(options.stop), name));
  }
  if (options.stop.kind == StopRule::Kind::kSure && !MostWeight(rule, options.confidence)) {
    return InvalidArgument(
        fmt::format("--stop sure has no effect under --vote {}, whose weights have no upper bound; "
                    "use a probability such as 0.95, or --vote "
                    "majority",
                    name));
  }
  return {};
}

}  // namespace

std::vector<std::string> ReadersOf(const OptionInfo& option) {
  std::vector<std::string> names;
  if ((option.read_by & kEvery) != 0) {
    return names;
  }
  for (const MethodInfo& info : Methods()) {
    const Result<MethodEntry> entry = FindMethod(info.name);
    if (entry && (entry->features & option.read_by) != 0) {
      names.push_back(info.name);
    }
  }
  return names;
}

Result<RunPlan> ResolveRun(const RunRequest& request, const ModelInfo& model) {
  RunPlan plan;
  plan.method = request.method;
  plan.preset = request.preset.empty() ? "auto" : request.preset;
  Result<MethodOptions> preset = Preset(plan.preset);
  if (!preset) {
    return preset.error();
  }
  plan.options = *preset;
  const Result<MethodEntry> method = FindMethod(plan.method);
  if (!method) {
    return method.error();
  }
  std::vector<Option> options = OptionsOf(plan.options);
  Status status;
  if (plan.preset == "auto") {
    const AutoChoice choice = ChooseAuto(model, request.automatic);
    plan.path_tokens = choice.path_tokens;
    plan.tokens_per_s = request.automatic.machine.tokens_per_s;
    for (const OptionValue& option : request.automatic.profile) {
      if (!Given(request.options, option.name)) {
        plan.profile.push_back(option);
      }
    }
    status = Take(choice.options, *method, /*must_read=*/false, options);
  }
  if (status) {
    status = ApplyMethodDefaults(plan.method, plan.options);
  }
  if (status) {
    status = Take(model.sampling, *method, /*must_read=*/false, options);
  }
  if (status) {
    status = Take(request.defaults, *method, /*must_read=*/false, options);
  }
  if (status) {
    status = Take(request.options, *method, /*must_read=*/true, options);
  }
  if (method->one_path) {
    plan.options.width = 1;
  }
  if (status) {
    status = Validate(plan.options);
  }
  if (status) {
    status = CheckReward(request, *method, plan.options);
  }
  if (status) {
    status = CheckRule(*method, plan.options.vote.rule);
  }
  if (status) {
    status = CheckStop(request, plan.options);
  }
  return status ? Result<RunPlan>(std::move(plan)) : Result<RunPlan>(status.error());
}

std::vector<int> PhasesOf(const RunPlan& plan) {
  const Result<MethodEntry> method = FindMethod(plan.method);
  if (method && (method->features & kWarmup) != 0) {
    return {WarmupCount(plan.options), PoolWidth(plan.options)};
  }
  return {PoolWidth(plan.options)};
}

RunEstimate EstimateOf(const RunPlan& plan, double tokens_per_s) {
  const std::vector<int> phases = PhasesOf(plan);
  const int paths = std::accumulate(phases.begin(), phases.end(), 0);
  return {paths, std::min(plan.path_tokens, plan.options.max_tokens), tokens_per_s};
}

int64_t CellsNeeded(const RunPlan& plan, int64_t prompt_tokens) {
  constexpr int64_t kLongPath = 8192;
  const int64_t most = plan.options.max_tokens;
  if (plan.path_tokens == 0) {
    return prompt_tokens + LaneLimit(plan.options) * std::min(most, kLongPath);
  }
  const int64_t expected = std::min<int64_t>(most, plan.path_tokens + plan.path_tokens / 5);
  const int paths = std::max(EstimateOf(plan, 1).paths, LaneLimit(plan.options));
  return prompt_tokens + paths * expected;
}

std::string EstimateText(const RunEstimate& estimate, const RunEstimate* low) {
  std::string text = fmt::format("{} {} of about {} tokens at {:.0f} tokens/s: {}", estimate.paths,
                                 estimate.paths == 1 ? "path" : "paths", estimate.path_tokens,
                                 estimate.tokens_per_s, TimeText(estimate.seconds()));
  constexpr double kWorthSaying = 0.8;
  if (low != nullptr && low->seconds() < kWorthSaying * estimate.seconds() &&
      TimeText(low->seconds()) != TimeText(estimate.seconds())) {
    text += "; --effort low: " + TimeText(low->seconds());
  }
  return text;
}

Status CheckAbilities(const RunPlan& plan, const Capabilities& can) {
  const Result<MethodEntry> method = FindMethod(plan.method);
  if (!method) {
    return method.error();
  }
  if (method->needs_logprobs && can.max_top_count == 0) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("--method {} needs log-probabilities, and the engine gives no valid "
                             "ones; use --method sc",
                             plan.method)};
  }
  if (plan.options.confidence == ConfidenceSignal::kSelfCertainty && !can.full_logits) {
    return Error{ErrorCode::kUnsupported,
                 "--confidence self-certainty averages the log-probabilities of the whole "
                 "vocabulary, and a server gives only those of the likeliest tokens; take "
                 "--confidence topk"};
  }
  const bool warms_up = (method->features & kWarmup) != 0;
  const int paths = std::max(warms_up ? WarmupCount(plan.options) : 0, PoolWidth(plan.options));
  if (paths > can.max_lanes) {
    return InvalidArgument(
        fmt::format("--width {} needs {} paths at once, but the engine holds {}; lower "
                    "--width",
                    plan.options.width, paths, can.max_lanes));
  }
  return {};
}

Reservation ReservationOf(const MethodOptions& options, const Engine& engine,
                          const Reservation& most) {
  const Capabilities& can = engine.capabilities();
  const int64_t cells = can.cells_total > 0 ? can.cells_total : kUncountedCells;
  return {std::min(most.lanes > 0 ? most.lanes : LaneLimit(options), can.max_lanes),
          most.cells > 0 ? std::min(most.cells, cells) : cells};
}

AnswerExtractor ExtractorFor(ExtractOptions options) {
  return
      [options = std::move(options)](std::string_view text, bool finished, bool reasoning_opened) {
        ExtractOptions here = options;
        here.finished = finished;
        here.opened_by_template = reasoning_opened;
        Extraction found = ExtractAnswer(text, here);
        if (found.cut_box) {
          return ExtractedAnswer{};
        }
        return ExtractedAnswer{found.answer.value_or(""), std::move(found.raw), found.tentative};
      };
}

Result<std::unique_ptr<Session>> OpenSession(Engine& engine, const RunPlan& plan, SessionSpec spec,
                                             std::unique_ptr<Method> method) {
  Status status = Validate(plan.options);
  if (status) {
    status = CheckAbilities(plan, engine.capabilities());
  }
  if (!status) {
    return status.error();
  }
  const auto context = static_cast<size_t>(engine.capabilities().context_tokens);
  if (spec.prompt.tokens.size() >= context) {
    return InvalidArgument(
        fmt::format("the prompt has {} tokens, but the context holds {}; shorten the "
                    "question, or raise --ctx if the model can take more",
                    spec.prompt.tokens.size(), context));
  }
  if (method == nullptr) {
    Result<std::unique_ptr<Method>> made = MakeMethod(plan.method, plan.options);
    if (!made) {
      return made.error();
    }
    method = std::move(*made);
  }
  Pool::Config config;
  config.prompt = std::move(spec.prompt);
  config.options = plan.options;
  config.seed = spec.seed;
  config.reservation = ReservationOf(plan.options, engine, spec.most);
  config.token_records = spec.token_records;
  config.score_tops = spec.score_tops;
  config.logit_bias = std::move(spec.logit_bias);
  config.extractor = std::move(spec.extractor);
  return std::unique_ptr<Session>(
      new Session(engine, std::move(config), std::move(method), spec.limits));
}

Result<Prompt> RenderQuestion(Engine& engine, std::string_view question, std::string_view system,
                              std::string_view instruction) {
  if (question.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return InvalidArgument("the question is empty; give it some text");
  }
  std::vector<ChatMessage> messages;
  if (!system.empty()) {
    messages.push_back({"system", std::string(system)});
  }
  messages.push_back({"user", std::string(question)});
  if (!instruction.empty()) {
    messages.back().content += "\n\n" + std::string(instruction);
  }
  return engine.RenderChat(messages, {});
}

Result<std::unique_ptr<Session>> PrepareSession(Engine& engine, std::string_view question,
                                                const AskOptions& options,
                                                std::unique_ptr<Method> method) {
  RunRequest request = options;
  request.automatic.time_s = options.limits.time_s;
  const Result<RunPlan> plan = ResolveRun(request, engine.model());
  if (!plan) {
    return plan.error();
  }
  SessionSpec spec;
  Result<Prompt> prompt = RenderQuestion(engine, question, options.system, options.instruction);
  if (!prompt) {
    return prompt.error();
  }
  spec.prompt = std::move(*prompt);
  spec.seed = {options.seed, 0};
  spec.limits = options.limits;
  spec.extractor = ExtractorFor(options.extract);
  spec.token_records = options.token_records;
  return OpenSession(engine, *plan, std::move(spec), std::move(method));
}

Result<SessionResult> Ask(Engine& engine, std::string_view question, const AskOptions& options) {
  Result<std::unique_ptr<Session>> session = PrepareSession(engine, question, options);
  if (!session) {
    return session.error();
  }
  Driver driver(engine);
  driver.Add(session->get());
  Status status = driver.RunAll();
  if (status) {
    status = (*session)->status();
  }
  if (!status) {
    return status.error();
  }
  return (*session)->Result();
}

}  // namespace hyper
