#include "src/extract/labels.h"

#include <algorithm>
#include <array>

#include "src/extract/label_words.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// A phrase as found: where it begins and where its value begins.
struct Hit {
  size_t begin = 0;
  size_t value = 0;
  bool explicit_mark = false;
};

bool IsLetterByte(char c) { return IsLetter(c) || !IsAscii(c); }

// Length of the entry of `list` that stands at `at`, 0 if none does.
template <class List>
size_t LengthOfOne(const List& list, std::string_view text, size_t at) {
  for (std::string_view entry : list) {
    if (StandsAt(text, at, entry)) {
      return entry.size();
    }
  }
  return 0;
}

constexpr std::array<std::string_view, 5> kEmphasisTags = {"<b>", "<i>", "<u>", "<em>", "<strong>"};

// Length of the words struck out at `at` ("~~41~~"), 0 if there are none.
size_t StruckOutLength(std::string_view text, size_t at) {
  constexpr std::string_view kMark = "~~";
  constexpr size_t kLongest = 64;
  if (!StandsAt(text, at, kMark)) {
    return 0;
  }
  const size_t close = text.substr(at + kMark.size(), kLongest).find(kMark);
  return close == kNone ? 0 : close + 2 * kMark.size();
}

// Markdown, quotes and closed LaTeX groups that may stand around a label or before its value, and
// words struck out.
size_t SkipDecoration(std::string_view text, size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (std::string_view("*_\"' \t}<~").find(c) == kNone) {
      break;
    }
    size_t length = 1;
    if (c == '<') {
      length = LengthOfOne(kEmphasisTags, text, at);
    } else if (c == '~') {
      length = StruckOutLength(text, at);
    }
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

size_t WordEnd(std::string_view text, size_t at) {
  while (at < text.size() && (IsLetterByte(text[at]) || IsDigit(text[at]) || text[at] == '\'')) {
    ++at;
  }
  return at;
}

// Words between "is" and the answer that say nothing about it: "is therefore approximately".
size_t SkipFillers(std::string_view text, size_t at, AnswerKind kind) {
  constexpr int kMaxFillers = 8;   // bounds the work where labels follow each other closely
  constexpr size_t kLongest = 32;  // longer than any filler, so that no word is read whole
  for (int fillers = 0; fillers < kMaxFillers; ++fillers) {
    at = SkipDecoration(text, at);
    if (const size_t mark = LengthOfOne(kInnerMarks, text, at); mark > 0) {
      at += mark;
      continue;
    }
    const size_t end = WordEnd(text.substr(0, at + kLongest), at);
    const std::string_view word = Slice(text, at, end);
    if (kind == AnswerKind::kText) {
      return at;  // any word may be part of the answer
    }
    const bool filler =
        IsOneOf(word, kFillers) || (kind == AnswerKind::kChoice && IsOneOf(word, kOptionWords));
    if (end == at || !filler) {
      return at;
    }
    at = end;
  }
  return at;
}

// Whether a number or formula is denied: "the answer is not 12". Choices see to that themselves.
bool IsDenied(std::string_view text, size_t at, AnswerKind kind) {
  if (kind != AnswerKind::kInteger && kind != AnswerKind::kMath) {
    return false;
  }
  if (!StandsAtAnyCase(text, at, "not ")) {
    return false;
  }
  const char value = At(text, at + 4);
  return IsDigit(value) || value == '$' || value == '\\' || value == '-';
}

// The value of an English label that ends at `at`: after a mark, or after "is" or its like, with a
// few words in between ("answer to the question is"). kNone if nothing announces a value.
Hit AfterEnglishLabel(std::string_view text, size_t at, AnswerKind kind) {
  constexpr int kMaxWords = 8;
  for (int words = 0; words <= kMaxWords; ++words) {
    at = SkipDecoration(text, at);
    while (At(text, at) == '(' || At(text, at) == ')') {
      at = SkipDecoration(text, at + 1);
    }
    if (const size_t mark = LengthOfOne(kMarks, text, at); mark > 0) {
      return {0, SkipFillers(text, at + mark, kind), true};
    }
    const size_t end = WordEnd(text, at);
    const std::string_view word = Slice(text, at, end);
    if (IsOneOf(word, kEnglishVerbs)) {
      const size_t value = SkipFillers(text, end, kind);
      return {0, IsDenied(text, value, kind) ? kNone : value, false};
    }
    if (word.empty() || (words == 0 && !IsOneOf(word, kBridges))) {
      break;
    }
    at = end;
  }
  return {0, kNone, false};
}

// The label word at `at`, or an empty one. ASCII words must stand alone; other scripts join words.
LabelWord WordAt(std::string_view text, size_t at, AnswerKind kind) {
  int place = kLabelIndex.first[static_cast<unsigned char>(text[at])];
  if (place < 0) {
    return {};
  }
  const bool inside_word = at > 0 && (IsLetter(text[at - 1]) || IsDigit(text[at - 1]));
  if (inside_word && IsAscii(text[at])) {
    return {};
  }
  for (; place >= 0; place = kLabelIndex.next[place]) {
    const LabelWord& label = kLabelWords[place];
    if ((label.choice_only && kind != AnswerKind::kChoice) ||
        !StandsAtAnyCase(text, at, label.word)) {
      continue;
    }
    const bool goes_on = IsLetter(At(text, at + label.word.size()));
    if (label.english || !goes_on || !IsAscii(label.word.back())) {
      return label;
    }
  }
  return {};
}

// The same for other languages, some of which write without blanks: the first mark, particle or
// verb within a short distance in the sentence, before the next label.
Hit AfterOtherLabel(std::string_view text, size_t at, AnswerKind kind) {
  constexpr size_t kReach = 40;
  const size_t end = std::min(text.size(), at + kReach);
  bool word_starts = false;
  while (at < end) {
    if (!WordAt(text, at, kind).word.empty()) {
      break;
    }
    // Most bytes start neither a mark nor a particle nor a verb; the lists are long.
    const bool may_matter = kStopBytes[static_cast<unsigned char>(text[at])];
    if (may_matter && !IsLetter(text[at])) {
      if (const size_t mark = LengthOfOne(kMarks, text, at); mark > 0) {
        return {0, SkipFillers(text, at + mark, kind), true};
      }
      if (const size_t particle = LengthOfOne(kParticles, text, at); particle > 0) {
        return {0, SkipFillers(text, at + particle, kind), false};
      }
      if (LengthOfOne(kSentenceEnds, text, at) > 0) {
        break;
      }
    }
    if (may_matter && word_starts) {
      const size_t word_end = WordEnd(text.substr(0, end), at);
      if (IsOneOf(Slice(text, at, word_end), kOtherVerbs)) {
        return {0, SkipFillers(text, word_end, kind), false};
      }
    }
    word_starts = text[at] == ' ';
    at += CharacterLength(text, at);
  }
  return {0, kNone, false};
}

// Whether the label [begin, end) is alone on its line, but for markdown and "the final".
bool IsHeading(std::string_view text, size_t begin, size_t end) {
  end = SkipDecoration(text, end);
  if (end < text.size() && text[end] != '\n' && text[end] != '\r') {
    return false;
  }
  size_t line = begin;
  constexpr size_t kLongestLead = 32;
  while (line > 0 && text[line - 1] != '\n' && begin - line < kLongestLead) {
    --line;
  }
  if (line > 0 && text[line - 1] != '\n') {
    return false;
  }
  bool decorated = false;
  for (size_t i = line; i < begin;) {
    if (text[i] == '#' || text[i] == '*' || text[i] == '_' || text[i] == ' ') {
      decorated = decorated || text[i] != ' ';
      ++i;
      continue;
    }
    const size_t word_end = WordEnd(text, i);
    if (!IsOneOf(Slice(text, i, word_end), kHeadingLeads)) {
      return false;
    }
    i = word_end;
  }
  return decorated || line < begin;
}

// Whether a verb's "to" stands before the label: "to answer the question".
bool IsVerb(std::string_view text, size_t begin) {
  return begin >= 3 && StandsAtAnyCase(text, begin - 3, "to ");
}

// The hit of the label word [begin, end), `value` kNone if it announces nothing.
Hit ReadLabel(std::string_view text, size_t begin, size_t end, bool english, AnswerKind kind) {
  size_t at = end;
  if (english) {
    if (StandsAtAnyCase(text, at, "(s)")) {
      at += 3;
    }
    if (ToLower(At(text, at)) == 's') {
      ++at;
    }
    if (IsLetterByte(At(text, at)) || IsDigit(At(text, at))) {
      return {begin, kNone, false};
    }
  }
  Hit hit = english ? AfterEnglishLabel(text, at, kind) : AfterOtherLabel(text, at, kind);
  if (hit.value != kNone && english && !hit.explicit_mark && IsVerb(text, begin)) {
    hit.value = kNone;
  }
  if (hit.value == kNone && IsHeading(text, begin, at)) {
    hit.value = SkipDecoration(text, at);
    hit.explicit_mark = true;
  }
  hit.begin = begin;
  return hit;
}

std::vector<Hit> FindHits(std::string_view text, AnswerKind kind) {
  std::vector<Hit> hits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && StandsAtAnyCase(text, i, "<answer>")) {
      hits.push_back({i, i + 8, true});
      i += 7;
      continue;
    }
    const LabelWord label = WordAt(text, i, kind);
    if (label.word.empty()) {
      continue;
    }
    const size_t end = i + label.word.size();
    const Hit hit = ReadLabel(text, i, end, label.english, kind);
    if (hit.value != kNone) {
      hits.push_back(hit);
    }
    i = end - 1;
  }
  return hits;
}

