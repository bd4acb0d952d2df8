#include "src/core/repetition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace hyper {
namespace {

using Kind = Repetition::Kind;

// The longest suffix of at least 1,000 bytes that is four periods or more, or of 400 that is eight,
// period by period. For texts of letters.
size_t LongestLoop(const std::string& text) {
  size_t longest = 0;
  for (size_t period = 1; period < text.size(); ++period) {
    size_t bytes = period;
    while (bytes < text.size() &&
           text[text.size() - 1 - bytes] == text[text.size() - 1 - bytes + period]) {
      ++bytes;
    }
    const bool is_long = bytes >= 1000 && bytes >= 4 * period;
    const bool is_short = bytes >= 400 && bytes < 1000 && bytes >= 8 * period;
    longest = is_long || is_short ? std::max(longest, bytes) : longest;
  }
  return longest;
}

std::string RandomText(std::mt19937& generator, size_t bytes, unsigned alphabet) {
  std::string text(bytes, ' ');
  for (char& c : text) {
    c = static_cast<char>('a' + generator() % alphabet);
  }
  return text;
}

TEST(Repetition, PeriodsAreThoseOfTheSlowSearch) {
  std::mt19937 generator(1);
  int loops = 0;
  for (int round = 0; round < 300; ++round) {
    const size_t period = 1 + generator() % 300;
    const std::string unit = RandomText(generator, period, 1 + generator() % 4);
    std::string text = RandomText(generator, generator() % 500, 2);
    const size_t end = text.size() + 900 + generator() % 400;
    while (text.size() < end) {
      text += unit;
    }
    text.resize(end);
    if (generator() % 4 == 0) {
      text[text.size() - 1 - generator() % 300] = 'Z';
    }
    const size_t expected = LongestLoop(text);
    const std::optional<Repetition> found = FindRepetition(text);
    ASSERT_EQ(found && found->kind == Kind::kPeriod, expected > 0) << text;
    if (expected > 0) {
      ++loops;
      EXPECT_EQ(found->bytes, expected);
      EXPECT_EQ(text.substr(text.size() - expected, expected - found->period_bytes),
                text.substr(text.size() - expected + found->period_bytes));
    }
  }
  EXPECT_GT(loops, 100);
  EXPECT_LT(loops, 250);
}

TEST(Repetition, LimitsAreInclusive) {
  const std::string start = "Some words come first. ";
  EXPECT_NE(FindRepetition(start + std::string(999, '-'))->kind, Kind::kPeriod);
  EXPECT_EQ(FindRepetition(start + std::string(1000, '-'))->kind, Kind::kPeriod);
  std::mt19937 generator(2);
  const std::string paragraph = RandomText(generator, 300, 20);
  EXPECT_FALSE(FindRepetition(start + paragraph + paragraph + paragraph + paragraph.substr(1)));
  const std::optional<Repetition> four =
      FindRepetition(start + paragraph + paragraph + paragraph + paragraph);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->period_bytes, 300U);
  EXPECT_EQ(four->bytes, 1200U);
  EXPECT_EQ(RepetitionText(*four),
            "repeats itself: the last 1200 bytes are one text of 300 bytes again and again");
  EXPECT_FALSE(FindRepetition(""));
  // Loops of words are found earlier.
  const std::string phrase = RandomText(generator, 50, 20);
  std::string phrases = phrase;
  while (phrases.size() < 400) {
    phrases += phrase;
  }
  EXPECT_EQ(FindRepetition("- " + phrases)->bytes, 400U);
  EXPECT_FALSE(FindRepetition("- " + phrases.substr(1)));
  EXPECT_FALSE(FindRepetition("- " + phrases.substr(0, 100) + "- " + phrases.substr(0, 349)));
  const std::string wider = RandomText(generator, 60, 20);
  EXPECT_FALSE(FindRepetition("- " + wider + wider + wider + wider + wider + wider + wider +
                              wider.substr(1)))
      << "seven repeats and a part";
  EXPECT_TRUE(FindRepetition("- " + wider + wider + wider + wider + wider + wider + wider + wider));
}

// `rows` lines whose numbers grow by fixed steps, but for that of line `odd`.
std::string Counted(int rows, int odd = -1) {
  std::string text = "Let us see.";
  for (int row = 0; row < rows; ++row) {
    text += fmt::format("\nBen has {} + 3 = {} books left.", 34 + 3 * row + (row == odd ? 1 : 0),
                        37 + 3 * row);
  }
  return text;
}

