#include "src/decode/names.h"

#include <fmt/format.h>

#include <sstream>

namespace hyper {

ConfidenceSet ConfidenceSetOf(const MethodOptions& options) {
  return options.confidence_set == "topk" ? ConfidenceSet::kTopK : ConfidenceSet::kAlternatives;
}

RouteSpec RouteSpecOf(const MethodOptions& options, int routes) {
  RouteSpec spec;
  spec.routes = routes;
  spec.tau = options.tau;
  spec.lambda = options.lambda;
  spec.two_pass = options.two_pass;
  spec.penalty = options.penalty == "softmax" ? RoutePenalty::kSoftmax : RoutePenalty::kScore;
  spec.weights = options.weights == "clean" ? RouteWeights::kClean : RouteWeights::kNoisy;
  spec.aggregate =
      options.aggregate == "mean-prob" ? RouteAggregate::kMeanProb : RouteAggregate::kConfidence;
  spec.aggregate_temperature = options.aggregate_temperature;
  spec.confidence_count = options.confidence_count;
  spec.confidence_set = ConfidenceSetOf(options);
  spec.skip_first_layers = options.skip_first_layers;
  spec.skip_last_layers = options.skip_last_layers;
  return spec;
}

std::array<bool, kActionCount> ActionsOf(const MethodOptions& options) {
  std::array<bool, kActionCount> allowed{};
  std::istringstream names(options.actions);
  for (std::string name; std::getline(names, name, ',');) {
    for (size_t i = 0; i < kActionCount; ++i) {
      if (name == ActionName(static_cast<Action>(i))) {
        allowed[i] = true;
      }
    }
  }
  return allowed;
}

std::optional<std::string> UnescapeDelimiter(const std::string& escaped) {
  std::string text;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      text += escaped[i];
      continue;
    }
    const char code = i + 1 < escaped.size() ? escaped[++i] : '\0';
    if (code != 'n' && code != 't' && code != '\\') {
      return std::nullopt;
    }
    text += code == 'n' ? '\n' : code == 't' ? '\t' : '\\';
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string PruneReason(double window_mean, double threshold) {
  return fmt::format("window mean {:.4f} fell below the threshold {:.4f}", window_mean, threshold);
}

const char* PathStatusName(PathStatus status) {
  switch (status) {
    case PathStatus::kRunning:
      return "running";
    case PathStatus::kFinished:
      return "finished";
    case PathStatus::kPruned:
      return "pruned";
    case PathStatus::kLength:
      return "length";
    case PathStatus::kMerged:
      return "merged";
    case PathStatus::kDegenerate:
      return "degenerate";
    case PathStatus::kCancelled:
      return "cancelled";
    case PathStatus::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace hyper
