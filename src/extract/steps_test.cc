// Time and memory of extraction are linear in the text, whatever it is. The sources of extraction
// are compiled into this program with a call in every basic block (-fsanitize-coverage=trace-pc),
// and the functions of the C library that run over bytes are wrapped, so that steps are counted
// and not time.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "hyper/extract.h"

namespace {

uint64_t steps = 0;

}  // namespace

// The names are those of the compiler and the linker.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void __sanitizer_cov_trace_pc() { ++steps; }
void* __real_memchr(const void* bytes, int value, size_t count);
void* __wrap_memchr(const void* bytes, int value, size_t count) {
  void* found = __real_memchr(bytes, value, count);
  const auto* end = static_cast<const char*>(found);
  steps += end == nullptr ? count : static_cast<size_t>(end - static_cast<const char*>(bytes));
  return found;
}
int __real_memcmp(const void* left, const void* right, size_t count);
int __wrap_memcmp(const void* left, const void* right, size_t count) {
  steps += count;
  return __real_memcmp(left, right, count);
}
void* __real_memcpy(void* to, const void* from, size_t count);
void* __wrap_memcpy(void* to, const void* from, size_t count) {
  steps += count;
  return __real_memcpy(to, from, count);
}
void* __real_memmove(void* to, const void* from, size_t count);
void* __wrap_memmove(void* to, const void* from, size_t count) {
  steps += count;
  return __real_memmove(to, from, count);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace hyper {
namespace {

// Steps of reading `text` as all kinds, in both states of the template.
uint64_t StepsOf(const std::string& text) {
  ExtractOptions options;
  options.options = "ABCDEFGHIJ";
  const uint64_t before = steps;
  for (const AnswerKind kind :
       {AnswerKind::kInteger, AnswerKind::kMath, AnswerKind::kChoice, AnswerKind::kText}) {
    for (const bool opened : {false, true}) {
      options.kind = kind;
      options.opened_by_template = opened;
      (void)ExtractAnswer(text, options);
    }
  }
  return steps - before;
}

std::string Repeat(const std::string& unit, size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += unit;
  }
  return text;
}

// Pieces of texts that make readers look far ahead or behind.
std::vector<std::string> Units() {
  return {"\\boxed{",
          "\\boxed{}",
          "\\boxed{1}",
          "\\boxed{1}, ",
          "\\boxed ",
          "boxed{",
          "\\framebox[",
          "\\fbox{\n",
          "{",
          "}",
          "{}",
          "\\{",
          "\\",
          "\\\\",
          "$",
          "$ ",
          "$1",
          "$a$",
          "$$",
          "$$a",
          "\\[",
          "\\(",
          "\\(1\\)",
          "\\[\\(",
          "<think>",
          "</think>",
          "<think>a</think>b",
          "<think><think>a</think>",
          "a<think>",
          "[THINK]<think>",
          "answer is ",
          "Answer: ",
          "answer to ",
          "answer: $$",
          "answer: \\[",
          "answer (",
          "answer*",
          "Answer:\n",
          "# answer\n",
          "Antwort ",
          "Antwort: A",
          "答",
          "答案",
          "答案是",
          "option ",
          "option A ",
          "choice: option ",
          "<answer>",
          "</answer>",
          "<answer>a</answer>",
          "<answer>$$",
          "1",
          "1,",
          "1,000",
          ",000",
          "1/",
          "1.",
          "1. ",
          "1 ",
          "-1",
          "- ",
          "+1",
          "=",
          "1=",
          "x=1,",
          "1 = ",
          "^1",
          "_{1",
          "\\frac{",
          "\\frac{1}{",
          "\\frac{1}{2}",
          "\\text{",
          "\\text{a} ",
          "\\ ",
          "5\\ ",
          "\\, ",
          "~",
          "cm ",
          "a ",
          "A ",
          "A",
          "I ",
          "I'm ",
          "A or ",
          "A, ",
          "A/",
          "(A)",
          "(A",
          "**A**",
          "**",
          "** ",
          "*",
          "not A ",
          "is A",
          "B is correct ",
          "A. ",
          "A-",
          "\n",
          "\n\n",
          "\n ",
          " ",
          "\t",
          "#### ",
          "#### 1\n",
          "####",
          "# ",
          "confidence: 1\n",
          "confidence",
          "none ",
          "a. ",
          "a.b",
          "? ",
          "...",
          "\"",
          "'",
          "`",
          "◁",
          "−",
          "Ａ",
          "’",
          "\xFF",
          std::string(1, '\0'),
          "\boxed{",
          "and ",
          "or ",
          "sqrt ",
          "1 and ",
          "(",
          ")",
          "[",
          "(1",
          "(1)",
          "%",
          "\\%",
          "\\$",
          "<|begin_of_box|>",
          "<|end_of_box|>",
          "<|begin_of_box|>{",
          "Wait, ",
          "Actually, it is ",
          "it should be 6. ",
          "I made a mistake. ",
          "minus ",
          "negative 1 ",
          "1.234",
          "1.234.",
          "0,111",
          "1,",
          " out of ",
          " of the 1",
          "\nNote: 1",
          "(1)\n",
          "**1** ",
          "*1*",
          "_",
          "<b>",
          "</",
          "is 1 ",
          "is $n$ ",
          "٤",
          "٤,",
          "١٬",
          "四",
          "十",
          "四十二",
          "负",
          "ist ",
          "so it's A. ",
          "leaves only us with A "};
}

// Four times the text may take four times the steps, and a little for what does not scale.
void ExpectLinear(const std::string& shorter, const std::string& longer, const std::string& name) {
  const double growth = static_cast<double>(longer.size()) / static_cast<double>(shorter.size());
  const auto few = static_cast<double>(StepsOf(shorter));
  const auto many = static_cast<double>(StepsOf(longer));
  EXPECT_LE(many, few * growth * 1.15 + 2000) << name << ": " << few << ", then " << many;
  EXPECT_LE(many, static_cast<double>(longer.size()) * 8 * 352) << name;
}

TEST(ExtractSteps, GrowWithTheTextAndNoFaster) {
  ASSERT_GT(StepsOf("\\boxed{1}"), 100U) << "the sources are not instrumented";
  for (const std::string& unit : Units()) {
    ExpectLinear(Repeat(unit, 1500), Repeat(unit, 6000), unit);
  }
}

TEST(ExtractSteps, PairsOfPiecesStayLinear) {
  // A run of one piece before a run of another: the first may search through all of the second.
  std::mt19937 random(1);
  const std::vector<std::string> units = Units();
  const auto pick = [&] { return units[random() % units.size()]; };
  for (int round = 0; round < 300; ++round) {
    const std::string a = pick();
    const std::string b = pick();
    const std::string both = a + b;
    ExpectLinear(Repeat(a, 700) + Repeat(b, 700), Repeat(a, 2800) + Repeat(b, 2800),
                 "a run and a run of " + both);
    ExpectLinear(Repeat(both, 1400), Repeat(both, 5600), "runs of " + both);
  }
}

}  // namespace
}  // namespace hyper
