#include "hyper/auto_choice.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "hyper/options.h"

namespace hyper {
namespace {

struct Length {
  int expected = 0;  // tokens of a path as a rule
  int most = 0;      // max-tokens
  int least = 0;     // shorter paths say nothing
};

// By effort.
using Lengths = std::array<Length, kNamesOf<Effort>.size()>;
constexpr Lengths kReasoning = {{{2000, 4096, 512}, {4000, 16384, 512}, {8000, 32768, 512}}};
constexpr Lengths kInstructed = {{{400, 800, 96}, {500, 1500, 96}, {800, 3000, 96}}};
// Without a template a model goes on after its answer: every path is as long as it may be.
constexpr Lengths kBase = {{{256, 256, 96}, {384, 384, 96}, {512, 512, 96}}};
constexpr Lengths kShort = {{{350, 800, 96}, {350, 800, 96}, {350, 800, 96}}};
constexpr std::array kPaths = {9, 24, 96};
constexpr std::array kShortPaths = {24, 40, 80};
constexpr std::array kAims = {40.0, 240.0, 1200.0};  // seconds
constexpr double kTimeShare = 0.8;                   // of --time
constexpr double kMostOverAim = 1.5;
constexpr int kFewPaths = 6;
constexpr int kLeastPaths = 3;
constexpr int kMostWarmup = 16;
constexpr double kDecided = 0.99;              // docs/stopping.md has the measurement
constexpr double kShortDecided = 0.95;         // docs/results.md has this one
constexpr double kThresholdShare = 10.0 / 16;  // the paper's: the best 10 of 16

bool MadeForShort(const ModelInfo& model) { return FixedPreset(model) == "short"; }

const Lengths& LengthsOf(const ModelInfo& model) {
  if (MadeForShort(model)) {
    return kShort;
  }
  if (model.reasons) {
    return kReasoning;
  }
  return model.has_chat_template ? kInstructed : kBase;
}

// The largest power of two that is at most `value`, within the bounds.
int PowerOfTwo(double value, int low, int high) {
  int power = low;
  while (2 * power <= high && 2 * power <= value) {
    power *= 2;
  }
  return power;
}

// Half of the trained context at most is the answer's where the prompt's length is not known. The
// lengths of a model made for `short` fit it.
Length Bounded(Length length, const ModelInfo& model) {
  if (model.context_train_tokens > 0 && !MadeForShort(model)) {
    length.most = std::max(1, std::min(length.most, model.context_train_tokens / 2));
  }
  length.expected = std::min(length.expected, length.most);
  length.least = std::min(length.least, length.expected);
  return length;
}

// Cuts paths, then their length, to `tokens` in all: a few paths of half the length vote better
// than very few whole ones.
void Fit(double tokens, int& paths, Length& length) {
  const double wanted = length.expected;
  const bool fills = length.most == length.expected;
  if (paths * wanted > tokens) {
    paths = std::max(std::min(paths, kFewPaths), static_cast<int>(tokens / wanted));
  }
  if (paths * wanted > tokens) {
    paths = std::clamp(static_cast<int>(tokens / (wanted / 2)), kLeastPaths, paths);
    length.expected = std::max(length.least, static_cast<int>(tokens / paths));
  }
  const auto most = static_cast<int>(std::min(kMostOverAim * tokens / paths, 1e9));
  length.most = fills ? length.expected : std::min(length.most, std::max(length.expected, most));
}

// A whole number of a profile; 0 where it has none.
int NumberOf(const OptionValues& profile, std::string_view name) {
  int number = 0;
  for (const OptionValue& option : profile) {
    if (option.name == name) {
      std::from_chars(option.text.data(), option.text.data() + option.text.size(), number);
    }
  }
  return number;
}

// Paths, the warm-up included: the usual ones, or fewer where the profile says so.
int PathsOf(const AutoRequest& request, bool made_for_short) {
  const auto effort = static_cast<size_t>(request.effort);
  const std::array<int, 3>& usual = made_for_short ? kShortPaths : kPaths;
  const int width = NumberOf(request.profile, "width");
  if (width == 0) {
    return usual[effort];
  }
  const double calibrated = width + NumberOf(request.profile, "warmup");
  const double share = static_cast<double>(usual[effort]) / usual[1];  // of medium effort
  const auto paths = static_cast<int>(std::lround(share * calibrated));
  return std::clamp(paths, kLeastPaths, usual[effort]);
}

void AddPool(int paths, bool made_for_short, const OptionValues& profile, OptionValues& options) {
  const int usual = std::min(made_for_short ? kMostWarmup / 2 : kMostWarmup, paths / 3);
  const int calibrated = NumberOf(profile, "warmup");
  const int warmup = calibrated > 0 ? std::min(calibrated, paths / 2) : usual;
  const int top = std::max(1, static_cast<int>(std::lround(kThresholdShare * warmup)));
  options.emplace_back("width", paths - warmup);
  options.emplace_back("warmup", warmup);
  if (!made_for_short) {  // whose paths are short: waiting for all of the warm-up saves tokens
    options.emplace_back("warmup-barrier", "off");
  }
  options.emplace_back("threshold", "top:" + std::to_string(top));
}

void AddLengths(const Length& length, OptionValues& options) {
  options.emplace_back("interval", PowerOfTwo(length.expected / 16.0, 8, 64));
  options.emplace_back("window", PowerOfTwo(length.expected / 8.0, 8, 2048));
}

// What preset `short` changes, pool and length left out, and what fits such a model better than the
// paper's signal and vote (docs/results.md).
void AddShort(OptionValues& options) {
  MethodOptions fields;
  for (const Option& option : OptionsOf(fields)) {
    if (*option.info().brief != '\0') {
      options.emplace_back(option.info().name, option.info().brief);
    }
  }
  options.emplace_back("confidence", "logprob");
  options.emplace_back("vote", "majority");
}

}  // namespace

std::string FixedPreset(const ModelInfo& model) {
  const bool brief = model.preset == "short" || model.name.starts_with(kBundledFamily);
  return brief ? "short" : "paper";
}

AutoChoice ChooseAuto(const ModelInfo& model, const AutoRequest& request) {
  const auto effort = static_cast<size_t>(request.effort);
  const bool made_for_short = MadeForShort(model);
  Length length = Bounded(LengthsOf(model)[effort], model);
  int paths = PathsOf(request, made_for_short);
  const double aim_s = request.time_s > 0 ? kTimeShare * request.time_s : kAims[effort];
  if (request.machine.tokens_per_s > 0) {
    Fit(aim_s * request.machine.tokens_per_s, paths, length);
  }
  if (request.machine.cells > 0) {
    Fit(static_cast<double>(request.machine.cells), paths, length);
  }
  AutoChoice choice;
  choice.path_tokens = length.expected;
  if (made_for_short) {
    AddShort(choice.options);
  } else {
    AddLengths(length, choice.options);
  }
  AddPool(paths, made_for_short, request.profile, choice.options);
  choice.options.emplace_back("loop-guard", "on");
  choice.options.emplace_back("stop", made_for_short ? kShortDecided : kDecided);
  choice.options.emplace_back("max-tokens", length.most);
  for (const OptionValue& option : request.profile) {
    if (option.name != "width" && option.name != "warmup") {
      choice.options.push_back(option);
    }
  }
  return choice;
}

}  // namespace hyper
