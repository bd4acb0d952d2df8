#include "src/extract/rules.h"

#include <algorithm>
#include <vector>

#include "src/extract/boxes.h"
#include "src/extract/choices.h"
#include "src/extract/labels.h"
#include "src/extract/normal.h"
#include "src/extract/numbers.h"
#include "src/extract/scan.h"
#include "src/extract/values.h"

namespace hyper::extract {
namespace {

std::optional<Found> FromChoice(const Choice& choice, std::string_view rule) {
  if (choice.refused) return Found{{}, {}, rule, true};
  if (choice.label == '\0') return std::nullopt;
  return Found{choice.raw, std::string(1, choice.label), rule};
}

// The normal form of a box's content, empty if the box says nothing for this kind.
std::optional<Found> ReadBox(const Box& box, const ExtractOptions& options, std::string_view rule) {
  if (options.kind == AnswerKind::kChoice) {
    const Choice choice = ReadChoice(box.inner, options.options);
    return choice.refused ? std::nullopt : FromChoice(choice, rule);
  }
  std::string normal = Normal(box.inner, options.kind);
  if (IsPlaceholder(normal)) return std::nullopt;
  return Found{box.inner, std::move(normal), rule};
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
    if (!JoinsList(Slice(text, gap, place(boxes[first].outer.data())))) break;
    std::optional<Found> member = ReadBox(left, options, found.rule);
    if (!member) break;
    members.push_back(std::move(member->normal));
  }
  const bool repeated = std::all_of(members.begin(), members.end(), [&](const std::string& member) {
    return member == members.front();
  });
  if (repeated) return found;
  found.normal.clear();
  for (size_t i = members.size(); i-- > 0;) {
    found.normal += members[i];
    if (i > 0) found.normal += ", ";
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
  if (close == std::string_view::npos || close < 2) return {};
  const size_t open = line.rfind("**", close - 2);
  if (open == std::string_view::npos) return {};
  return TrimSpace(Slice(line, open + 2, close));
}

}  // namespace

std::optional<Found> FromBox(std::string_view text, const ExtractOptions& options) {
  const Boxes boxes = FindBoxes(text);
  for (size_t i = boxes.closed.size(); i-- > 0;) {
    std::optional<Found> found = ReadBox(boxes.closed[i], options, "box");
    if (!found) continue;
    if (options.kind != AnswerKind::kMath) return found;
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
    if (!lines[i].starts_with("####") || At(lines[i], 4) == '#') continue;
    const std::string_view rest = TrimSpace(lines[i].substr(4));
    if (options.kind == AnswerKind::kText) return std::nullopt;
    if (options.kind == AnswerKind::kChoice) {
      const Choice choice = LeadingChoice(rest, options.options);
      if (choice.label != '\0') return FromChoice(choice, "hash");
      continue;
    }
    std::string normal = NormalInteger(rest);
    if (CanonicalNumber(normal)) return Found{rest, std::move(normal), "hash"};
  }
  return std::nullopt;
}

std::optional<Found> FromLabel(std::string_view text, const ExtractOptions& options,
                               bool multiline) {
  const std::vector<Label> labels = FindLabels(text, options.kind);
  for (size_t i = labels.size(); i-- > 0;) {
    const Label& label = labels[i];
    if (label.value.empty()) continue;
    if (options.kind == AnswerKind::kChoice) {
      const Choice choice = ReadChoice(FirstSentence(label.value), options.options);
      if (std::optional<Found> found = FromChoice(choice, "label")) return found;
    } else if (options.kind == AnswerKind::kText) {
      const std::string_view raw = multiline && label.explicit_mark ? label.passage : label.value;
      std::string normal = NormalText(raw);
      if (!IsPlaceholder(normal)) return Found{raw, std::move(normal), "label"};
    } else if (std::optional<Value> value =
                   label.delimited ? ReadWhole(label.passage, options.kind)
                                   : ReadValue(label.value, options.kind, label.explicit_mark)) {
      return Found{value->raw, std::move(value->normal), "label"};
    }
  }
  return std::nullopt;
}

std::optional<Found> FromBold(std::string_view text, const ExtractOptions& options) {
  const std::vector<std::string_view> lines = FilledLines(text);
  if (lines.empty()) return std::nullopt;
  const std::string_view bold = LastBold(lines.back());
  if (bold.empty() || bold.ends_with(':')) return std::nullopt;
  switch (options.kind) {
    case AnswerKind::kChoice:
      return FromChoice(LeadingChoice(bold, options.options), "bold");
    case AnswerKind::kText:
      if (bold.size() + 4 < lines.back().size() || IsPlaceholder(NormalText(bold))) {
        return std::nullopt;
      }
      return Found{bold, NormalText(bold), "bold"};
    case AnswerKind::kInteger:
    case AnswerKind::kMath:
      break;
  }
  std::optional<Value> value = ReadValue(bold, options.kind, false);
  if (!value) return std::nullopt;
  return Found{value->raw, std::move(value->normal), "bold"};
}

namespace {

// The last formula or number, whichever ends later; a formula only for kMath.
std::optional<Found> FromLastValue(std::string_view text, const ExtractOptions& options) {
  const std::vector<std::string_view> numbers = FindNumbers(text);
  if (options.kind == AnswerKind::kMath) {
    const std::vector<std::string_view> formulas = FindFormulas(text);
    const auto end_of = [](std::string_view part) { return part.data() + part.size(); };
    if (!formulas.empty() &&
        (numbers.empty() || end_of(numbers.back()) < end_of(formulas.back()))) {
      std::string normal = NormalMath(formulas.back());
      if (!IsPlaceholder(normal)) return Found{formulas.back(), std::move(normal), "last_math"};
    }
  }
  if (numbers.empty()) return std::nullopt;
  return Found{numbers.back(), NormalInteger(numbers.back()), "last_number"};
}

}  // namespace

std::optional<Found> FromFallback(std::string_view text, const ExtractOptions& options) {
  const std::vector<std::string_view> lines = FilledLines(text);
  if (lines.empty()) return std::nullopt;
  const std::string_view last = lines.back();
  const std::string_view rule = lines.size() == 1 ? "whole" : "last_line";
  if (options.kind == AnswerKind::kText) {
    std::string normal = NormalText(last);
    if (IsPlaceholder(normal)) return std::nullopt;
    return Found{last, std::move(normal), rule};
  }
  if (options.kind == AnswerKind::kChoice) {
    if (auto found = FromChoice(LeadingChoice(last, options.options), rule)) return found;
    return FromChoice(LastMarkedChoice(text, options.options), "letter");
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
  return FromLastValue(text, options);
}

}  // namespace hyper::extract
