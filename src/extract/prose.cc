#include "src/extract/prose.h"

#include <algorithm>
#include <array>

#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

constexpr std::array<std::string_view, 19> kNotes = {
    "note",     "notes",      "please note", "remark",       "n.b.",
    "nb:",      "p.s.",       "ps:",         "hint",         "tip",
    "fun fact", "disclaimer", "caveat",      "keep in mind", "this assumes",
    "assuming", "i hope",     "let me know", "feel free"};

constexpr std::array<std::string_view, 13> kComputing = {
    "so",         "therefore", "thus", "hence",   "total", "makes",    "gives",
    "altogether", "then",      "now",  "finally", "next",  "remaining"};

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

bool IsNote(std::string_view line) {
  const std::string_view bare =
      line.substr(std::min(line.find_first_not_of("*_>#-( \t"), line.size()));
  for (std::string_view note : kNotes) {
    if (StandsAtAnyCase(bare, 0, note) && !IsLetter(At(bare, note.size()))) {
      return true;
    }
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

}  // namespace

std::string_view WithoutNotes(std::string_view text) {
  std::string_view rest = TrimSpace(text);
  while (!rest.empty()) {
    const size_t line_break = rest.rfind('\n');
    if (line_break == std::string_view::npos) {
      return IsNote(rest) ? text : rest;
    }
    if (!IsNote(TrimSpace(rest.substr(line_break)))) {
      return rest;
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
