#include "src/engine/llama/router_hook.h"

#include <ggml-backend.h>

#include <cstdlib>
#include <string_view>

#include "src/core/random.h"

namespace hyper::llama {
namespace {

// llama.cpp's list of the chosen experts of each row, best first.
constexpr std::string_view kChoicePrefix = "ffn_moe_topk-";

bool HasPrefix(const ggml_tensor& tensor, std::string_view prefix) {
  return std::string_view(tensor.name).substr(0, prefix.size()) == prefix;
}

std::string Shape(const ggml_tensor& tensor) {
  return "tensor " + std::string(tensor.name) + " is " + std::to_string(tensor.ne[0]) + " x " +
         std::to_string(tensor.ne[1]);
}

}  // namespace

RouterHook::RouterHook(int experts, int used, int moe_layers, bool biased)
    : experts_(experts),
      used_(used),
      moe_layers_(moe_layers),
      logits_prefix_(biased ? "ffn_moe_logits_biased-" : "ffn_moe_logits-"),
      noise_(experts) {}

void RouterHook::Begin(std::span<const RoutedRow> routed, int rows) {
  routed_.assign(routed.begin(), routed.end());
  rows_ = rows;
  layers_seen_ = 0;
  choices_.clear();
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
  if (!choices_.empty() && !trouble_) {
    trouble_ = "the router hook saw no list of chosen experts in the last MoE layer";
  }
  routed_.clear();
  return trouble_;
}

bool RouterHook::OnNode(ggml_tensor* tensor, bool ask, void* hook) {
  auto* self = static_cast<RouterHook*>(hook);
  const bool logits = !self->routed_.empty() && HasPrefix(*tensor, self->logits_prefix_);
  const bool choice = !self->choices_.empty() && HasPrefix(*tensor, kChoicePrefix);
  if (logits && !ask) {
    self->OnRouter(tensor);
  }
  if (choice && !ask) {
    self->OnChoice(tensor);
  }
  // Answering "no" to a question lets the graph run unsplit; after a node it would stop the graph.
  return logits || choice || !ask;
}

void RouterHook::OnRouter(ggml_tensor* tensor) {
  const int ordinal = layers_seen_++;
  // Rows that do not match the batch would be other tokens' rows: nothing may be written then.
  if (tensor->type != GGML_TYPE_F32 || !ggml_is_contiguous(tensor) || tensor->ne[0] != experts_ ||
      tensor->ne[1] != rows_ || ordinal >= moe_layers_) {
    trouble_ = Shape(*tensor) + " router logits, not " + std::to_string(experts_) + " x " +
               std::to_string(rows_);
    return;
  }
  if (!choices_.empty()) {
    trouble_ = "the router hook saw no list of chosen experts before " + std::string(tensor->name);
    choices_.clear();
  }
  const int layer = std::atoi(tensor->name + logits_prefix_.size());
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
  if (routed.route > 0 && refinement.spec.weights == RouteWeights::kClean) {
    choices_.push_back({routed.row, {experts.begin(), experts.end()}});
  }
  if (observer_) {
    observer_(
        {refinement.path_key, refinement.position, layer, routed.route, std::move(experts), row});
  }
}

void RouterHook::OnChoice(ggml_tensor* tensor) {
  if (tensor->type != GGML_TYPE_I32 || tensor->nb[0] != sizeof(int32_t) || tensor->ne[0] != used_ ||
      tensor->ne[1] != rows_) {
    trouble_ = Shape(*tensor) + " chosen experts, not " + std::to_string(used_) + " x " +
               std::to_string(rows_);
  } else {
    for (const Choice& choice : choices_) {
      ggml_backend_tensor_set(tensor, choice.experts.data(),
                              static_cast<size_t>(choice.row) * tensor->nb[1],
                              choice.experts.size() * sizeof(int32_t));
    }
  }
  choices_.clear();
}

}  // namespace hyper::llama
