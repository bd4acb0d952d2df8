// Counters and gauges in the text format of Prometheus.
#pragma once

#include <string>

#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

// The body of /metrics. Pure.
std::string MetricsText(const SchedulerMetrics& metrics);

}  // namespace hyper::server
