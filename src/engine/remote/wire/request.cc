#include "src/engine/remote/wire/request.h"

#include <nlohmann/json.hpp>

#include "src/core/random.h"

namespace hyper::remote {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Special tokens that belong to the text: answers are looked for behind the reasoning.
constexpr const char* kReasoningTags[] = {"<think>",     "</think>", "<thinking>",
                                          "</thinking>", "[THINK]",  "[/THINK]"};

void AddSampler(const CompletionRequest& request, const Abilities& can, OrderedJson& body) {
  const SamplerSpec& sampler = request.sampler;
  body["temperature"] = sampler.temperature;
  body["top_p"] = sampler.top_p;
  if (can.filters) {
    body["top_k"] = sampler.top_k > 0 ? sampler.top_k : -1;  // every server takes -1 for "all"
    body["min_p"] = sampler.min_p;
  }
  if (can.kind == ServerKind::kLlamaServer) {
    body["samplers"] = {"temperature", "top_k", "top_p", "min_p"};
  }
  body["seed"] = request.seed;
}

const char* NameIn(RoutePenalty penalty) {
  return penalty == RoutePenalty::kSoftmax ? "softmax" : "score";
}

const char* NameIn(RouteAggregate aggregate) {
  return aggregate == RouteAggregate::kMeanProb ? "mean-prob" : "confidence";
}

const char* NameIn(ConfidenceSet set) {
  return set == ConfidenceSet::kTopK ? "top-k" : "alternatives";
}

// The members that the add-on of vLLM reads (integrations/vllm/README.md).
void AddRoute(const RouteSpec& route, uint64_t key, OrderedJson& body) {
  OrderedJson& members = body["vllm_xargs"];
  members["hyper_k"] = route.routes;
  members["hyper_key"] = std::to_string(key);  // as a number it might become a double on its way
  members["hyper_tau"] = route.tau;
  members["hyper_lambda"] = route.lambda;
  members["hyper_two_pass"] = route.two_pass ? 1 : 0;
  members["hyper_penalty"] = NameIn(route.penalty);
  members["hyper_agg"] = NameIn(route.aggregate);
  members["hyper_agg_temperature"] = route.aggregate_temperature;
  members["hyper_count"] = route.confidence_count;
  members["hyper_set"] = NameIn(route.confidence_set);
  members["hyper_skip"] = {route.skip_first_layers, route.skip_last_layers};
}

// Messages, and behind them what the assistant has said so far.
void AddChat(const CompletionRequest& request, const Abilities& can, OrderedJson& body) {
  const ChatPrompt& chat = *request.chat;
  body["messages"] = OrderedJson::parse(chat.messages);
  if (!chat.arguments.empty()) {
    body["chat_template_kwargs"] = OrderedJson::parse(chat.arguments);
  }
  if (!request.text.empty()) {
    body["messages"].push_back(
        {{"role", "assistant"}, {"content", chat.continuation.opener + request.text}});
    if (chat.continuation.flagged) {
      body["continue_final_message"] = true;
      body["add_generation_prompt"] = false;
    }
  }
  // Reasoning stays in the text: lanes need every token.
  if (can.kind == ServerKind::kLlamaServer) {
    body["reasoning_format"] = "none";
  } else if (can.kind == ServerKind::kSglang) {
    body["separate_reasoning"] = false;
  }
}

}  // namespace

const char* CompletionPath(const CompletionRequest& request) {
  return request.chat != nullptr ? "/chat/completions" : "/completions";
}

std::string CompletionBody(const CompletionRequest& request, const Abilities& can) {
  OrderedJson body;
  if (!can.model.empty()) {
    body["model"] = can.model;
  }
  if (request.chat != nullptr) {
    AddChat(request, can, body);
  } else if (request.ids.empty()) {
    body["prompt"] = request.text;
  } else {
    body["prompt"] = request.ids;
    if (!request.text.empty()) {
      body["prompt"].push_back(request.text);
    }
  }
  body["max_tokens"] = request.max_tokens;
  body["stream"] = request.stream;
  AddSampler(request, can, body);
  if (request.top_count > 0 && request.chat != nullptr) {
    body["logprobs"] = true;
    body["top_logprobs"] = request.top_count;
  } else if (request.top_count > 0) {
    body["logprobs"] = request.top_count;
  }
  if (!request.stop_at_end) {
    body["ignore_eos"] = true;
  }
  for (const auto& [id, bias] : request.logit_bias) {
    body["logit_bias"][std::to_string(id)] = bias;
  }
  if (request.route) {
    AddRoute(*request.route, request.route_key, body);
  }
  if (can.kind == ServerKind::kLlamaServer) {
    body["preserved_tokens"] = kReasoningTags;
  }
  if (can.kind == ServerKind::kVllm || can.kind == ServerKind::kSglang) {
    body["skip_special_tokens"] = false;
    body["spaces_between_special_tokens"] = false;
    if (can.output_ids) {
      body["return_token_ids"] = true;
    }
  }
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

uint32_t RequestSeed(uint64_t path_key, int position, int attempt) {
  constexpr uint32_t kRequest = 0x52;  // no Purpose has this number
  constexpr uint32_t kPositive = 0x7FFFFFFF;
  return Philox(path_key,
                {static_cast<uint32_t>(position), kRequest, static_cast<uint32_t>(attempt), 0})[0] &
         kPositive;
}

}  // namespace hyper::remote