TEST(Repetition, CountingByFixedStepsIsALoop) {
  const std::optional<Repetition> found = FindRepetition(Counted(60));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::kCounting);
  EXPECT_EQ(found->bytes, Counted(60).size() - std::string("Let us see").size());
  EXPECT_EQ(found->period_bytes, std::string("Ben has 211 + 3 = 214 books left.\n").size());
  EXPECT_FALSE(FindRepetition(Counted(31)));
  EXPECT_TRUE(FindRepetition(Counted(32)));
  EXPECT_FALSE(FindRepetition(Counted(60, 40))) << "20 lines since one that is no step";
  EXPECT_TRUE(FindRepetition(Counted(60, 5)));
  std::string numbers = "1";
  for (int i = 2; i <= 100; ++i) {
    numbers += fmt::format(", {}", i);
  }
  EXPECT_FALSE(FindRepetition(numbers)) << "one may count to a hundred";
  for (int i = 101; i <= 400; ++i) {
    numbers += fmt::format(", {}", i);
  }
  EXPECT_TRUE(FindRepetition(numbers));
  // A number without end is not read past what fits; it must only not break anything.
  EXPECT_TRUE(FindRepetition("x = 0." + std::string(2000, '3')));
}

TEST(Repetition, PhrasesInAnyOrderAreStale) {
  const std::vector<std::string> sentences = {
      "Ben has the books that he had before. ", "So the answer is what it was at the start. ",
      "We see that the number of boxes did not change. ",
      "Let us check this once more with the same numbers. "};
  std::mt19937 generator(3);
  std::string text;
  for (int i = 0; i < 120; ++i) {
    text += sentences[generator() % sentences.size()];
  }
  const std::optional<Repetition> found = FindRepetition(text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::kStale);
  EXPECT_GE(found->bytes, 1000U);
  // The same with a number in it that is new each time: it says something.
  text.clear();
  for (int i = 0; i < 120; ++i) {
    text += sentences[generator() % sentences.size()] + fmt::format("Now n is {}. ", i * i);
  }
  EXPECT_FALSE(FindRepetition(text));
  // Three copies of a text may be quotations; what is written a fifth time is not.
  text.clear();
  for (int i = 0; i < 160; ++i) {
    text += fmt::format("The {}th row holds {}. ", i, i * i % 97);
  }
  EXPECT_FALSE(FindRepetition(text + text.substr(0, 1500) + "And " + text.substr(0, 1500)));
}

// --- sound texts ---

// No beginning of a text is taken for a loop.
void ExpectSound(const std::string& text, const std::string& name, size_t step = 500) {
  for (size_t bytes = std::min<size_t>(1000, text.size()); true;
       bytes = std::min(bytes + step, text.size())) {
    const std::optional<Repetition> found = FindRepetition(text.substr(0, bytes));
    ASSERT_FALSE(found) << name << ", byte " << bytes << ": " << RepetitionText(*found);
    if (bytes == text.size()) {
      return;
    }
  }
}

TEST(Repetition, TablesOfNumbersAreSound) {
  std::mt19937 generator(4);
  std::string squares = "| n | n^2 | n^3 |\n|---|---|---|\n";
  std::string random = "id,age,income\n";
  std::string searched;
  std::string savings;
  std::string primes;
  double balance = 1000;
  for (int n = 1; n <= 200; ++n) {
    squares += fmt::format("| {} | {} | {} |\n", n, n * n, n * n * n);
    random += fmt::format("{},{},{}\n", n, generator() % 90, generator() % 100000);
    searched += fmt::format("n = {}: n^2 + 1 = {}, and {} mod 7 = {}.\n", n, n * n + 1, n * n + 1,
                            (n * n + 1) % 7);
    balance *= 1.035;
    savings += fmt::format("After {} years the balance is ${:.2f}.\n", n, balance);
    bool prime = n > 1;
    for (int divisor = 2; divisor * divisor <= n; ++divisor) {
      prime = prime && n % divisor != 0;
    }
    primes += fmt::format("{} is {}prime. ", n, prime ? "" : "not ");
  }
  std::string times;
  for (int a = 1; a <= 20; ++a) {
    for (int b = 1; b <= 20; ++b) {
      times += fmt::format("{} x {} = {}\n", a, b, a * b);
    }
  }
  std::string zeros = "\\begin{pmatrix}\n";
  for (int row = 0; row < 12; ++row) {
    for (int column = 0; column < 12; ++column) {
      zeros += column == 0 ? "0" : " & 0";
    }
    zeros += " \\\\\n";
  }
  ExpectSound(squares, "squares");
  ExpectSound(random, "random table");
  ExpectSound(searched, "search");
  ExpectSound(savings, "savings");
  ExpectSound(primes, "primes");
  ExpectSound(times, "times tables");
  ExpectSound(zeros, "zeros");
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Repetition, NoSourceOrPageOfTheProjectIsALoop) {
  const std::filesystem::path root = HYPER_SOURCE_DIR;
  const std::set<std::string> kinds = {".cc", ".h", ".md", ".py", ".js", ".cmake"};
  int texts = 0;
  for (const char* folder : {"src", "include", "docs", "apps", "web", "tests/goldens"}) {
    if (!std::filesystem::exists(root / folder)) {
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (kinds.count(entry.path().extension().string()) > 0) {
        ExpectSound(ReadAll(entry.path()), entry.path().string(), 4000);
        ++texts;
      }
    }
  }
  EXPECT_GE(texts, 500);
}

