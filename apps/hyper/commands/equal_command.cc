// hyper equal: whether two mathematical answers mean the same.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "hyper/equal.h"

namespace hyper::app {
namespace {

constexpr const char* kEqualCommand = "equal";
constexpr const char* kEqualFooter =
    R"(Prints the verdict on the first line, the reason on the second.

Examples:
  hyper equal '\frac{1}{2}' 0.5
  hyper equal '(0, 1)' '0 < x < 1'
  hyper equal --rounded 33.3 '\frac{100}{3}'
  hyper equal --base 8 52 '42_{10}'
  hyper equal --json 'x^2 - 1' '(x-1)(x+1)'

Exit codes: 0 equal; 1 not equal; 2 undecided; 64 a flag or value is not valid.
docs/answers.md describes the notation and the policies.)";

constexpr int kExitEqual = 0;
constexpr int kExitNotEqual = 1;
constexpr int kExitUndecided = 2;

struct EqualFlags {
  EqualOptions options;
  std::string log_base = "either";
  bool keep_units = false;
  bool keep_names = false;
  bool pairs_are_points = false;
  bool vectors_are_matrices = false;
  bool json = false;
  std::string gold;
  std::string answer;
};

void AddFlags(CLI::App& app, EqualFlags& flags) {
  EqualOptions& options = flags.options;
  app.add_flag("--rounded", options.rounded, "a decimal also equals what rounds to it");
  app.add_flag("--renamed", options.allow_renamed_constants, "2k+1 equals 2n+1");
  app.add_flag("--keep-units", flags.keep_units, "35 cm does not equal 35");
  app.add_flag("--keep-names", flags.keep_names, "x = 5 does not equal 5");
  app.add_flag("--pairs-are-points", flags.pairs_are_points,
               "(0, 1) is not the interval 0 < x < 1");
  app.add_flag("--vectors-are-matrices", flags.vectors_are_matrices,
               "a column of numbers is not their tuple");
  app.add_option("--log", flags.log_base,
                 "base of \\log without one: either, natural or decimal [either]")
      ->type_name("BASE");
  app.add_option("--base", options.base,
                 "base of integers without a subscript, 2 to 36; 0: ten [0]")
      ->type_name("B");
  app.add_option("--max-steps", options.max_steps, "work allowed, in elementary steps")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-bytes", options.max_bytes, "memory allowed for operands")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "seed of the points where functions are compared")
      ->type_name("N");
  app.add_flag("--json", flags.json, "one JSON object: verdict, reason, keys of both");
  app.add_option("GOLD", flags.gold, "one answer")->type_name("")->required();
  app.add_option("ANSWER", flags.answer, "the other")->type_name("")->required();
}

// Answers such as -5 and -\frac{1}{2} are no flags: everything that does not start with two
// dashes (or is -h) goes behind "--".
std::vector<std::string> WithAnswersLast(int argc, const char* const* argv) {
  static constexpr std::string_view kWithValue[] = {"--log", "--base", "--max-steps", "--max-bytes",
                                                    "--seed"};
  std::vector<std::string> flags{argc > 0 ? argv[0] : kEqualCommand};
  std::vector<std::string> answers;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") {
      answers.insert(answers.end(), argv + i + 1, argv + argc);
      break;
    }
    if (argument.substr(0, 2) != "--" && argument != "-h") {
      answers.emplace_back(argument);
      continue;
    }
    flags.emplace_back(argument);
    const bool value =
        std::find(std::begin(kWithValue), std::end(kWithValue), argument) != std::end(kWithValue);
    if (value && i + 1 < argc) {
      flags.emplace_back(argv[++i]);
    }
  }
  if (!answers.empty()) {
    flags.emplace_back("--");
  }
  flags.insert(flags.end(), answers.begin(), answers.end());
  return flags;
}

Result<EqualOptions> OptionsOf(const EqualFlags& flags) {
  EqualOptions options = flags.options;
  options.ignore_units = !flags.keep_units;
  options.ignore_assignment = !flags.keep_names;
  options.pair_as_interval = !flags.pairs_are_points;
  options.vector_as_tuple = !flags.vectors_are_matrices;
  if (flags.log_base == "natural") {
    options.bare_log = BareLog::kNatural;
  } else if (flags.log_base == "decimal") {
    options.bare_log = BareLog::kDecimal;
  } else if (flags.log_base != "either") {
    return InvalidArgument(fmt::format(
        "--log '{}' is not known; it takes either, natural or decimal", flags.log_base));
  }
  if (options.base != 0 && (options.base < 2 || options.base > 36)) {
    return InvalidArgument(
        fmt::format("--base {} is not a base; it takes 2 to 36, or 0", options.base));
  }
  return options;
}

std::string ToJson(const EqualFlags& flags, const EqualOptions& options,
                   const EqualResult& result) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["verdict"] = VerdictName(result.verdict);
  json["reason"] = result.reason;
  json["keys"] = {CanonicalKey(flags.gold, options), CanonicalKey(flags.answer, options)};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int EqualCommand(int argc, const char* const* argv) {
  EqualFlags flags;
  CLI::App app("Tells whether two mathematical answers, in LaTeX or plain notation, are equal.");
  SetUpParser(app, kEqualCommand, kEqualFooter);
  AddFlags(app, flags);
  const std::vector<std::string> arguments = WithAnswersLast(argc, argv);
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  if (const std::optional<int> code = ParseCommandLine(
          app, kEqualCommand, static_cast<int>(pointers.size()), pointers.data())) {
    return *code;
  }
  const Result<EqualOptions> options = OptionsOf(flags);
  if (!options) {
    return Complain(kEqualCommand, options.error());
  }
  const EqualResult result = AnswersEqual(flags.gold, flags.answer, *options);
  const std::string text =
      flags.json ? ToJson(flags, *options, result)
                 : fmt::format("{}\n{}\n", VerdictName(result.verdict), result.reason);
  if (!PrintResult(kEqualCommand, text)) {
    return kExitOutput;
  }
  switch (result.verdict) {
    case Verdict::kEqual:
      return kExitEqual;
    case Verdict::kNotEqual:
      return kExitNotEqual;
    case Verdict::kUndecided:
      break;
  }
  return kExitUndecided;
}

}  // namespace hyper::app
