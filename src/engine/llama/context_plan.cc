#include "src/engine/llama/context_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/engine/llama/kv/layout.h"

namespace hyper::llama {
namespace {

constexpr int kMaxSequences = 256;  // LLAMA_MAX_SEQ
// More rows take another attention kernel on CPUs, which rounds apart.
constexpr int kNarrowRows = 63;
constexpr int kWideRows = 256;
constexpr int kFastPrefillRows = 512;
constexpr int kDefaultCells = 32768;  // llama.cpp scans all cells at every fork and prune

// Cells of each context where none were asked for.
//   needed  cells that the caller's runs may fill in all contexts; 0: not known
int64_t DefaultCells(const ContextPlan& plan, const ModelShape& shape, double available,
                     int64_t needed) {
  const int64_t usual = std::max(kDefaultCells, shape.train_tokens);
  const int64_t wanted = needed > 0 ? (needed + plan.contexts - 1) / plan.contexts : usual;
  int64_t cells = std::min(int64_t{plan.lanes} * shape.train_tokens, wanted);
  if (shape.bytes_per_cell > 0 && std::isfinite(available)) {
    cells =
        std::min(cells, static_cast<int64_t>(available / 4 / plan.contexts / shape.bytes_per_cell));
  }
  return std::max<int64_t>(cells, 256);
}

Error TooManyCells(int64_t cells, double bytes, double available) {
  return {ErrorCode::kResourceExhausted,
          "a context of " + std::to_string(cells) + " KV cells (--ctx) needs " +
              std::to_string(static_cast<int64_t>(bytes)) + " bytes (" + Gigabytes(bytes) +
              ") and " + Gigabytes(available) + " of memory are available; give a smaller --ctx"};
}

}  // namespace

Status CheckOptions(const LlamaOptions& options) {
  LlamaOptions copy = options;
  if (Status status = CheckRanges(OptionsOf(copy)); !status) {
    return status;
  }
  if (options.context_cells == 1) {
    return InvalidArgument("--ctx is 1; it takes 2 KV cells or more, or 0 for as many as needed");
  }
  if (options.kv_layout == KvLayout::kStreams && options.strict) {
    return InvalidArgument(
        "a KV buffer for each lane cannot keep equal bytes; use --determinism fast, or "
        "--kv unified");
  }
  const int most_rows = options.strict ? kNarrowRows : kFastPrefillRows;
  const int least_rows = options.strict ? 2 : 1;
  if (options.max_forward_rows != 0 &&
      (options.max_forward_rows < least_rows || options.max_forward_rows > most_rows)) {
    return InvalidArgument("a forward of " + std::to_string(options.max_forward_rows) +
                           " rows; it takes " + std::to_string(least_rows) + " to " +
                           std::to_string(most_rows) + ", or 0 for auto");
  }
  return {};
}

Result<ContextPlan> PlanContext(const LlamaOptions& options, const ModelShape& shape,
                                double limit) {
  ContextPlan plan;
  const int lanes = options.max_lanes == 0 ? kDefaultLanes : options.max_lanes;
  const int most = options.context_lanes == 0 ? kMostContextLanes : options.context_lanes;
  plan.contexts = (lanes + most - 1) / most;
  plan.lanes = (lanes + plan.contexts - 1) / plan.contexts;
  // On CPUs ggml's attention of more rows computes every product of theirs with every cell, though
  // all but a path's own are masked: wide pools are faster in parts (docs/performance.md).
  const bool narrow = options.strict || (shape.on_cpu && !shape.pool_attention);
  const int rows = narrow ? kNarrowRows : kWideRows;
  plan.max_rows = options.max_forward_rows == 0 ? rows : options.max_forward_rows;
  plan.prefill_rows = options.strict ? plan.max_rows : kFastPrefillRows;
  plan.routes = std::min(plan.max_rows - 1, kMaxSequences - 2 - plan.lanes);
  plan.routes = std::max(plan.routes, 1);
  const double available = shape.available;
  int64_t cells = (int64_t{options.context_cells} + plan.contexts - 1) / plan.contexts;
  cells = options.context_cells == 0 ? DefaultCells(plan, shape, available, options.needed_cells)
                                     : std::max<int64_t>(cells, 2);
  LayoutCase layout;
  layout.wish = options.kv_layout;
  layout.possible = !options.strict && shape.plain;
  layout.pool_attention = shape.pool_attention;
  layout.lanes = plan.lanes;
  layout.sequences = plan.sequences();
  layout.cells = cells;
  layout.cells_given = options.context_cells > 0;
  layout.train_tokens = shape.train_tokens;
  layout.affordable_cells = shape.bytes_per_cell > 0 && std::isfinite(available)
                                ? available / 4 / plan.contexts / shape.bytes_per_cell
                                : std::numeric_limits<double>::infinity();
  const LayoutChoice choice = ChooseLayout(layout);
  plan.streams = choice.streams;
  if (plan.streams && options.max_forward_rows == 0) {
    plan.max_rows = kWideRows;  // each row has its own cells alone
  }
  const int64_t physical = plan.streams ? int64_t{choice.stream_cells} * plan.sequences()
                                        : (cells + kNarrowRows + 255) / 256 * 256;
  cells = plan.streams ? int64_t{choice.stream_cells} * plan.lanes : cells;
  plan.stream_cells = choice.stream_cells;
  const int64_t asked = (plan.streams ? physical : cells) * plan.contexts;
  const double bytes = static_cast<double>(asked) * shape.bytes_per_cell;
  // ggml keeps the sizes of tensors in 64 bits but counts cells in 32.
  if (bytes > limit || physical > std::numeric_limits<int32_t>::max() / 2) {
    return TooManyCells(asked, bytes, available);
  }
  plan.cells = static_cast<int>(cells);
  plan.physical_cells = static_cast<int>(physical);
  return plan;
}

std::string Gigabytes(double bytes) {
  const double tenths = std::round(bytes / 1e8);
  std::string text = std::to_string(static_cast<int64_t>(tenths));
  text = text.size() < 2 ? "0" + text : text;
  return text.substr(0, text.size() - 1) + "." + text.back() + " GB";
}

}  // namespace hyper::llama
