#include "src/engine/llama/router_hook.h"

#include <ggml-backend.h>

#include <cstdlib>
#include <cstring>

#include "src/core/random.h"

namespace hyper::llama {

RouterHook::RouterHook(int experts, int used, int moe_layers, bool biased)
    : experts_(experts),
      used_(used),
      moe_layers_(moe_layers),
      tensor_prefix_(biased ? "ffn_moe_logits_biased-" : "ffn_moe_logits-"),
      noise_(experts) {}

void RouterHook::Begin(std::span<const RoutedRow> routed, int rows) {
  routed_.assign(routed.begin(), routed.end());
  rows_ = rows;
  layers_seen_ = 0;
  trouble_.reset();
  for (const RoutedRow& row : routed_) {
    if (row.refinement->passes.empty()) {
      row.refinement->passes.assign(moe_layers_, RoutePass(row.refinement->spec, experts_, used_));
    }
  }
}

std::optional<std::string> RouterHook::End() {
  if (!routed_.empty() && !trouble_ && layers_seen_ != moe_layers_) {
    trouble_ = "the router hook saw " + std::to_string(layers_seen_) + " of " +
               std::to_string(moe_layers_) + " MoE layers";
  }
  routed_.clear();
  return trouble_;
}

bool RouterHook::OnNode(ggml_tensor* tensor, bool ask, void* hook) {
  auto* self = static_cast<RouterHook*>(hook);
  const bool wanted =
      !self->routed_.empty() &&
      std::strncmp(tensor->name, self->tensor_prefix_.c_str(), self->tensor_prefix_.size()) == 0;
  if (wanted && !ask) {
    self->OnRouter(tensor);
  }
  // Answering "no" to a question lets the graph run unsplit; after a node it would stop the graph.
  return wanted || !ask;
}

void RouterHook::OnRouter(ggml_tensor* tensor) {
  const int ordinal = layers_seen_++;
  // Rows that do not match the batch would be other tokens' rows: nothing may be written then.
  if (tensor->type != GGML_TYPE_F32 || !ggml_is_contiguous(tensor) || tensor->ne[0] != experts_ ||
      tensor->ne[1] != rows_ || ordinal >= moe_layers_) {
    trouble_ = "tensor " + std::string(tensor->name) + " has " + std::to_string(tensor->ne[0]) +
               " x " + std::to_string(tensor->ne[1]) + " router logits, not " +
               std::to_string(experts_) + " x " + std::to_string(rows_);
    return;
  }
  const int layer = std::atoi(tensor->name + tensor_prefix_.size());
  values_.resize(static_cast<size_t>(experts_) * rows_);
  ggml_backend_tensor_get(tensor, values_.data(), 0, ggml_nbytes(tensor));
  const std::span<float> all(values_);
  for (const RoutedRow& routed : routed_) {
    RouteRow(routed, layer, ordinal,
             all.subspan(static_cast<size_t>(routed.row) * experts_, experts_));
  }
  ggml_backend_tensor_set(tensor, values_.data(), 0, ggml_nbytes(tensor));
}

void RouterHook::RouteRow(const RoutedRow& routed, int layer, int ordinal, std::span<float> row) {
  const Refinement& refinement = *routed.refinement;
  if (ordinal < refinement.spec.skip_first_layers ||
      ordinal >= moe_layers_ - refinement.spec.skip_last_layers) {
    return;
  }
  if (routed.route > 0) {
    GumbelRow(refinement.path_key, static_cast<uint32_t>(refinement.position),
              static_cast<uint32_t>(layer), static_cast<uint32_t>(routed.route), noise_);
  }
  std::vector<int> experts = routed.refinement->passes[ordinal].Apply(row, noise_);
  if (observer_) {
    observer_(
        {refinement.path_key, refinement.position, layer, routed.route, std::move(experts), row});
  }
}

}  // namespace hyper::llama
