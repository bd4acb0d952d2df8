// Words as answers.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "src/answer/compare/compare.h"
#include "src/answer/read/names.h"

namespace hyper::answer {
namespace {

// Words for one thing, each with spaces around.
struct Synonyms {
  std::string_view name;
  std::string_view words;  // separated by "|"
};
constexpr Synonyms kSynonyms[] = {
    {"no solution",
     "|no solutions|none|empty set|no real solution|no real solutions|there is no solution|"
     "there are no solutions|"},
    {"all real numbers", "|all reals|real numbers|reals|any real number|all real number|"},
    {"dne", "|does not exist|doesn't exist|limit does not exist|d.n.e|d.n.e.|it does not exist|"},
    {"monday", "|mon|"},
    {"tuesday", "|tue|tues|"},
    {"wednesday", "|wed|"},
    {"thursday", "|thu|thur|thurs|"},
    {"friday", "|fri|"},
    {"saturday", "|sat|"},
    {"sunday", "|sun|"},
};

// Of the words of one line at most one applies.
constexpr std::string_view kExclusive[] = {
    "|yes|no|",
    "|true|false|",
    "|even|odd|",
    "|positive|negative|zero|",
    "|increasing|decreasing|constant|",
    "|convergent|divergent|",
    "|converges|diverges|",
    "|rational|irrational|",
    "|acute|obtuse|",
    "|ellipse|parabola|hyperbola|line|",
    "|maximum|minimum|",
    "|clockwise|counterclockwise|",
    "|north|south|east|west|",
    "|spring|summer|autumn|winter|",
    "|monday|tuesday|wednesday|thursday|friday|saturday|sunday|",
    "|january|february|march|april|may|june|july|august|september|october|november|december|",
    "|red|orange|yellow|green|blue|purple|black|white|brown|",
};

bool Lists(std::string_view list, std::string_view words) {
  return words.find('|') == words.npos &&
         list.find("|" + std::string(words) + "|") != std::string_view::npos;
}

// Without articles in front and with the first of its synonyms.
std::string Plain(std::string_view words) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view article : {"a ", "an ", "the "}) {
      if (words.substr(0, article.size()) != article) {
        continue;
      }
      words.remove_prefix(article.size());
      more = true;
    }
  }
  for (const Synonyms& synonyms : kSynonyms) {
    if (Lists(synonyms.words, words)) {
      return std::string(synonyms.name);
    }
  }
  return std::string(words);
}

// Whether a word of the tables says something that is no number.
bool SaysNoNumber(std::string_view words) {
  return words == "dne" || (words != "zero" &&
                            std::any_of(std::begin(kExclusive), std::end(kExclusive),
                                        [&](std::string_view line) { return Lists(line, words); }));
}

}  // namespace

Verdict Comparer::CompareTexts(NodeId a, NodeId b) {
  if (KindOf(a) != Kind::kText) {
    std::swap(a, b);
  }
  const std::string text = Plain(tree_.at(a).text);
  const Node other = tree_.at(b);
  if (other.kind == Kind::kText || other.kind == Kind::kSymbol) {
    const bool reals = text == "all real numbers" && other.text == "bbR";
    const std::string words = Plain(LowerCase(other.text));
    if (text == words || reals) {
      return Say(Verdict::kEqual, "the same words");
    }
    const long number = NumberOfWord(text);
    const bool numbers = number >= 0 && NumberOfWord(words) >= 0;
    const bool exclusive =
        std::any_of(std::begin(kExclusive), std::end(kExclusive),
                    [&](std::string_view line) { return Lists(line, text) && Lists(line, words); });
    return numbers || exclusive ? Say(Verdict::kNotEqual, "different words")
                                : Say(Verdict::kUndecided, "words that may mean the same");
  }
  if (const long number = NumberOfWord(text); number >= 0) {
    return Compare(tree_.AddNumber(Rational(number)), b);
  }
  if (text == "no solution" && other.kind == Kind::kSet) {
    return other.args.empty() ? Say(Verdict::kEqual, "both are the empty set")
                              : Say(Verdict::kNotEqual, "only one side is the empty set");
  }
  if (text == "all real numbers") {
    return Compare(tree_.AddText(Kind::kSymbol, "bbR"), b);
  }
  if (other.kind == Kind::kNumber && SaysNoNumber(text)) {
    return Say(Verdict::kNotEqual, "a word against a number");
  }
  return Say(Verdict::kUndecided, "words against mathematics");
}

}  // namespace hyper::answer
