#include "src/engine/remote/probe/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace hyper::remote {

Error Refusal(const std::string& base, const JsonAnswer& answer) {
  const int status = answer.end.status;
  const char* remedy = status == 401 || status == 403 ? "; give a key with --engine-key-file"
                       : status == 404 ? "; is this the base URL, such as http://host:8000/v1?"
                                       : "";
  const char* what = status == 0 ? "gave no reply" : "gave an unexpected reply";
  return {ErrorCode::kUnavailable,
          fmt::format("the server at {} {}: {}{}", base, what, answer.error_words, remedy)};
}

Status ReadModels(const std::string& base, const JsonAnswer& answer, const std::string& wanted,
                  Abilities& can) {
  if (!answer.ok()) {
    return Refusal(base, answer);
  }
  std::string names;
  std::string plain;  // that name under which another hyper decodes and does nothing else
  const WireJson list = answer.body.value("data", WireJson::array());
  for (const WireJson& entry : list) {
    const std::string id = entry.is_object() ? entry.value("id", "") : "";
    names += (names.empty() ? "" : ", ") + id;
    if (wanted.empty() && !can.model.empty() && id == can.model + ":plain" &&
        entry.value("owned_by", WireJson()) == "hyper") {
      plain = id;
    }
    if (!can.model.empty() || (!wanted.empty() && id != wanted)) {
      continue;
    }
    can.model = id;
    if (entry.contains("max_model_len") && entry["max_model_len"].is_number_integer()) {
      can.context_tokens = entry["max_model_len"].get<int>();
    }
    const WireJson& owner = entry.contains("owned_by") ? entry["owned_by"] : WireJson();
    can.kind = owner == "vllm"       ? ServerKind::kVllm
               : owner == "sglang"   ? ServerKind::kSglang
               : owner == "llamacpp" ? ServerKind::kLlamaServer
                                     : ServerKind::kUnknown;
  }
  can.model = plain.empty() ? can.model : plain;
  if (!wanted.empty() && can.model.empty()) {
    return Error{ErrorCode::kNotFound, fmt::format("the server at {} has no model '{}'; it has {}",
                                                   base, wanted, names.empty() ? "none" : names)};
  }
  return {};
}

void ReadProps(const JsonAnswer& props, Abilities& can) {
  if (!props.ok() || !props.body.contains("default_generation_settings")) {
    return;
  }
  can.kind = ServerKind::kLlamaServer;
  const WireJson& settings = props.body["default_generation_settings"];
  can.slots = props.body.value("total_slots", 0);
  can.context_tokens = settings.is_object() ? settings.value("n_ctx", 0) : 0;
}

void ReadRouting(const JsonAnswer& answer, Abilities& can) {
  if (!answer.ok() || !answer.body.value("routing", false)) {
    return;
  }
  can.routing.most_routes = answer.body.value("max_routes", 0);
  can.routing.extra_rows = answer.body.value("max_extra_rows", 0);
  can.routing.moe_layers = answer.body.value("layers", 0);
  can.routing.experts = answer.body.value("experts", 0);
  can.routing.experts_used = answer.body.value("experts_used", 0);
}

std::map<std::string, float> FirstList(const JsonAnswer& answer, Chunk& chunk) {
  std::map<std::string, float> list;
  if (ChunkParser().Parse(answer.text, chunk) && !chunk.tokens.empty()) {
    for (const ChunkAlternative& entry : chunk.tokens[0].top) {
      list[entry.bytes] = entry.logprob;
    }
  }
  return list;
}

std::vector<float> EchoedLogprobs(const WireJson& body, size_t prompt, size_t scored) {
  constexpr float kLowest = -9999.0F;
  const WireJson::json_pointer place("/choices/0/logprobs/token_logprobs");
  std::vector<float> values;
  if (!body.contains(place) || !body.at(place).is_array() || body.at(place).size() < prompt) {
    return values;
  }
  const WireJson& list = body.at(place);
  for (size_t i = prompt - scored; i < prompt; ++i) {
    values.push_back(list[i].is_number() ? std::max(list[i].get<float>(), kLowest) : kLowest);
  }
  return values;
}

std::string FirstText(const WireJson& body) {
  const WireJson choices = body.value("choices", WireJson::array());
  if (choices.empty()) {
    return "";
  }
  const WireJson message = choices[0].value("message", WireJson::object());
  return message.contains("content") && message["content"].is_string()
             ? message["content"].get<std::string>()
             : choices[0].value("text", "");
}

int CachedTokens(const JsonAnswer& answer) {
  Chunk chunk;
  const bool read = ChunkParser().Parse(answer.text, chunk);
  if (read && chunk.cached_tokens >= 0) {
    return chunk.cached_tokens;
  }
  const WireJson timings = answer.body.value("timings", WireJson::object());
  return timings.value("cache_n", 0);
}

double CacheHits(std::string_view metrics) {
  double hits = 0;
  while (!metrics.empty()) {
    const std::string_view line = metrics.substr(0, metrics.find('\n'));
    metrics.remove_prefix(std::min(metrics.size(), line.size() + 1));
    const size_t value = line.rfind(' ');
    if (value != std::string_view::npos && (line.starts_with("vllm:prefix_cache_hits_total") ||
                                            line.starts_with("sglang:cached_tokens_total"))) {
      hits += std::strtod(std::string(line.substr(value + 1)).c_str(), nullptr);
    }
  }
  return hits;
}

}  // namespace hyper::remote
