// How a model chooses its experts, and whether refinement can choose them in its place.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/engine/llama/gguf/header.h"

namespace hyper::llama {

// An architecture of llama.cpp whose models may have experts, as its source was read.
struct KnownRouter {
  std::string_view architecture;
  std::string_view refusal;  // why its experts cannot be chosen; empty: the top m of its logits
};

// All of them, in alphabetical order.
std::span<const KnownRouter> KnownRouters();

struct MoeRouter {
  int layers = 0;       // layers with experts that a forward runs
  bool biased = false;  // the router adds a bias to its logits, and routing starts from the sum
  // Why no route can be told which experts to take, in words; empty: it can. RoutePass
  // (core/routing.h) needs a model that takes the m experts with the largest logits.
  std::string refusal;
};

// The router of a model by its file.
MoeRouter DescribeRouter(const GgufHeader& header);

}  // namespace hyper::llama
