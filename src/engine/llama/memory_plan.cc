// Memory: what there is, and what an engine would take, by llama.cpp's own account, without the
// weights.
#include <llama-ext.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>

#include "src/engine/llama/model.h"

namespace hyper::llama {
namespace {

// The number in a file of one number; infinite where there is none ("max" in a control group).
double NumberIn(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : std::numeric_limits<double>::infinity();
}

struct Bytes {
  int64_t weights = 0;
  int64_t context = 0;
  int64_t compute = 0;
};

// llama.cpp keeps some bytes of its own for each cell, and allocates a recurrent state for each
// sequence even where nothing else is: large contexts are told from small ones.
constexpr int kMeasuredCells = 16384;
constexpr int kMeasuredLanes = 2;

// The bytes of one context with so many cells and lanes.
Result<Bytes> Measure(const LlamaOptions& options, LoadedModel* loaded, int cells, int lanes) {
  loaded->plan.physical_cells = cells;
  loaded->plan.lanes = lanes;
  const Result<ContextHandle> context = MakeContext(options, nullptr, nullptr, *loaded);
  if (!context) {
    return context.error();
  }
  Bytes bytes;
  for (const auto& [type, part] : llama_get_memory_breakdown(context->get())) {
    bytes.weights += static_cast<int64_t>(part.model);
    bytes.context += static_cast<int64_t>(part.context);
    bytes.compute += static_cast<int64_t>(part.compute);
  }
  return bytes;
}

// Adds to `bytes` what lies between `from` and `to`, `times` over.
void Extrapolate(const Bytes& from, const Bytes& to, double times, Bytes* bytes) {
  const auto grown = [times](int64_t low, int64_t high) {
    return std::llround(static_cast<double>(high - low) * times);
  };
  bytes->context += grown(from.context, to.context);
  bytes->compute += grown(from.compute, to.compute);
}

// The bytes of one context of the plan: they grow evenly with cells and, in recurrent models, with
// lanes.
Result<Bytes> MeasurePlan(const LlamaOptions& options, LoadedModel* loaded) {
  const ContextPlan plan = loaded->plan;
  const int cells =
      plan.streams ? plan.physical_cells : std::min(plan.physical_cells, kMeasuredCells);
  const int lanes = loaded->recurrent ? std::min(plan.lanes, kMeasuredLanes) : plan.lanes;
  Result<Bytes> base = Measure(options, loaded, cells, lanes);
  if (!base) {
    return base;
  }
  Bytes bytes = *base;
  if (cells < plan.physical_cells) {
    Result<Bytes> more = Measure(options, loaded, 2 * cells, lanes);
    if (!more) {
      return more;
    }
    Extrapolate(*base, *more, static_cast<double>(plan.physical_cells - cells) / cells, &bytes);
  }
  if (lanes < plan.lanes) {
    Result<Bytes> more = Measure(options, loaded, cells, 2 * lanes);
    if (!more) {
      return more;
    }
    Extrapolate(*base, *more, static_cast<double>(plan.lanes - lanes) / lanes, &bytes);
  }
  loaded->plan = plan;
  return bytes;
}

Result<MemoryPlan> PlanMemory(const LlamaOptions& options) {
  Result<LoadedModel> loaded = LoadModel(options, Weights::kMeasure);
  if (!loaded) {
    return loaded.error();
  }
  const Result<Bytes> bytes = MeasurePlan(options, &*loaded);
  if (!bytes) {
    return bytes.error();
  }
  MemoryPlan plan;
  plan.model = loaded->info;
  plan.weights_bytes = bytes->weights;
  plan.contexts = loaded->plan.contexts;
  plan.streams = loaded->plan.streams;
  plan.context_bytes = bytes->context * plan.contexts;
  plan.compute_bytes = bytes->compute * plan.contexts;
  const double available = loaded->available_bytes;
  plan.available_bytes = std::isfinite(available) ? static_cast<int64_t>(available) : -1;
  plan.cells = loaded->plan.cells * plan.contexts;
  plan.lanes = loaded->plan.lanes * plan.contexts;
  plan.bytes_per_cell = loaded->bytes_per_cell;
  plan.recurrent = loaded->recurrent;
  return plan;
}

}  // namespace

double AvailableBytes() {
  double available = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  double kilobytes = 0;
  while (file >> name >> kilobytes && std::getline(file, rest)) {
    if (name == "MemAvailable:") {
      available = kilobytes * 1024;
    }
  }
  const double limit = NumberIn("/sys/fs/cgroup/memory.max");
  const double used = NumberIn("/sys/fs/cgroup/memory.current");
  return std::isfinite(limit) && std::isfinite(used) ? std::min(available, limit - used)
                                                     : available;
}

}  // namespace hyper::llama

namespace hyper {

Result<MemoryPlan> PlanLlamaMemory(const LlamaOptions& options) {
  try {
    return llama::PlanMemory(options);
  } catch (const std::exception& failure) {
    return Error{ErrorCode::kInternal, "model file " + llama::Quoted(options.model_path) +
                                           " cannot be measured: " + failure.what()};
  }
}

}  // namespace hyper