// Texts of real small models: tests/cases/record_texts.py says which are loops and which are sound.
std::vector<nlohmann::json> RecordedTexts(const std::string& name) {
  std::ifstream file(HYPER_SOURCE_DIR "/tests/cases/" + name);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line);) {
    rows.push_back(nlohmann::json::parse(line));
  }
  return rows;
}

TEST(Repetition, NoTextThatAModelEndedItselfIsALoop) {
  const std::vector<nlohmann::json> rows = RecordedTexts("sound.jsonl");
  EXPECT_GE(rows.size(), 500U);
  for (const nlohmann::json& row : rows) {
    ExpectSound(row["text"], row["model"].get<std::string>() + ": " + row["prompt"].dump(), 100);
  }
}

// Most are found before the record ends, after 800 tokens. The others have only just begun, or are
// rows of 150 bytes that differ by a number.
TEST(Repetition, RecordedLoopsEnd) {
  const std::vector<nlohmann::json> rows = RecordedTexts("loops.jsonl");
  ASSERT_EQ(rows.size(), 32U);
  int found = 0;
  for (const nlohmann::json& row : rows) {
    const std::string text = row["text"];
    size_t bytes = 400;
    while (bytes < text.size() && !FindRepetition(text.substr(0, bytes))) {
      bytes += 100;
    }
    found += bytes < text.size() ? 1 : 0;
  }
  EXPECT_GE(found, 26);
}

// Loops as SmolLM2-135M-Instruct and Gemma-3-270M write them: row `n` of each.
std::string LoopRow(int pattern, int n) {
  switch (pattern) {
    case 0:
      return fmt::format("Ben has {} + 1 = {} books left. ", 32 + n, 33 + n);
    case 1:
      return fmt::format("{}.  \n\n", n + 1);
    case 2:
      return fmt::format("Step {}:\n\n", n + 1);
    case 3:
      return "So, Ben has 77 books left. ";
    case 4:
      return "```\n\n```python\n";
    case 5:
      return "\n";
    case 6:
      return "$\\frac{1}{2}$ of ";
    case 7:
      return fmt::format("The sum of the first {} odd numbers is {}.\n", 2 * n + 1, 4 * n + 7);
    case 8:
      return "The number of books that Ben has is the number of boxes times the number of books in "
             "each box.\n\nWe know that there are 44 boxes, and that each box holds 21 books. So "
             "we "
             "multiply the two numbers to get the total number of books.\n\n";
    case 9:
      return n % 3 == 0 ? "He has 33 books left. " : "He gives away 15 books. ";
    case 10:
      return (n * n + n / 3) % 5 < 2 ? "I am not sure about that, let me think about it again. "
                                     : "Wait, the number of boxes is still 44 and not 21. ";
    case 11:
      return "0";
    default:
      return "<|im_start|>user\nWhat is the answer?<|im_end|>\n";
  }
}

TEST(Repetition, LoopsOfSmallModelsEnd) {
  for (int pattern = 0; pattern <= 12; ++pattern) {
    std::string text = "Let us think step by step about the number of books that Ben has left.\n\n";
    int rows = 0;
    while (!FindRepetition(text) && text.size() < 6000) {
      text += LoopRow(pattern, rows++);
    }
    EXPECT_LT(text.size(), 2200U) << pattern << ": " << text.substr(text.size() - 200);
    EXPECT_GE(text.size(), 400U) << pattern;
  }
}

}  // namespace
}  // namespace hyper
