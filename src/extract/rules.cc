#include "src/extract/rules.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/extract/boxes.h"
#include "src/extract/choices.h"
#include "src/extract/corrections.h"
#include "src/extract/labels.h"
#include "src/extract/normal.h"
#include "src/extract/numbers.h"
#include "src/extract/prose.h"
#include "src/extract/scan.h"
#include "src/extract/values.h"

namespace hyper::extract {
namespace {

std::optional<Found> FromChoice(const Choice& choice, std::string_view rule) {
  if (choice.refused) {
    return Found{{}, {}, rule, true};
  }
  if (choice.label == '\0') {
    return std::nullopt;
  }
  return Found{choice.raw, std::string(1, choice.label), rule};
}

// What a box holds; nothing if that says nothing for this kind, such as a letter where a number is
// asked for.
std::optional<Found> ReadBox(const Box& box, const ExtractOptions& options, std::string_view rule) {
  if (options.kind == AnswerKind::kChoice) {
    if (StartsFormula(box.inner, options.options)) {
      return std::nullopt;
    }
    const Choice choice = ReadChoice(box.inner, options.options);
    return choice.refused ? std::nullopt : FromChoice(choice, rule);
  }
  std::optional<Value> value = ReadWhole(box.inner, options.kind);
  if (!value) {
    return std::nullopt;
  }
  return Found{box.inner, std::move(value->normal), rule};
}

// Joins the box at `last`, already read as `found`, with the ones before it that form a list with
// it. Equal ones count once: a repeated answer is no list.
Found JoinBoxes(const std::vector<Box>& boxes, size_t last, Found found, std::string_view text,
                const ExtractOptions& options) {
  const auto place = [text](const char* byte) { return static_cast<size_t>(byte - text.data()); };
  std::vector<std::string> members = {found.normal};
  size_t first = last;
  for (; first > 0; --first) {
    const Box& left = boxes[first - 1];
    const size_t gap = place(left.outer.data()) + left.outer.size();
    if (!JoinsList(Slice(text, gap, place(boxes[first].outer.data())))) {
      break;
    }
    std::optional<Found> member = ReadBox(left, options, found.rule);
    if (!member) {
      break;
    }
    members.push_back(std::move(member->normal));
  }
  const bool repeated = std::all_of(members.begin(), members.end(), [&](const std::string& member) {
    return member == members.front();
  });
  if (repeated) {
    return found;
  }
  found.normal.clear();
  for (size_t i = members.size(); i-- > 0;) {
    found.normal += members[i];
    if (i > 0) {
      found.normal += ", ";
    }
  }
  const Box& end = boxes[last];
  found.raw =
      Slice(text, place(boxes[first].outer.data()), place(end.outer.data()) + end.outer.size());
  found.rule = "box_list";
  return found;
}

// The last bold words of `line`, without the asterisks; empty if there are none.
std::string_view LastBold(std::string_view line) {
  const size_t close = line.rfind("**");
  if (close == std::string_view::npos || close < 2) {
    return {};
  }
  const size_t open = line.rfind("**", close - 2);
  if (open == std::string_view::npos) {
    return {};
  }
  return TrimSpace(Slice(line, open + 2, close));
}

// The number of `text` between marks of bold type, where only one stands there; else empty.
std::string_view OnlyBoldNumber(std::string_view text, std::string_view mark,
                                std::string_view end_mark) {
  std::string_view only;
  for (size_t open = text.find(mark); open != std::string_view::npos;) {
    const size_t close = text.find(end_mark, open + mark.size());
    if (close == std::string_view::npos) {
      break;
    }
    const std::string_view bold = Slice(text, open + mark.size(), close);
    constexpr size_t kLongest = 64;  // of a number with its unit
    const bool may_be_number = std::any_of(bold.begin(), bold.end(), IsDigit) &&
                               bold.size() < kLongest && !bold.ends_with(':');
    if (may_be_number && CanonicalNumber(NormalInteger(bold))) {
      if (!only.empty()) {
        return {};
      }
      only = bold;
    }
    open = text.find(mark, close + end_mark.size());
  }
  return only;
}

}  // namespace

std::optional<Found> FromBox(std::string_view text, const ExtractOptions& options) {
  const Boxes boxes = FindBoxes(text);
  for (size_t i = boxes.closed.size(); i-- > 0;) {
    std::optional<Found> found = ReadBox(boxes.closed[i], options, "box");
    if (!found) {
      continue;
    }
    if (options.kind != AnswerKind::kMath) {
      return found;
    }
    return JoinBoxes(boxes.closed, i, *std::move(found), text, options);
  }
  for (size_t i = boxes.unclosed.size(); i-- > 0;) {
    if (std::optional<Found> found = ReadBox(boxes.unclosed[i], options, "box_unclosed")) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<Found> FromHash(std::string_view text, const ExtractOptions& options) {
  const std::vector<std::string_view> lines = FilledLines(text);
  for (size_t i = lines.size(); i-- > 0;) {
    if (!lines[i].starts_with("####") || At(lines[i], 4) == '#') {
      continue;
    }
    const std::string_view rest = TrimSpace(lines[i].substr(4));
    if (options.kind == AnswerKind::kText) {
      return std::nullopt;
    }
    if (options.kind == AnswerKind::kChoice) {
      const Choice choice = LeadingChoice(rest, options.options);
      if (choice.label != '\0') {
        return FromChoice(choice, "hash");
      }
      continue;
    }
    std::string normal = NormalInteger(rest);
    if (CanonicalNumber(normal)) {
      return Found{rest, std::move(normal), "hash"};
    }
  }
  return std::nullopt;
}

std::optional<Found> FromLabel(std::string_view text, const ExtractOptions& options,
                               bool multiline) {
  const std::vector<Label> labels = FindLabels(text, options.kind);
  for (size_t i = labels.size(); i-- > 0;) {
    const Label& label = labels[i];
    if (label.value.empty()) {
      continue;
    }
    if (options.kind == AnswerKind::kChoice) {
      const Choice choice = ReadChoice(FirstSentence(label.value), options.options);
      if (std::optional<Found> found = FromChoice(choice, "label")) {
        return found;
      }
    } else if (options.kind == AnswerKind::kText) {
      const std::string_view raw = multiline && label.explicit_mark ? label.passage : label.value;
      std::string normal = NormalText(raw);
      if (!IsPlaceholder(normal)) {
        return Found{raw, std::move(normal), "label"};
      }
    } else if (std::optional<Value> value =
                   label.delimited ? ReadWhole(label.passage, options.kind)
                                   : ReadValue(label.value, options.kind, label.explicit_mark)) {
      return Found{value->raw, std::move(value->normal), "label"};
    }
  }
  return std::nullopt;
}

std::optional<Found> FromBold(std::string_view text, const ExtractOptions& options) {
  const std::string_view body = WithoutNotes(text);
  const std::vector<std::string_view> lines = FilledLines(body);
  if (lines.empty()) {
    return std::nullopt;
  }
  const bool number = options.kind == AnswerKind::kInteger || options.kind == AnswerKind::kMath;
  std::string_view bold = LastBold(lines.back());
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kEmphases = {
      {{"**", "**"}, {"__", "__"}, {"\\textbf{", "}"}}};
  for (const auto& [mark, end_mark] : kEmphases) {
    if (bold.empty() && number) {
      bold = OnlyBoldNumber(body, mark, end_mark);
    }
  }
  if (bold.empty() || bold.ends_with(':')) {
    return std::nullopt;
  }
  if (options.kind == AnswerKind::kChoice) {
    return FromChoice(LeadingChoice(bold, options.options), "bold");
  }
  if (options.kind == AnswerKind::kText) {
    if (bold.size() + 4 < lines.back().size() || IsPlaceholder(NormalText(bold))) {
      return std::nullopt;
    }
    return Found{bold, NormalText(bold), "bold"};
  }
  if (GoesOnComputing(body.substr(PlaceOf(bold, body) + bold.size()))) {
    return std::nullopt;
  }
  std::optional<Value> value = ReadValue(bold, options.kind, false);
  if (!value) {
    return std::nullopt;
  }
  return Found{value->raw, std::move(value->normal), "bold"};
}

Found Corrected(std::string_view text, Found found, const ExtractOptions& options) {
  const size_t end = PlaceOf(found.raw, text) + found.raw.size();
  const std::vector<std::string_view> values = FindCorrections(text.substr(end), options.kind);
  for (size_t i = values.size(); i-- > 0;) {
    if (options.kind == AnswerKind::kChoice) {
      const Choice choice = ReadChoice(FirstSentence(values[i]), options.options);
      if (choice.label != '\0') {
        return *FromChoice(choice, "correction");
      }
    } else if (options.kind != AnswerKind::kText) {
      std::optional<Value> value = ReadValue(values[i], options.kind, false);
      if (value) {
        return {value->raw, std::move(value->normal), "correction"};
      }
    }
  }
  return found;
}

namespace {

// The last formula or number, whichever ends later; a formula only for kMath.
std::optional<Found> FromLastValue(std::string_view text, const ExtractOptions& options) {
  const std::string_view number = LastNumber(text);
  if (options.kind == AnswerKind::kMath) {
    const std::vector<std::string_view> formulas = FindFormulas(text);
    const auto end_of = [](std::string_view part) { return part.data() + part.size(); };
    if (!formulas.empty() && (number.empty() || end_of(number) < end_of(formulas.back()))) {
      std::string normal = NormalMath(formulas.back());
      if (!IsPlaceholder(normal)) {
        return Found{formulas.back(), std::move(normal), "last_math"};
      }
    }
  }
  if (number.empty()) {
    return std::nullopt;
  }
  return Found{number, NormalInteger(number), "last_number"};
}

}  // namespace

std::optional<Found> FromFallback(std::string_view whole, const ExtractOptions& options) {
  const bool words = options.kind == AnswerKind::kText;
  const std::string_view text = words ? whole : WithoutNotes(whole);
  const std::vector<std::string_view> lines = FilledLines(text);
  if (lines.empty()) {
    return std::nullopt;
  }
  const std::string_view last = lines.back();
  const std::string_view rule = lines.size() == 1 ? "whole" : "last_line";
  if (words) {
    std::string normal = NormalText(last);
    if (IsPlaceholder(normal)) {
      return std::nullopt;
    }
    return Found{last, std::move(normal), rule};
  }
  if (options.kind == AnswerKind::kChoice) {
    if (auto found = FromChoice(LastMarkedChoice(last, options.options, true), "letter")) {
      return found;
    }
    const auto is_part = [](std::string_view line) {
      return At(line, 0) == '(' && IsLower(At(line, 1));
    };
    // Several lines "(a)", "(b)" are parts of a question.
    const bool parts = std::count_if(lines.begin(), lines.end(), is_part) > 1;
    if (auto found = FromChoice(LeadingChoice(last, options.options), rule); found && !parts) {
      return found;
    }
    return FromChoice(LastMarkedChoice(text, options.options), "letter");
  }
  const std::string_view counted =
      lines.size() == 1 ? NumberInWords(FirstSentence(last)) : std::string_view();
  if (!counted.empty() && FirstSentence(last).size() + 1 >= last.size()) {
    return Found{counted, NormalInteger(counted), rule};
  }
  if (lines.size() == 1) {
    const std::string_view leading = LeadingMath(last);
    std::string normal = Normal(last, options.kind);
    const bool all = leading.size() + 1 >= last.size();
    if (all && !IsPlaceholder(normal) &&
        (options.kind == AnswerKind::kMath || CanonicalNumber(normal))) {
      return Found{leading, std::move(normal), rule};
    }
  }
  if (std::optional<Found> found = FromLastValue(text, options)) {
    return found;
  }
  constexpr size_t kLongest = 200;  // of a sentence that states the answer
  const std::string_view sentence = FirstSentence(last);
  std::optional<Value> said =
      sentence.size() <= kLongest ? AfterVerb(sentence, options.kind) : std::nullopt;
  if (!said || !CanonicalNumber(said->normal)) {
    return std::nullopt;
  }
  return Found{said->raw, std::move(said->normal), "last_number"};
}

}  // namespace hyper::extract
