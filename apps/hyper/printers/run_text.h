// A run as plain text for people.
#pragma once

#include <string>

#include "apps/hyper/printers/run_report.h"

namespace hyper::app {

// How much of a run is printed: the answer alone (-q); the winner's text and three lines of
// result; the votes under every rule, paths, actions and cost too (-v).
enum class Detail { kAnswer, kResult, kAll };

// The answer and what goes with it, without the texts of paths. No clock time, so equal runs in
// strict mode give equal bytes; ends with a line break.
std::string RunToText(const RunReport& report, Detail detail);

// The texts that `show` names: "winner", "losers" (for each other answer, the surest path that gave
// it) or the number of a path, all of them whole; where it is empty the winner's with its reasoning
// folded. Ends with an empty line; empty where there is no such path.
std::string ShownTexts(const RunReport& report, const std::string& show);

// How far the paths agree, in words: "17 of 20 paths agree", "no agreement: 2 of 18 paths (11 %)".
// Pure.
std::string AgreementText(const SessionResult& result);

// One line of where the time went, e.g. "time     4.2 s after 0.3 s of loading; ..."; with
// Detail::kAll also the shares of it.
std::string TimeLine(const RunReport& report, Detail detail);

// One line of a path that has ended, without line break.
std::string FinishLine(const FinishRecord& record);

// Action of a decision with its expansion, such as "branch x3"; without where nothing was expanded.
std::string ActionText(const DecisionRecord& record);

// One line of a decision, without line break.
std::string DecisionLine(const DecisionRecord& record);

// 1234567 as "1,234,567".
std::string Grouped(int64_t number);

}  // namespace hyper::app
