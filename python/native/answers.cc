#include "python/native/answers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hyper/equal.h"
#include "hyper/extract.h"
#include "hyper/names.h"
#include "python/native/errors.h"

namespace hyper {

template <>
inline constexpr std::array kNamesOf<BareLog> = {"either", "natural", "decimal"};
template <>
inline constexpr std::array kNamesOf<ReasoningAnswers> = {"tentative", "final", "ignored"};
template <>
inline constexpr std::array kNamesOf<BoxOrLabel> = {"box", "later"};

}  // namespace hyper

namespace nb = nanobind;

namespace hyper::python {
namespace {

// The value of a name, or the error that says which there are.
template <class Enum>
Enum Named(const char* what, const std::string& name) {
  if (const std::optional<Enum> value = ValueOf<Enum>(name)) {
    return *value;
  }
  std::string names;
  for (const char* known : kNamesOf<Enum>) {
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  Raise(InvalidArgument(std::string(what) + " is '" + name + "'; it takes " + names));
}

template <class Call>
auto Unlocked(Call call) {
  const nb::gil_scoped_release released;
  return call();
}

// Verdict and reason.
std::tuple<std::string, std::string> Equal(const std::string& gold, const std::string& answer,
                                           bool rounded, bool ignore_units,
                                           bool allow_renamed_constants, bool ignore_assignment,
                                           bool pair_as_interval, bool vector_as_tuple,
                                           const std::string& bare_log, int base, size_t max_steps,
                                           size_t max_bytes, uint64_t seed) {
  if (base != 0 && (base < 2 || base > 36)) {
    Raise(InvalidArgument("base is " + std::to_string(base) + "; it takes 2 to 36, or 0 for ten"));
  }
  const EqualOptions options{.rounded = rounded,
                             .ignore_units = ignore_units,
                             .allow_renamed_constants = allow_renamed_constants,
                             .ignore_assignment = ignore_assignment,
                             .pair_as_interval = pair_as_interval,
                             .vector_as_tuple = vector_as_tuple,
                             .bare_log = Named<BareLog>("bare_log", bare_log),
                             .base = base,
                             .max_steps = max_steps,
                             .max_bytes = max_bytes,
                             .seed = seed};
  const EqualResult result = Unlocked([&] { return AnswersEqual(gold, answer, options); });
  return {VerdictName(result.verdict), result.reason};
}

// answer, raw, begin and end in bytes, rule, tentative, confidence in percent.
using Found = std::tuple<std::optional<std::string>, nb::bytes, size_t, size_t, std::string, bool,
                         std::optional<double>>;

Found Extract(const nb::bytes& text, const std::string& kind, const std::string& choices,
              bool finished, bool opened_by_template, const std::string& reasoning_answers,
              const std::string& box_or_label, bool fallbacks) {
  ExtractOptions options;
  options.kind = Named<AnswerKind>("kind", kind);
  options.finished = finished;
  options.opened_by_template = opened_by_template;
  options.reasoning_answers = Named<ReasoningAnswers>("reasoning_answers", reasoning_answers);
  options.box_or_label = Named<BoxOrLabel>("box_or_label", box_or_label);
  options.fallbacks = fallbacks;
  const std::optional<std::string> labels = ParseChoiceOptions(choices);
  if (!labels) {
    Raise(
        InvalidArgument("choices is '" + choices + "'; it takes labels such as A-D, ABCD or 1-4"));
  }
  options.options = *labels;
  const std::string_view bytes(text.c_str(), text.size());
  const Extraction found = Unlocked([&] { return ExtractAnswer(bytes, options); });
  return {found.answer,
          nb::bytes(found.raw.data(), found.raw.size()),
          found.begin,
          found.end,
          found.rule,
          found.tentative,
          found.confidence_percent};
}

}  // namespace

void BindAnswers(nb::module_& module) {
  const EqualOptions equal;
  module.def("equal", &Equal, nb::arg("gold"), nb::arg("answer"), nb::kw_only(),
             nb::arg("rounded") = equal.rounded, nb::arg("ignore_units") = equal.ignore_units,
             nb::arg("allow_renamed_constants") = equal.allow_renamed_constants,
             nb::arg("ignore_assignment") = equal.ignore_assignment,
             nb::arg("pair_as_interval") = equal.pair_as_interval,
             nb::arg("vector_as_tuple") = equal.vector_as_tuple,
             nb::arg("bare_log") = NameOf(equal.bare_log), nb::arg("base") = equal.base,
             nb::arg("max_steps") = equal.max_steps, nb::arg("max_bytes") = equal.max_bytes,
             nb::arg("seed") = equal.seed);
  const ExtractOptions extract;
  module.def("extract", &Extract, nb::arg("text"), nb::kw_only(),
             nb::arg("kind") = NameOf(extract.kind), nb::arg("choices") = extract.options,
             nb::arg("finished") = extract.finished,
             nb::arg("opened_by_template") = extract.opened_by_template,
             nb::arg("reasoning_answers") = NameOf(extract.reasoning_answers),
             nb::arg("box_or_label") = NameOf(extract.box_or_label),
             nb::arg("fallbacks") = extract.fallbacks);
  module.def(
      "group",
      [](const std::vector<std::string>& answers) {
        return Unlocked([&] { return GroupAnswers(answers); });
      },
      nb::arg("answers"));
}

}  // namespace hyper::python
