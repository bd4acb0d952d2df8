#include "src/extract/prose.h"

#include <algorithm>
#include <array>

#include "src/extract/numbers.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

constexpr std::array<std::string_view, 19> kNotes = {
    "note",     "notes",      "please note", "remark",       "n.b.",
    "nb:",      "p.s.",       "ps:",         "hint",         "tip",
    "fun fact", "disclaimer", "caveat",      "keep in mind", "this assumes",
    "assuming", "i hope",     "let me know", "feel free"};

// What an aside in parentheses begins with that confirms what was said: (Check: 36 / 3 = 12.)
constexpr std::array<std::string_view, 6> kChecks = {"check",        "checking", "verify",
                                                     "verification", "verified", "proof"};

// What a last sentence that is no part of the answer begins with.
constexpr std::array<std::string_view, 5> kClosings = {"i hope", "hope this", "let me know",
                                                       "feel free", "happy to help"};
// The same where the sentence before states an answer.
constexpr std::array<std::string_view, 4> kRemarks = {"note", "please note", "remark",
                                                      "keep in mind"};

constexpr std::array<std::string_view, 13> kComputing = {
    "so",         "therefore", "thus", "hence",   "total", "makes",    "gives",
    "altogether", "then",      "now",  "finally", "next",  "remaining"};

// Words of a sentence that states a result.
constexpr std::array<std::string_view, 9> kConcluding = {
    "so", "therefore", "thus", "hence", "total", "makes", "gives", "result", "altogether"};

// Words that are common in one of the languages and rare in English texts. Those in the second list
// alone say enough.
constexpr std::array<std::string_view, 30> kCommonWords = {
    "das", "der", "ist", "und", "sind", "es",  "el",   "los",    "las",  "una",
    "são", "é",   "um",  "uma", "est",  "les", "des",  "une",    "sono", "della",
    "il",  "het", "een", "van", "är",   "och", "yang", "adalah", "ve",   "jest"};
constexpr std::array<std::string_view, 21> kTellingWords = {
    "beträgt",   "insgesamt", "summe",   "antwort",   "ergebnis", "lösung",    "respuesta",
    "resultado", "resposta",  "réponse", "résultat",  "risposta", "risultato", "antwoord",
    "svar",      "cevap",     "jawaban", "odpowiedź", "odpověď",  "ответ",     "Ответ"};

// Whether one of `phrases` begins the text, markdown aside.
template <class Phrases>
bool BeginsWith(std::string_view text, const Phrases& phrases) {
  const std::string_view bare =
      text.substr(std::min(text.find_first_not_of("*_>#-( \t"), text.size()));
  return std::any_of(phrases.begin(), phrases.end(), [bare](std::string_view phrase) {
    return StandsAtAnyCase(bare, 0, phrase) && !IsLetter(At(bare, phrase.size()));
  });
}

bool IsNote(std::string_view line) {
  if (BeginsWith(line, kNotes)) {
    return true;
  }
  return line.starts_with('(') && (line.ends_with(')') || line.ends_with(").")) && line.size() > 8;
}

// Calls `use` with each word: letters, all bytes beyond ASCII among them.
template <class Use>
void ForEachWord(std::string_view text, Use use) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (IsLetter(text[end]) || !IsAscii(text[end]))) {
      ++end;
    }
    if (end > i) {
      use(Slice(text, i, end));
    }
    i = std::max(end, i + 1);
  }
}

// Whether a sentence states a result in numbers: "So 42 in all".
bool Concludes(std::string_view sentence) {
  bool concludes = false;
  std::string_view before;
  ForEachWord(sentence, [&](std::string_view word) {
    const char after = At(sentence, PlaceOf(word, sentence) + word.size());
    // "in all cases" is no sum.
    const bool in_all = EqualsAnyCase(before, "in") && EqualsAnyCase(word, "all") && after != ' ';
    concludes = concludes || in_all || IsOneOf(word, kConcluding);
    before = word;
  });
  return concludes && std::any_of(sentence.begin(), sentence.end(), IsDigit);
}

// Whether a sentence in parentheses says how large a unit is: (1 gross = 144).
bool DefinesUnit(std::string_view aside) {
  const std::string_view unit = aside.substr(0, aside.find('='));
  const bool words = std::all_of(unit.begin(), unit.end(), [](char c) {
    return IsLetter(c) || IsSpace(c) || c == '(' || c == '1';
  });
  const size_t one = unit.find("1 ");
  return words && one != kNone && !IsLetter(At(unit, one - 1)) &&
         std::count(unit.begin(), unit.end(), '1') == 1;
}

// The last sentence of the last line, with the blank before it; no more than 400 bytes.
std::string_view LastSentence(std::string_view text) {
  constexpr size_t kLongest = 400;
  const size_t from = text.size() > kLongest ? text.size() - kLongest : 0;
  for (size_t i = text.size(); i-- > from + 1;) {
    const bool starts = IsSpace(text[i]) && std::string_view(".!?").find(text[i - 1]) != kNone;
    if (text[i] == '\n' || starts) {
      return text.substr(i);
    }
  }
  return text.substr(from);
}

// Whether a sentence says what the answer is, so that a remark may follow: it computes, or has one
// number only.
bool Announces(std::string_view sentence) {
  return GoesOnComputing(sentence) || FindNumbers(sentence).size() == 1;
}

// `text` without a last sentence that is a closing phrase, or a note in parentheses: "42 apples.
// Hope this helps in 2025!", "42 apples. (1 gross = 144)".
std::string_view WithoutClosing(std::string_view text) {
  const std::string_view last = LastSentence(text);
  const std::string_view before = text.substr(0, PlaceOf(last, text));
  const std::string_view sentence = TrimSpace(last);
  if (std::none_of(before.begin(), before.end(), IsDigit) || Concludes(sentence)) {
    return text;
  }
  const bool aside = sentence.starts_with('(') && sentence.ends_with(')');
  const bool note =
      aside ? BeginsWith(sentence, kNotes) || BeginsWith(sentence, kChecks) || DefinesUnit(sentence)
            : BeginsWith(sentence, kClosings) ||
                  (BeginsWith(sentence, kRemarks) && Announces(LastSentence(before)));
  return note ? before : text;
}

}  // namespace

std::string_view WithoutNotes(std::string_view text) {
  std::string_view rest = TrimSpace(text);
  while (!rest.empty()) {
    const size_t line_break = rest.rfind('\n');
    if (line_break == std::string_view::npos) {
      return IsNote(rest) ? text : WithoutClosing(rest);
    }
    if (!IsNote(TrimSpace(rest.substr(line_break)))) {
      return WithoutClosing(rest);
    }
    rest = TrimSpace(rest.substr(0, line_break));
  }
  return text;
}

bool GoesOnComputing(std::string_view text) {
  bool computing = text.find('=') != std::string_view::npos;
  ForEachWord(text,
              [&](std::string_view word) { computing = computing || IsOneOf(word, kComputing); });
  return computing;
}

bool WritesDecimalComma(std::string_view text) {
  size_t common = 0;
  bool telling = false;
  ForEachWord(text, [&](std::string_view word) {
    if (IsOneOf(word, kCommonWords)) {
      ++common;
    }
    telling = telling || IsOneOf(word, kTellingWords);
  });
  return telling || common >= 2;
}

}  // namespace hyper::extract
