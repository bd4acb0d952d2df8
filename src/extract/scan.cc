#include "src/extract/scan.h"

#include <algorithm>
#include <array>

#include "src/base/utf8.h"

namespace hyper::extract {

bool StandsAtAnyCase(std::string_view text, size_t at, std::string_view lower) {
  return at <= text.size() && EqualsAnyCase(text.substr(at, lower.size()), lower);
}

bool EqualsAnyCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (ToLower(text[i]) != lower[i]) {
      return false;
    }
  }
  return true;
}

size_t CharacterLength(std::string_view text, size_t at) {
  return std::max<size_t>(base::CharacterAt(text, at).length, 1);
}

size_t MinusLength(std::string_view text, size_t at) {
  if (At(text, at) == '-') {
    return 1;
  }
  for (std::string_view sign : {"−", "–"}) {
    if (StandsAt(text, at, sign)) {
      return sign.size();
    }
  }
  return 0;
}

std::string_view TrimSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && IsSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) {
    ++at;
  }
  return at;
}

std::vector<std::string_view> FilledLines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = TrimSpace(Slice(text, begin, end));
    if (!line.empty()) {
      lines.push_back(line);
    }
    begin = end + 1;
  }
  return lines;
}

size_t AfterCommand(std::string_view text, size_t at) {
  size_t end = at + 1;
  if (end >= text.size()) {
    return text.size();
  }
  if (!IsLetter(text[end])) {
    return end + 1;
  }
  while (end < text.size() && IsLetter(text[end])) {
    ++end;
  }
  return end;
}

size_t ClosingBrace(std::string_view text, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

namespace {

// State of FindFormulas: where the formula that is being read began, and with which delimiter.
struct OpenFormula {
  size_t begin = 0;
  char delimiter = '\0';  // '$', 'D' for $$, '(' or '[', NUL for none
};

bool ClosesDollar(std::string_view text, size_t open, size_t at) {
  if (IsDigit(At(text, at + 1))) {
    return false;
  }
  const bool spaced = IsSpace(At(text, open + 1));
  return IsSpace(text[at - 1]) == spaced && at > open + 1;
}

}  // namespace

std::vector<std::string_view> FindFormulas(std::string_view text) {
  std::vector<std::string_view> formulas;
  OpenFormula open;
  const auto close = [&](size_t end) {
    formulas.push_back(Slice(text, open.begin, end));
    open = {};
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = At(text, i + 1);
    if (text[i] == '\\') {
      if ((next == ')' && open.delimiter == '(') || (next == ']' && open.delimiter == '[')) {
        close(i + 2);
      } else if ((next == '(' || next == '[') && open.delimiter == '\0') {
        open = {i, next};
      }
      ++i;
    } else if (text[i] == '$' && next == '$') {
      if (open.delimiter == 'D') {
        close(i + 2);
      } else if (open.delimiter == '\0' || open.delimiter == '$') {
        open = {i, 'D'};
      }
      ++i;
    } else if (text[i] == '$' && (open.delimiter == '\0' || open.delimiter == '$')) {
      if (open.delimiter == '$' && ClosesDollar(text, open.begin, i)) {
        close(i + 1);
      } else {
        open = {i, '$'};
      }
    } else if (text[i] == '\n' && next == '\n' && open.delimiter == '$') {
      open = {};
    }
  }
  return formulas;
}

bool JoinsList(std::string_view gap) {
  static constexpr std::array<std::string_view, 16> kExplicit = {",",
                                                                 ";",
                                                                 "&",
                                                                 "\\quad",
                                                                 "\\qquad",
                                                                 "\\text{ and }",
                                                                 "and",
                                                                 "\\text{ or }",
                                                                 "or",
                                                                 "\\text{and}",
                                                                 "\\text{or}",
                                                                 "\\mathrm{and}",
                                                                 "\\mathrm{or}",
                                                                 "\\text{ and}",
                                                                 "\\text{ or}",
                                                                 "、"};
  static constexpr std::array<std::string_view, 11> kNeutral = {
      "\\(", "\\)", "\\[", "\\]", "\\,", "\\;", "\\ ", "\\!", "$", "*", "~"};
  bool joined = false;
  for (size_t i = 0; i < gap.size();) {
    size_t length = IsSpace(gap[i]) ? 1 : 0;
    for (std::string_view word : kExplicit) {
      if (length == 0 && StandsAt(gap, i, word)) {
        length = word.size();
        joined = true;
      }
    }
    for (std::string_view word : kNeutral) {
      if (length == 0 && StandsAt(gap, i, word)) {
        length = word.size();
      }
    }
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return joined;
}

}  // namespace hyper::extract
