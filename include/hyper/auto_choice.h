// The preset `auto`: options chosen for a model, a machine and the time there is.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "hyper/engine.h"
#include "hyper/names.h"
#include "hyper/option.h"
#include "hyper/result.h"
#include "hyper/types.h"

#pragma GCC visibility push(default)
namespace hyper {

// How much is spent on a question.
enum class Effort { kLow, kMedium, kHigh };
template <>
inline constexpr std::array kNamesOf<Effort> = {"low", "medium", "high"};

// What is known of the machine; 0: not known, and then it limits nothing.
struct MachineFacts {
  double tokens_per_s = 0;  // of all paths together over the run, as MeasurePace has it
  int64_t cells = 0;        // KV cells that a run may fill
};

// What `auto` chooses by, beside the model.
struct AutoRequest {
  Effort effort = Effort::kMedium;
  double time_s = 0;  // the run's limit; 0: none, and the effort has its own aim
  MachineFacts machine;
  // Options that were calibrated for the model (docs/calibrate.md); empty: none.
  OptionValues profile = {};
};

struct AutoChoice {
  OptionValues options;  // on top of preset `paper`
  int path_tokens = 0;   // expected length of a path
};

// The preset that fits the model's traces where nothing is to be chosen: "short" for the bundled
// model and for files that name it (hyper.preset), else "paper". Pure.
std::string FixedPreset(const ModelInfo& model);

// The choice for a model. Source: design choice; docs/auto.md has the tables.
//
// Model and effort give a number of paths (warm-up and pool) and their length: long where the chat
// template opens a reasoning, short where there is no template, and that of preset `short` for a
// model made for it. Paths first, then their length, are cut to what the time allows at the pace of
// the machine, and to the KV cells. Decision interval, window and threshold follow from the two.
//
// A profile's options come after these. Its width and warm-up, where it has them, are the paths at
// medium effort, if these are fewer than usual; other efforts have them in the usual proportion.
//
// Aims: 40 s at low effort, 4 minutes at medium, 20 minutes at high, or four fifths of `time_s`. No
// path may be so long that the run takes more than 1.5 times its aim. There are at least 3 paths of
// at least 96 tokens (short models: 64; models that reason: 512), even if a slow machine then takes
// longer than its aim.
// Pure.
AutoChoice ChooseAuto(const ModelInfo& model, const AutoRequest& request);

// Tokens per second of a run whose phases decode so many paths each, all of one length, side by
// side (fewer where the engine holds fewer): see PhasesOf. `path_tokens` is their expected length.
// Decodes a few tokens of each phase's paths and throws them away, halfway through their length
// (but at most 256 tokens into it), since a path slows down as it grows. Takes a second or the time
// of one forward for each phase, beside the prompt, and leaves no trace in what a strict engine
// decodes later. `phases` holds at least one number, all from 1.
// Errors: the engine's.
Result<double> MeasurePace(Engine& engine, std::span<const Token> prompt,
                           std::span<const int> phases, int path_tokens);

}  // namespace hyper
#pragma GCC visibility pop