// `value` up to the quotation mark that closes it, if it ends there: {"answer": "B", "why": ...}.
std::string_view BeforeQuote(std::string_view value) {
  const size_t quote = value.find('"');
  if (quote == kNone) {
    return value;
  }
  const char after = At(value, SkipSpace(value, quote + 1));
  return after == ',' || after == '}' || after == '.' || after == '\0' ? value.substr(0, quote)
                                                                       : value;
}

// `value` up to the brace that closes nothing in it: {"answer": 42}.
std::string_view BeforeLooseBrace(std::string_view value) {
  int depth = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] == '{') {
      ++depth;
    } else if (value[i] == '}' && --depth < 0) {
      return TrimSpace(value.substr(0, i));
    }
  }
  return value;
}

// `value` up to the emphasis that closes what the byte before it opened: of "42*.**" behind an
// asterisk "42".
std::string_view BeforeEmphasisEnd(std::string_view value, char before) {
  if (before == '>') {
    return value.substr(0, value.find("</"));
  }
  if (before != '*' && before != '_') {
    return value;
  }
  for (size_t i = 1; i < value.size(); ++i) {
    const char next = At(value, i + 1);
    if (value[i] == before && !IsLetter(next) && !IsDigit(next) && !IsSpace(value[i - 1])) {
      return value.substr(0, i);
    }
  }
  return value;
}

