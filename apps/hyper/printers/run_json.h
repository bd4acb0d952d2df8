// A run as JSON; docs/json.md and docs/run.schema.json describe it.
#pragma once

#include <string>

#include "apps/hyper/printers/run_report.h"

namespace hyper::app {

// The object of `hyper run --json`, over several lines, with a line break at the end. `with_timing`
// adds what clocks have measured; without it equal runs in strict mode give equal bytes.
std::string RunToJson(const RunReport& report, bool with_timing);

// First and last line of a trace, without line break: what the run was, and how it ended.
std::string TraceHead(const RunSetup& setup);
std::string TraceEnd(const RunReport& report);

}  // namespace hyper::app
