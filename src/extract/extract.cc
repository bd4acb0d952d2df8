#include "hyper/extract.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/extract/boxes.h"
#include "src/extract/numbers.h"
#include "src/extract/rules.h"
#include "src/extract/scan.h"

namespace hyper {
namespace {

using extract::Found;

// A block of content, its last line "Confidence: 85%" read and cut off.
struct Body {
  std::string_view text;
  std::optional<double> confidence_percent;
  // `text` up to a box that its end cuts off: what the rules for other answers may read.
  std::string_view before_cut;
};

// The number behind "Confidence:" in percent; a decimal from 0 to 1 without a percent sign is a
// share of one.
std::optional<double> ReadConfidence(std::string_view line) {
  const std::vector<std::string_view> numbers = extract::FindNumbers(line);
  if (numbers.empty()) {
    return std::nullopt;
  }
  const std::optional<std::string> canonical = extract::CanonicalNumber(numbers.front());
  if (!canonical || canonical->size() > 8) {
    return std::nullopt;
  }
  double value = 0;
  double scale = 0;
  for (const char c : *canonical) {
    if (c == '.') {
      scale = 1;
    } else if (!extract::IsDigit(c)) {
      return std::nullopt;
    } else {
      value = value * 10 + (c - '0');
      scale *= 10;
    }
  }
  if (scale > 0) {
    value /= scale;
  }
  const bool share = numbers.front().find('.') != std::string_view::npos && value <= 1 &&
                     line.find('%') == std::string_view::npos;
  if (share) {
    value *= 100;
  }
  if (value > 100) {
    return std::nullopt;
  }
  return value;
}

// `content` without special tokens that the model's output may end with: <|im_end|>, </s>.
std::string_view CutSpecialTokens(std::string_view content) {
  constexpr size_t kLongest = 32;
  constexpr std::array<std::string_view, 5> kNames = {"/s", "eos", "end_of_turn", "pad", "end"};
  while (content.ends_with('>')) {
    const size_t from = content.size() > kLongest ? content.size() - kLongest : 0;
    const size_t open = content.substr(from).rfind('<');
    if (open == std::string_view::npos) {
      break;
    }
    const std::string_view name = extract::Slice(content, from + open + 1, content.size() - 1);
    const bool barred = name.size() > 2 && name.starts_with('|') && name.ends_with('|') &&
                        name.find("_of_box") == std::string_view::npos;  // no end, but an answer
    if (!barred && !extract::IsOneOf(name, kNames)) {
      break;
    }
    content = extract::TrimSpace(content.substr(0, from + open));
  }
  return content;
}

Body CutConfidence(std::string_view content) {
  content = CutSpecialTokens(content);
  Body body{content, std::nullopt, {}};
  const size_t line_break = content.rfind('\n');
  const size_t begin = line_break == std::string_view::npos ? 0 : line_break + 1;
  const std::string_view line = content.substr(begin);
  const size_t word = std::min(line.find_first_not_of("*_# \t"), line.size());
  constexpr std::string_view kWord = "confidence";
  if (!extract::StandsAtAnyCase(line, word, kWord)) {
    return body;
  }
  if (line.find(':') == std::string_view::npos) {
    return body;
  }
  body.text = extract::TrimSpace(content.substr(0, begin));
  body.confidence_percent = ReadConfidence(line.substr(word + kWord.size()));
  return body;
}

// What the rules of one pass are applied to, last block first.
struct Search {
  std::vector<Body> bodies;
  const ExtractOptions& options;
  bool explicit_only = false;  // in reasoning: only answers that are announced as such
};

bool IsCut(const Body& body) { return body.before_cut.size() < body.text.size(); }

// Tries a rule on each block, last block first.
template <class Rule>
std::optional<Found> OnEach(const Search& search, Rule rule) {
  for (auto body = search.bodies.rbegin(); body != search.bodies.rend(); ++body) {
    if (std::optional<Found> found = rule(*body)) {
      return found;
    }
  }
  return std::nullopt;
}

// Tries rule after rule, each on all blocks: a box in an early block outranks a guess in the last.
std::optional<Found> Run(const Search& search) {
  const ExtractOptions& options = search.options;
  const auto label = [&] {
    return OnEach(search, [&](const Body& body) {
      return extract::FromLabel(body.before_cut, options, body.confidence_percent.has_value());
    });
  };
  const auto on_text = [&](auto rule) {
    return OnEach(search, [&](const Body& body) { return rule(body.before_cut, options); });
  };
  std::optional<Found> box =
      OnEach(search, [&](const Body& body) { return extract::FromBox(body.text, options); });
  if (box) {
    if (options.box_or_label == BoxOrLabel::kBox) {
      return box;
    }
    std::optional<Found> later = label();
    // Both views lie in the text that is searched.
    const bool behind = later && later->raw.data() >= box->raw.data() + box->raw.size();
    return behind ? later : box;
  }
  if (auto found = on_text(extract::FromHash)) {
    return found;
  }
  if (auto found = label()) {
    return found;
  }
  if (search.explicit_only) {
    return std::nullopt;
  }
  if (auto found = on_text(extract::FromBold)) {
    return found;
  }
  if (!options.fallbacks) {
    return std::nullopt;
  }
  return OnEach(search, [&](const Body& body) {
    // Words before a box that was cut off announce it.
    const bool announces = options.kind == AnswerKind::kText && IsCut(body);
    return announces ? std::nullopt : extract::FromFallback(body.before_cut, options);
  });
}

// What Run finds, or what the text behind it puts in its place.
std::optional<Found> RunAndCorrect(const Search& search) {
  std::optional<Found> found = Run(search);
  if (!found || found->refused) {
    return found;
  }
  for (const Body& body : search.bodies) {
    const bool inside = found->raw.data() >= body.text.data() &&
                        found->raw.data() < body.text.data() + body.text.size();
    if (!inside) {
      continue;
    }
    found = extract::Corrected(body.text, *std::move(found), search.options);
    found = extract::InItsLanguage(body.text, *std::move(found), search.options.kind);
    break;
  }
  return found;
}

std::vector<Body> Bodies(std::string_view text, const std::vector<TextSpan>& spans, bool finished) {
  std::vector<Body> bodies;
  bodies.reserve(spans.size());
  for (const TextSpan& span : spans) {
    Body body = CutConfidence(extract::Slice(text, span.begin, span.end));
    const bool at_end = &span == &spans.back();
    body.before_cut = body.text.substr(0, extract::CutBox(body.text, finished || !at_end));
    bodies.push_back(body);
  }
  return bodies;
}

// Whether `text` ends inside the box that the answer was read from: a box without its closing
// brace, or one without braces ("\\boxed 4"), and nothing behind the answer.
bool EndsInBox(std::string_view text, const Found& found, size_t end) {
  const bool closed_list =
      found.rule == "box_list" && (text[end - 1] == '}' || text[end - 1] == '>');
  return found.rule.starts_with("box") && !closed_list &&
         extract::TrimSpace(text.substr(end)).empty();
}

// Whether the end of an unfinished text may have cut the answer short: a guess, or an answer with
// nothing behind it but what it could go on with: no word and no end of a sentence.
bool MayBeCut(std::string_view text, const Found& found, size_t end) {
  if (found.rule == "box" || found.rule == "box_list") {
    return EndsInBox(text, found, end);
  }
  constexpr std::array<std::string_view, 4> kAnnounced = {"hash", "label", "bold", "correction"};
  if (!extract::IsOneOf(found.rule, kAnnounced)) {
    return true;
  }
  const std::string_view rest = text.substr(end);
  const size_t mark = rest.find_first_not_of(".,");
  if (mark == std::string_view::npos) {
    return true;
  }
  if (mark > 0 && extract::IsSpace(rest[mark])) {
    return false;
  }
  for (size_t i = mark; i < rest.size(); ++i) {
    if (rest[i] == '\n' || extract::IsLetter(rest[i]) || !extract::IsAscii(rest[i])) {
      return false;
    }
    if (rest[i] == '\\') {
      i = extract::AfterCommand(rest, i) - 1;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> ParseChoiceOptions(std::string_view list) {
  std::string labels;
  const auto is_label = [](char c) { return extract::IsLetter(c) || extract::IsDigit(c); };
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',' && i > 0 && i + 1 < list.size()) {
      continue;
    }
    if (!is_label(list[i])) {
      return std::nullopt;
    }
    const char first = extract::ToUpper(list[i]);
    char last = first;
    if (extract::At(list, i + 1) == '-') {
      last = extract::ToUpper(extract::At(list, i + 2));
      if (!is_label(last) || extract::IsDigit(first) != extract::IsDigit(last)) {
        return std::nullopt;
      }
      i += 2;
    }
    if (last < first) {
      return std::nullopt;
    }
    for (char label = first; label <= last; ++label) {
      if (labels.find(label) != std::string::npos) {
        return std::nullopt;
      }
      labels += label;
    }
  }
  if (labels.empty()) {
    return std::nullopt;
  }
  return labels;
}

Extraction ExtractAnswer(std::string_view text, const ExtractOptions& options) {
  const ReasoningSplit split = SplitReasoning(text, options.think_tags, options.opened_by_template);
  Extraction result;
  Search search{Bodies(text, split.content, options.finished), options, false};
  for (const Body& body : search.bodies) {
    if (body.confidence_percent) {
      result.confidence_percent = body.confidence_percent;
    }
  }
  std::optional<Found> found = RunAndCorrect(search);
  bool out_of_reasoning = false;
  if (!found && options.reasoning_answers != ReasoningAnswers::kIgnored) {
    search.bodies = Bodies(text, split.reasoning, options.finished);
    search.explicit_only = true;
    found = RunAndCorrect(search);
    out_of_reasoning = true;
  }
  if (!found || found->refused) {
    return result;
  }
  result.answer = std::move(found->normal);
  result.raw = found->raw;
  result.begin = static_cast<size_t>(found->raw.data() - text.data());
  result.end = result.begin + found->raw.size();
  result.rule = found->rule;
  // Where a box was begun and cut off, what stands before it is not the answer that was meant.
  const bool box = found->rule.starts_with("box");
  const bool before_cut_box =
      !box && std::any_of(search.bodies.begin(), search.bodies.end(), IsCut);
  result.cut_box = !options.finished && EndsInBox(text, *found, result.end);
  result.tentative =
      (out_of_reasoning && options.reasoning_answers == ReasoningAnswers::kTentative) ||
      before_cut_box || (!options.finished && MayBeCut(text, *found, result.end));
  return result;
}

}  // namespace hyper
