// A run as plain text for people.
#pragma once

#include <string>

#include "apps/hyper/printers/run_report.h"

namespace hyper::app {

// Answer, the vote under every rule side by side, paths, actions and cost. No clock time, so equal
// runs in strict mode give equal bytes; ends with a line break.
std::string RunToText(const RunReport& report);

// One line of where the time went, e.g. "time 4.2 s after 0.3 s of loading; ...".
std::string TimeLine(const RunReport& report);

// One line of a path that has ended, without line break.
std::string FinishLine(const FinishRecord& record);

// Action of a decision with its expansion, such as "branch x3"; without where nothing was expanded.
std::string ActionText(const DecisionRecord& record);

// One line of a decision, without line break.
std::string DecisionLine(const DecisionRecord& record);

// 1234567 as "1,234,567".
std::string Grouped(int64_t number);

}  // namespace hyper::app