// The line at `begin`, or the displayed formula or <answer> block that begins there.
std::string_view ValueAt(std::string_view text, size_t begin, size_t limit) {
  begin = SkipSpace(text.substr(0, limit), begin);
  std::string_view close = "\n";
  size_t from = begin;
  if (StandsAt(text, begin, "\\[")) {
    close = "\\]";
  }
  if (StandsAt(text, begin, "$$")) {
    close = "$$";
    from = begin + 2;
  }
  size_t end = text.substr(0, limit).find(close, from);
  if (end == kNone && close != "\n") {
    close = "\n";
    end = text.substr(0, limit).find(close, from);
  }
  end = end == kNone ? limit : end + (close == "\n" ? 0 : close.size());
  std::string_view value = Slice(text, begin, end);
  value = TrimSpace(value.substr(0, value.find("</answer>")));
  value = BeforeEmphasisEnd(value, begin > 0 ? text[begin - 1] : '\0');
  return begin > 0 && text[begin - 1] == '"' ? BeforeQuote(value) : BeforeLooseBrace(value);
}

}  // namespace

std::vector<Label> FindLabels(std::string_view text, AnswerKind kind) {
  const std::vector<Hit> hits = FindHits(text, kind);
  std::vector<Label> labels;
  labels.reserve(hits.size());
  for (size_t i = 0; i < hits.size(); ++i) {
    const size_t limit = i + 1 < hits.size() ? hits[i + 1].begin : text.size();
    const size_t begin = std::min(hits[i].value, limit);
    std::string_view passage = Slice(text, begin, limit);
    const size_t close = passage.find("</answer>");
    const bool delimited = close != kNone && text[hits[i].begin] == '<';
    passage = TrimSpace(passage.substr(0, close));
    labels.push_back(
        {ValueAt(text, begin, limit), passage, delimited, hits[i].begin, hits[i].explicit_mark});
  }
  return labels;
}

}  // namespace hyper::extract
