#include "apps/hyper/printers/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/hyper/printers/run_text.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

std::string Size(int64_t bytes) {
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return gigabytes < 0.1 ? fmt::format("{:.1f} MB", gigabytes * 1e3)
                         : fmt::format("{:.1f} GB", gigabytes);
}

bool IsSmall(const std::string& kv_type) { return kv_type == "q8_0" || kv_type == "q4_0"; }

}  // namespace

std::string PlanText(const MemoryPlan& plan, const std::string& kv_type, const PathLength& length) {
  const std::string experts = plan.model.expert_count > 0
                                  ? fmt::format("{} experts", plan.model.expert_count)
                                  : std::string("no experts");
  std::string text =
      fmt::format("model    {} ({}), {}\n", plan.model.name, plan.model.architecture, experts);
  text += fmt::format("weights  {:>9}\n", Size(plan.weights_bytes));
  const std::string contexts =
      plan.contexts > 1 ? fmt::format(" in {} contexts", plan.contexts) : "";
  text += fmt::format("KV       {:>9}  {} cells of {} for {} lanes{}{}{}\n",
                      Size(plan.context_bytes), Grouped(plan.cells), kv_type, plan.lanes, contexts,
                      plan.streams ? ", a buffer for each" : "",
                      plan.recurrent ? ", and a recurrent state for each" : "");
  const int room = plan.cells / std::max(1, plan.lanes);
  if (room < length.most) {
    const std::string expected =
        length.expected > 0 ? fmt::format("Expected: {}. ", Grouped(length.expected)) : "";
    text += fmt::format(
        "paths    {:>9} tokens of each fit side by side; a path may have {}\n"
        "         {}If many are longer, the least confident are cut.\n"
        "         Lower --width or --max-tokens{}\n",
        Grouped(room), Grouped(length.most), expected,
        IsSmall(kv_type) ? "" : ", or use --kv-type q8_0");
  }
  text += fmt::format("buffers  {:>9}\n", Size(plan.compute_bytes));
  text += fmt::format("total    {:>9}", Size(plan.total_bytes()));
  if (plan.available_bytes < 0) {
    return text + "\n";
  }
  const int64_t spare = plan.available_bytes - plan.total_bytes();
  text += fmt::format(" of {} available: {}\n", Size(plan.available_bytes),
                      spare >= 0 ? "fits" : "does not fit");
  // A recurrent state does not grow with the cells, so the cells' share is by the header.
  const double per_cell = plan.recurrent
                              ? plan.bytes_per_cell
                              : static_cast<double>(plan.context_bytes) / std::max(1, plan.cells);
  const double most = per_cell > 0 ? plan.cells + static_cast<double>(spare) / per_cell : 0;
  if (most < 256) {
    return text + "hint     no --ctx makes it fit; use a smaller model or more memory\n";
  }
  const int64_t whole = static_cast<int64_t>(length.most) * plan.lanes;
  if (spare >= 0 && plan.cells >= whole) {
    return text;  // every path has the room that it may ask for
  }
  const auto cells = std::min(static_cast<int64_t>(std::floor(most)),
                              spare >= 0 ? whole : std::numeric_limits<int64_t>::max());
  text += fmt::format("hint     --ctx up to {} fits: {} tokens for each of {} lanes\n",
                      Grouped(cells), Grouped(cells / std::max(1, plan.lanes)), plan.lanes);
  if (spare < 0) {
    text += "         a smaller --width or --max-tokens needs fewer\n";
    text += IsSmall(kv_type) ? "" : "         --kv-type q8_0 holds nearly twice as many\n";
  }
  return text;
}

std::string PlanJsonText(const MemoryPlan& plan, const PathLength& length) {
  const bool known = plan.available_bytes >= 0;
  const Json json = {{"model", plan.model.name},
                     {"weights_bytes", plan.weights_bytes},
                     {"context_bytes", plan.context_bytes},
                     {"compute_bytes", plan.compute_bytes},
                     {"total_bytes", plan.total_bytes()},
                     {"available_bytes", known ? Json(plan.available_bytes) : Json()},
                     {"fits", !known || plan.total_bytes() <= plan.available_bytes},
                     {"cells", plan.cells},
                     {"lanes", plan.lanes},
                     {"path_tokens", length.expected > 0 ? Json(length.expected) : Json()},
                     {"max_tokens", length.most},
                     {"contexts", plan.contexts},
                     {"streams", plan.streams},
                     {"bytes_per_cell", plan.bytes_per_cell},
                     {"recurrent", plan.recurrent}};
  return DumpJson(json, 2) + "\n";
}

}  // namespace hyper::app
