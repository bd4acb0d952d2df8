// Compares pairs of answers in bulk: reads lines GOLD<tab>ANSWER, writes a verdict a line, and to
// stderr how long the comparisons took in all. With --extract a pair that is undecided as written
// is compared once more by the answers that are found in its texts.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/equal.h"
#include "hyper/extract.h"

namespace {

std::string AnswerIn(const std::string& text) {
  return hyper::ExtractAnswer(text, hyper::ExtractOptions{}).answer.value_or(text);
}

hyper::Verdict Judge(const std::string& gold, const std::string& answer, bool extract) {
  const hyper::Verdict verdict = hyper::AnswersEqual(gold, answer).verdict;
  if (!extract || verdict != hyper::Verdict::kUndecided) {
    return verdict;
  }
  return hyper::AnswersEqual(AnswerIn(gold), AnswerIn(answer)).verdict;
}

}  // namespace

int main(int argc, char** argv) {
  const bool extract = argc > 1 && std::string_view(argv[1]) == "--extract";
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      std::fprintf(stderr, "a line without a tab: %s\n", line.c_str());
      return 64;
    }
    pairs.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  std::vector<hyper::Verdict> verdicts;
  verdicts.reserve(pairs.size());
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [gold, answer] : pairs) {
    verdicts.push_back(Judge(gold, answer, extract));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const hyper::Verdict verdict : verdicts) {
    std::puts(hyper::VerdictName(verdict));
  }
  std::fprintf(stderr, "%zu pairs %.6f s\n", pairs.size(), took.count());
  return 0;
}
