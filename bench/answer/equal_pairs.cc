// Compares pairs of answers in bulk: reads lines GOLD<tab>ANSWER, writes a verdict a line, and to
// stderr how long the comparisons took in all.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "hyper/equal.h"

int main() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t');
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
    verdicts.push_back(hyper::AnswersEqual(gold, answer).verdict);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const hyper::Verdict verdict : verdicts) std::puts(hyper::VerdictName(verdict));
  std::fprintf(stderr, "%zu pairs %.6f s\n", pairs.size(), took.count());
  return 0;
}
