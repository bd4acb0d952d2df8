// The words of labels, by language. Words beyond ASCII have their capital
// forms as entries of their own, since only ASCII is compared without case.
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
    {"lösung"},
    // French
    {"réponse"},
    {"Réponse"},
    {"RÉPONSE"},
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
    {"válasz"},
    {"Válasz"},
    // Polish
    {"odpowiedź"},
    {"Odpowiedź"},
    // Czech, Slovak
    {"odpověď"},
    {"Odpověď"},
    {"odpoveď"},
    // Romanian
    {"răspuns"},
    {"Răspuns"},
    // Croatian, Serbian, Slovene
    {"odgovor"},
    // Turkish
    {"cevap"},
    {"yanıt"},
    {"Yanıt"},
    // Indonesian, Malay
    {"jawaban"},
    {"jawapan"},
    // Swahili
    {"jibu"},
    // Filipino
    {"sagot"},
    // Yoruba
    {"ìdáhùn"},
    {"Ìdáhùn"},
    {"idahun"},
    // Vietnamese
    {"đáp án"},
    {"Đáp án"},
    {"câu trả lời"},
    {"Câu trả lời"},
    // Greek
    {"απάντηση"},
    {"Απάντηση"},
    // Russian
    {"ответ"},
    {"Ответ"},
    {"ОТВЕТ"},
    // Ukrainian
    {"відповідь"},
    {"Відповідь"},
    // Bulgarian, Serbian
    {"отговор"},
    {"Отговор"},
    {"одговор"},
    {"Одговор"},
    // Chinese
    {"答案"},
    {"答复"},
    {"答"},
    // Japanese
    {"答え"},
    {"解答"},
    {"回答"},
    // Korean
    {"정답"},
    {"답변"},
    {"답"},
    // Arabic
    {"الإجابة"},
    {"الجواب"},
    {"إجابة"},
    {"جواب"},
    // Persian, Urdu
    {"پاسخ"},
    // Hebrew
    {"תשובה"},
    // Hindi, Marathi
    {"उत्तर"},
    // Bengali
    {"উত্তর"},
    // Tamil
    {"பதில்"},
    // Telugu
    {"సమాధానం"},
    {"జవాబు"},
    // Thai
    {"คำตอบ"},
}};

// Marks that end a label.
inline constexpr std::array<std::string_view, 11> kMarks = {":", "：", "=>", "=", "→", "->",
                                                            "—", "–",  "- ", "ঃ", "︰"};

// Words that announce the value: forms of "to be".
inline constexpr std::array<std::string_view, 6> kEnglishVerbs = {"is", "are",    "was",
                                                                  "be", "equals", "equal"};
inline constexpr std::array<std::string_view, 28> kOtherVerbs = {
    "ist",   "lautet", "sind",  "est",  "sont", "es", "son",  "è",  "é",  "sono",
    "são",   "adalah", "ialah", "jest", "to",   "je", "este", "är", "er", "on",
    "είναι", "là",     "هي",    "هو",   "است",  "है",  "ni",   "ay"};

// The same in languages that write without blanks.
inline constexpr std::array<std::string_view, 9> kParticles = {"是", "为", "為", "は", "은",
                                                               "는", "이", "选", "選"};

// Marks that may follow a verb or another mark without being part of the value.
inline constexpr std::array<std::string_view, 4> kInnerMarks = {":", "：", "=>", "→"};

// Marks that end the sentence of a label.
inline constexpr std::array<std::string_view, 7> kSentenceEnds = {"\n", ".",  "?", "!",
                                                                  ";",  "。", "？"};

// Words that may follow an English label before its verb: "answer to the question is".
inline constexpr std::array<std::string_view, 34> kBridges = {
    "to",    "for",    "of",   "in",    "here",     "choice",  "option",   "letter", "key",
    "value", "we",     "i",    "you",   "obtained", "found",   "that",     "which",  "would",
    "will",  "should", "must", "could", "seems",    "appears", "turns",    "comes",  "therefore",
    "thus",  "then",   "so",   "from",  "by",       "left",    "remaining"};

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
    for (std::string_view entry : list) {
      stops[static_cast<unsigned char>(entry.front())] = true;
    }
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
  for (int& place : index.first) {
    place = -1;
  }
  for (int i = static_cast<int>(kLabelWords.size()) - 1; i >= 0; --i) {
    const char lower = kLabelWords[i].word.front();
    int& first = index.first[static_cast<unsigned char>(lower)];
    index.next[i] = first;
    first = i;
    if (lower >= 'a' && lower <= 'z') {
      index.first[static_cast<unsigned char>(lower - 'a' + 'A')] = i;
    }
  }
  return index;
}

inline constexpr LabelIndex kLabelIndex = MakeLabelIndex();

}  // namespace hyper::extract
