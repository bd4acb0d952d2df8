// The words of labels, by language. Non-ASCII words are written as bytes of UTF-8; their capital
// forms are entries of their own, since only ASCII is compared without case.
#pragma once

#include <array>
#include <string_view>

namespace hyper::extract {

struct LabelWord {
  std::string_view word;  // lower case where it is ASCII
  bool english = false;   // needs "is", a mark, or one of kBridges right behind it
  bool choice_only = false;
};

// Longer words stand before their own beginnings.
inline constexpr std::array<LabelWord, 75> kLabelWords = {{
    {"final result", true, false},
    {"final value", true, false},
    {"answer", true, false},
    {"correct option", true, true},
    {"correct choice", true, true},
    {"option", true, true},
    {"choice", true, true},
    // German
    {"antwort"},
    {"l\xC3\xB6sung"},
    // French
    {"r\xC3\xA9ponse"},
    {"R\xC3\xA9ponse"},
    {"R\xC3\x89PONSE"},
    // Spanish, Portuguese
    {"respuesta"},
    {"resposta"},
    // Italian
    {"risposta"},
    // Dutch, Afrikaans
    {"antwoord"},
    // Swedish, Danish, Norwegian
    {"svar"},
    // Finnish, Estonian
    {"vastaus"},
    {"vastus"},
    // Hungarian
    {"v\xC3\xA1lasz"},
    {"V\xC3\xA1lasz"},
    // Polish
    {"odpowied\xC5\xBA"},
    {"Odpowied\xC5\xBA"},
    // Czech, Slovak
    {"odpov\xC4\x9B\xC4\x8F"},
    {"Odpov\xC4\x9B\xC4\x8F"},
    {"odpove\xC4\x8F"},
    // Romanian
    {"r\xC4\x83spuns"},
    {"R\xC4\x83spuns"},
    // Croatian, Serbian, Slovene
    {"odgovor"},
    // Turkish
    {"cevap"},
    {"yan\xC4\xB1t"},
    {"Yan\xC4\xB1t"},
    // Indonesian, Malay
    {"jawaban"},
    {"jawapan"},
    // Swahili
    {"jibu"},
    // Filipino
    {"sagot"},
    // Yoruba
    {"\xC3\xAC"
     "d\xC3\xA1h\xC3\xB9n"},
    {"\xC3\x8C"
     "d\xC3\xA1h\xC3\xB9n"},
    {"idahun"},
    // Vietnamese
    {"\xC4\x91\xC3\xA1p \xC3\xA1n"},
    {"\xC4\x90\xC3\xA1p \xC3\xA1n"},
    {"c\xC3\xA2u tr\xE1\xBA\xA3 l\xE1\xBB\x9Di"},
    {"C\xC3\xA2u tr\xE1\xBA\xA3 l\xE1\xBB\x9Di"},
    // Greek
    {"\xCE\xB1\xCF\x80\xCE\xAC\xCE\xBD\xCF\x84\xCE\xB7\xCF\x83\xCE\xB7"},
    {"\xCE\x91\xCF\x80\xCE\xAC\xCE\xBD\xCF\x84\xCE\xB7\xCF\x83\xCE\xB7"},
    // Russian
    {"\xD0\xBE\xD1\x82\xD0\xB2\xD0\xB5\xD1\x82"},
    {"\xD0\x9E\xD1\x82\xD0\xB2\xD0\xB5\xD1\x82"},
    {"\xD0\x9E\xD0\xA2\xD0\x92\xD0\x95\xD0\xA2"},
    // Ukrainian
    {"\xD0\xB2\xD1\x96\xD0\xB4\xD0\xBF\xD0\xBE\xD0\xB2\xD1\x96\xD0\xB4\xD1\x8C"},
    {"\xD0\x92\xD1\x96\xD0\xB4\xD0\xBF\xD0\xBE\xD0\xB2\xD1\x96\xD0\xB4\xD1\x8C"},
    // Bulgarian, Serbian
    {"\xD0\xBE\xD1\x82\xD0\xB3\xD0\xBE\xD0\xB2\xD0\xBE\xD1\x80"},
    {"\xD0\x9E\xD1\x82\xD0\xB3\xD0\xBE\xD0\xB2\xD0\xBE\xD1\x80"},
    {"\xD0\xBE\xD0\xB4\xD0\xB3\xD0\xBE\xD0\xB2\xD0\xBE\xD1\x80"},
    {"\xD0\x9E\xD0\xB4\xD0\xB3\xD0\xBE\xD0\xB2\xD0\xBE\xD1\x80"},
    // Chinese
    {"\xE7\xAD\x94\xE6\xA1\x88"},
    {"\xE7\xAD\x94\xE5\xA4\x8D"},
    {"\xE7\xAD\x94"},
    // Japanese
    {"\xE7\xAD\x94\xE3\x81\x88"},
    {"\xE8\xA7\xA3\xE7\xAD\x94"},
    {"\xE5\x9B\x9E\xE7\xAD\x94"},
    // Korean
    {"\xEC\xA0\x95\xEB\x8B\xB5"},
    {"\xEB\x8B\xB5\xEB\xB3\x80"},
    {"\xEB\x8B\xB5"},
    // Arabic
    {"\xD8\xA7\xD9\x84\xD8\xA5\xD8\xAC\xD8\xA7\xD8\xA8\xD8\xA9"},
    {"\xD8\xA7\xD9\x84\xD8\xAC\xD9\x88\xD8\xA7\xD8\xA8"},
    {"\xD8\xA5\xD8\xAC\xD8\xA7\xD8\xA8\xD8\xA9"},
    {"\xD8\xAC\xD9\x88\xD8\xA7\xD8\xA8"},
    // Persian, Urdu
    {"\xD9\xBE\xD8\xA7\xD8\xB3\xD8\xAE"},
    // Hebrew
    {"\xD7\xAA\xD7\xA9\xD7\x95\xD7\x91\xD7\x94"},
    // Hindi, Marathi
    {"\xE0\xA4\x89\xE0\xA4\xA4\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA4\xB0"},
    // Bengali
    {"\xE0\xA6\x89\xE0\xA6\xA4\xE0\xA7\x8D\xE0\xA6\xA4\xE0\xA6\xB0"},
    // Tamil
    {"\xE0\xAE\xAA\xE0\xAE\xA4\xE0\xAE\xBF\xE0\xAE\xB2\xE0\xAF\x8D"},
    // Telugu
    {"\xE0\xB0\xB8\xE0\xB0\xAE\xE0\xB0\xBE\xE0\xB0\xA7\xE0\xB0\xBE\xE0\xB0\xA8\xE0\xB0\x82"},
    {"\xE0\xB0\x9C\xE0\xB0\xB5\xE0\xB0\xBE\xE0\xB0\xAC\xE0\xB1\x81"},
    // Thai
    {"\xE0\xB8\x84\xE0\xB8\xB3\xE0\xB8\x95\xE0\xB8\xAD\xE0\xB8\x9A"},
}};

// Marks that end a label.
inline constexpr std::array<std::string_view, 11> kMarks = {
    ":",  "\xEF\xBC\x9A", "=>",          "=", "\xE2\x86\x92", "->", "\xE2\x80\x94", "\xE2\x80\x93",
    "- ", "\xE0\xA6\x83", "\xEF\xB8\xB0"};

// Words that announce the value: forms of "to be".
inline constexpr std::array<std::string_view, 6> kEnglishVerbs = {"is", "are",    "was",
                                                                  "be", "equals", "equal"};
inline constexpr std::array<std::string_view, 28> kOtherVerbs = {
    "ist",
    "lautet",
    "sind",
    "est",
    "sont",
    "es",
    "son",
    "\xC3\xA8",
    "\xC3\xA9",
    "sono",
    "s\xC3\xA3o",
    "adalah",
    "ialah",
    "jest",
    "to",
    "je",
    "este",
    "\xC3\xA4r",
    "er",
    "on",
    "\xCE\xB5\xCE\xAF\xCE\xBD\xCE\xB1\xCE\xB9",
    "l\xC3\xA0",
    "\xD9\x87\xD9\x8A",
    "\xD9\x87\xD9\x88",
    "\xD8\xA7\xD8\xB3\xD8\xAA",
    "\xE0\xA4\xB9\xE0\xA5\x88",
    "ni",
    "ay"};

// The same in languages that write without blanks.
inline constexpr std::array<std::string_view, 9> kParticles = {
    "\xE6\x98\xAF", "\xE4\xB8\xBA", "\xE7\x82\xBA", "\xE3\x81\xAF", "\xEC\x9D\x80",
    "\xEB\x8A\x94", "\xEC\x9D\xB4", "\xE9\x80\x89", "\xE9\x81\xB8"};

// Marks that may follow a verb or another mark without being part of the value.
inline constexpr std::array<std::string_view, 4> kInnerMarks = {":", "\xEF\xBC\x9A", "=>",
                                                                "\xE2\x86\x92"};

// Marks that end the sentence of a label.
inline constexpr std::array<std::string_view, 7> kSentenceEnds = {
    "\n", ".", "?", "!", ";", "\xE3\x80\x82", "\xEF\xBC\x9F"};

// Words that may follow an English label before its verb: "answer to the question is".
inline constexpr std::array<std::string_view, 32> kBridges = {
    "to",    "for",   "of",        "in",     "here", "choice",   "option", "letter",
    "key",   "value", "we",        "i",      "you",  "obtained", "found",  "that",
    "which", "would", "will",      "should", "must", "could",    "seems",  "appears",
    "turns", "comes", "therefore", "thus",   "then", "so",       "from",   "by"};

// Words between the verb and the value that say nothing about it.
inline constexpr std::array<std::string_view, 27> kFillers = {
    "therefore", "thus",    "simply",    "just", "exactly", "approximately", "about",    "roughly",
    "indeed",    "clearly", "hence",     "then", "now",     "definitely",    "equal",    "to",
    "given",     "by",      "following", "as",   "follows", "likely",        "probably", "most",
    "still",     "also",    "only"};

// The same before the label of an option.
inline constexpr std::array<std::string_view, 5> kOptionWords = {"option", "choice", "letter",
                                                                 "the", "correct"};

// Words that may precede a label in a heading.
inline constexpr std::array<std::string_view, 4> kHeadingLeads = {"final", "the", "my", "correct"};

// Whether a byte starts an entry of the lists that end a label of another language.
constexpr std::array<bool, 256> MakeStopBytes() {
  std::array<bool, 256> stops{};
  const auto add = [&stops](const auto& list) {
    for (std::string_view entry : list) stops[static_cast<unsigned char>(entry.front())] = true;
  };
  add(kMarks);
  add(kParticles);
  add(kOtherVerbs);
  add(kSentenceEnds);
  return stops;
}

inline constexpr std::array<bool, 256> kStopBytes = MakeStopBytes();

// For each byte, the first of kLabelWords that starts with it, and for each of those the next one;
// -1 ends a chain. A text is compared with few words at a byte this way.
struct LabelIndex {
  std::array<int, 256> first{};
  std::array<int, kLabelWords.size()> next{};
};

constexpr LabelIndex MakeLabelIndex() {
  LabelIndex index;
  for (int& place : index.first) place = -1;
  for (int i = static_cast<int>(kLabelWords.size()) - 1; i >= 0; --i) {
    const char lower = kLabelWords[i].word.front();
    int& first = index.first[static_cast<unsigned char>(lower)];
    index.next[i] = first;
    first = i;
    if (lower >= 'a' && lower <= 'z')
      index.first[static_cast<unsigned char>(lower - 'a' + 'A')] = i;
  }
  return index;
}

inline constexpr LabelIndex kLabelIndex = MakeLabelIndex();

}  // namespace hyper::extract
