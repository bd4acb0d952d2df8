#include "apps/hyper/printers/judge_line.h"

#include <fmt/format.h>

#include "apps/hyper/command.h"

namespace hyper::app {

std::string JudgeLine(const eval::JudgeOptions& judge, const eval::GradingReport& report) {
  return fmt::format("{} asked about {} answers: {} right, {} wrong, {} without a verdict\n",
                     OneLine(eval::JudgeName(judge)), report.judged(), report.judged_right,
                     report.judged_wrong, report.judged_open);
}

}  // namespace hyper::app
