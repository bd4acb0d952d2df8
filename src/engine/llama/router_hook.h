// Clean Cache routing inside llama.cpp: rewrites rows of every MoE layer's router logits while a
// forward runs (Sec. 3.2 steps 1 and 2; App. D). With clean weights (RoE) the logits stay, and the
// rows of the layer's list of chosen experts are rewritten in their place: the weights are then
// what the model makes of its own logits, whether it normalises them or not.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyper/engine.h"
#include "src/core/routing.h"

namespace hyper::llama {

// The refinement of one token of one lane, kept from its first wave of routes to its last.
struct Refinement {
  RouteSpec spec;
  uint64_t path_key = 0;
  int position = 0;    // of the token that is being chosen
  int next_route = 0;  // routes before this one are done
  int origin = -1;     // of recurrent models, once parted into waves: the sequence before the token
  std::vector<RoutePass> passes;           // [MoE layers], made in the first wave
  std::vector<std::vector<float>> logits;  // [routes done][vocabulary] of earlier waves
};

// One row of a forward that carries a route.
struct RoutedRow {
  int row = 0;    // in the batch
  int route = 0;  // 0 is the clean one
  Refinement* refinement = nullptr;
};

// What the hook saw of one route in one MoE layer; for tests.
struct RoutingRecord {
  uint64_t path_key = 0;
  int position = 0;
  int layer = 0;  // number of the model's layer
  int route = 0;
  std::vector<int> experts;       // chosen, best first
  std::span<const float> scores;  // [experts] as written back; valid during the call only
};

class RouterHook {
 public:
  // What a model's router looks like.
  //   biased  the router adds a bias, and routing starts from the sum
  RouterHook(int experts, int used, int moe_layers, bool biased);

  // Rows of the next forward that carry routes, each refinement's by rising route; `rows` is the
  // batch size. Without routed rows the forward runs as if there were no hook.
  void Begin(std::span<const RoutedRow> routed, int rows);
  // Ends the forward. Returns why routing did not happen as it must, or nothing.
  std::optional<std::string> End();

  // ggml_backend_sched_eval_callback; `hook` is a RouterHook.
  static bool OnNode(ggml_tensor* tensor, bool ask, void* hook);

  void set_observer(std::function<void(const RoutingRecord&)> observer) {
    observer_ = std::move(observer);
  }

 private:
  // Experts that a row must take in place of those of its logits, in the layer that is running.
  struct Choice {
    int row = 0;
    std::vector<int32_t> experts;
  };

  void OnRouter(ggml_tensor* tensor);
  void RouteRow(const RoutedRow& routed, int layer, int ordinal, std::span<float> row);
  void OnChoice(ggml_tensor* tensor);

  int experts_;
  int used_;
  int moe_layers_;
  std::string logits_prefix_;
  std::vector<RoutedRow> routed_;
  std::vector<Choice> choices_;
  int rows_ = 0;
  int layers_seen_ = 0;
  std::optional<std::string> trouble_;
  std::vector<float> noise_;
  std::vector<float> values_;
  std::function<void(const RoutingRecord&)> observer_;
};

}  // namespace hyper::llama
