// Counters, gauges and histograms in the text format of Prometheus.
#pragma once

#include <string>
#include <vector>

#include "src/server/http/request_log.h"
#include "src/server/models/model_state.h"
#include "src/server/scheduler/scheduler_metrics.h"

namespace hyper::server {

// The body of /metrics. Pure.
//   models  that come and go; none where the only one is always there
std::string MetricsText(const SchedulerMetrics& metrics, const RequestCounts& requests,
                        const std::vector<ModelStatus>& models = {});

}  // namespace hyper::server
