// Counters, gauges and histograms in the text format of Prometheus.
#pragma once

#include <string>

#include "src/server/http/request_log.h"
#include "src/server/scheduler/scheduler.h"

namespace hyper::server {

// The body of /metrics. Pure.
std::string MetricsText(const SchedulerMetrics& metrics, const RequestCounts& requests);

}  // namespace hyper::server
