// Reading the answer from a generated text: the reasoning is separated, then the rules for the kind
// of answer are tried in a fixed order. docs/answers.md has the rules and the reasons.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/names.h"
#include "hyper/think_tags.h"

#pragma GCC visibility push(default)
namespace hyper {

// What a question asks for; decides which rules read the answer.
enum class AnswerKind {
  kInteger,  // one number: AIME, GSM8K
  kMath,     // any mathematical object: MATH
  kChoice,   // one label of a list of options: ARC, GPQA, MMLU-Pro
  kText,     // words: HLE's exact answers, replies of a judge
};
template <>
inline constexpr std::array kNamesOf<AnswerKind> = {"integer", "math", "choice", "text"};

// Labels of a choice question from a list such as "ABCD", "A-J", "1-4" or "A,B,C".
//   list  letters are made capitals; 1 to 36 different letters or digits, ranges upwards
// Returns the labels in order ("A-D" gives "ABCD"), or nothing where `list` is anything else. Pure.
std::optional<std::string> ParseChoiceOptions(std::string_view list);

// A half-open range of bytes [begin, end) of a text.
struct TextSpan {
  size_t begin = 0;
  size_t end = 0;
};

// A text split into reasoning and content.
//   reasoning, content  in text order, no overlap, without the tags, trimmed of white space;
//                       empty blocks are left out
//   unclosed            the last block of reasoning has no closing tag: thinking was cut off
struct ReasoningSplit {
  std::vector<TextSpan> reasoning;
  std::vector<TextSpan> content;
  bool unclosed = false;
};

// Splits a generated text (never the prompt: tags that a user wrote are not the model's).
//   tags                blocks of the same pair may nest; other pairs inside a block are plain text
//   opened_by_template  the prompt ended with an opening tag, so the text starts inside reasoning
// A closing tag before any opening one ends reasoning that started with the text, whatever
// `opened_by_template` says; a closing tag after content has begun is dropped. An opening tag in
// the middle of a line that is never closed is plain text. An extra opening tag inside a block is
// plain text. Pure; O(text length * number of tags).
ReasoningSplit SplitReasoning(std::string_view text, std::span<const TagPair> tags,
                              bool opened_by_template);

// Whether a rendered prompt leaves the model inside reasoning: it ends with an opening tag,
// white space aside. Gives `opened_by_template`. Pure.
bool PromptOpensReasoning(std::string_view prompt, std::span<const TagPair> tags);

// The parts of `text` at `spans`, joined by a line break. Pure.
std::string JoinSpans(std::string_view text, std::span<const TextSpan> spans);

// How an answer that is only in the reasoning is treated. Tools disagree: some grade a box wherever
// it is, some never look into the reasoning.
enum class ReasoningAnswers {
  kTentative,  // given, marked `tentative`: it may vote, graders count it as no answer (default)
  kFinal,      // given as if it stood in the content
  kIgnored,    // never given
};

// Which answer counts if a box is followed by another announced answer ("Answer: 7"): the box is
// what prompts ask for, the later line may be a correction.
enum class BoxOrLabel {
  kBox,    // the box, wherever it is (default)
  kLater,  // the label, if it begins after the box; both in the same part of the text
};

// How to read a text. The defaults suit a reasoning model.
struct ExtractOptions {
  AnswerKind kind = AnswerKind::kMath;
  // Labels of the options, kChoice only: letters, or digits (then the letter A stands for the
  // first label, B for the second; ARC has such rows).
  std::string options = "ABCD";
  std::vector<TagPair> think_tags = DefaultThinkTags();
  // The prompt ended with an opening tag; see PromptOpensReasoning.
  bool opened_by_template = false;
  // The model ended the text itself. If false (token limit, stop request), an answer that the cut
  // may have touched, or that only a fallback rule finds, is tentative.
  bool finished = true;
  ReasoningAnswers reasoning_answers = ReasoningAnswers::kTentative;
  BoxOrLabel box_or_label = BoxOrLabel::kBox;
  // Whether the rules that guess may be used: whole text, last formula, last number, last line.
  // They never read the reasoning.
  bool fallbacks = true;
};

// An answer found in a text, or that none was found (`answer` empty, `rule` empty, span 0..0).
struct Extraction {
  // Normalised form for votes and grading: the wrappers (box, `$`, \text, bold, full stop) are
  // gone, plain numbers are written in ASCII digits without grouping, currency or needless zeros, a
  // choice is its label. The meaning is never changed; whether two forms are the same is
  // AnswersEqual's task.
  std::optional<std::string> answer;
  std::string raw;   // the bytes [begin, end) of the text
  size_t begin = 0;  // place of `raw` in the text that was given
  size_t end = 0;
  std::string rule;        // "box", "box_list", "box_unclosed", "hash", "label", "bold",
                           // "correction", "whole", "last_math", "last_number", "last_line" or
                           // "letter"
  bool tentative = false;  // not to be graded: from reasoning, or the text was cut off, or a box
                           // after it was
  bool cut_box = false;    // tentative, since an unfinished text ends in the box: `\boxed{4`
  std::optional<double> confidence_percent;  // of a last "Confidence: 85%" line, in [0, 100]

  // The answer to grade: `answer` unless it is tentative.
  std::optional<std::string> Final() const { return tentative ? std::nullopt : answer; }
};

// Finds the answer of a generated text.
//   text     bytes as generated, broken UTF-8 included; may be empty
//   options  see ExtractOptions
// The rules, in order: box ("\boxed", "\fbox", "\framebox"; the last one, or the list of the last
// adjacent ones), hash ("#### 18"), label ("the answer is ...", "Answer: ..." in some 40 languages,
// <answer>; the last one that has a value), bold (last line), then the fallbacks. With box_or_label
// a label after the box may win over it. If the text after the answer takes it back ("Wait, I made
// a mistake. It should be 6."), what it announces instead is the answer. A box that the end of the
// text cuts off is no answer.
// No errors: a text without an answer gives none. Never throws (memory exhaustion aside); time and
// memory are linear in the text; any thread.
Extraction ExtractAnswer(std::string_view text, const ExtractOptions& options);

}  // namespace hyper
#pragma GCC visibility pop
