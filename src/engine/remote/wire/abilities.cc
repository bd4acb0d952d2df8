#include "src/engine/remote/wire/abilities.h"

#include <fmt/format.h>

#include "src/engine/remote/wire/endpoint.h"

namespace hyper::remote {
namespace {

std::string YesNo(bool value) { return value ? "yes" : "no"; }

const char* ChatWay(const Abilities& can) {
  switch (can.chat) {
    case Abilities::Template::kApplyTemplate:
      return "/apply-template";
    case Abilities::Template::kTokenizeMessages:
      return "/tokenize of messages";
    case Abilities::Template::kPrefill:
      return can.continuation.flagged ? "assistant prefill (continue_final_message)"
                                      : "assistant prefill (trailing message)";
    case Abilities::Template::kNone:
      break;
  }
  return "none";
}

std::string Refinement(const ServerRouting& routing) {
  return routing.most_routes > 0 ? fmt::format("yes, K up to {}, {} extra rows a forward",
                                               routing.most_routes, routing.extra_rows)
                                 : "no";
}

std::string Number(int value) { return value > 0 ? std::to_string(value) : "unknown"; }

}  // namespace

ServerReport Describe(const std::string& url, const Abilities& can) {
  ServerReport report;
  report.url = BaseUrl(url);
  report.model = can.model;
  report.findings = {
      {"server", ServerKindName(can.kind)},
      {"model", can.model.empty() ? "unnamed" : can.model},
      {"context", Number(can.context_tokens)},
      {"sequences at once", Number(can.slots)},
      {"top log-probabilities",
       fmt::format("{}{}", can.top_logprobs, can.top_logprobs == kWantedTop ? " or more" : "")},
      {"raw log-probabilities", YesNo(can.raw_logprobs)},
      {"prompts as token ids", YesNo(can.prompt_ids)},
      {"generated token ids", YesNo(can.output_ids)},
      {"tokenizer", can.token_pieces ? "yes, with texts" : YesNo(can.tokenizes)},
      {"top_k and min_p", YesNo(can.filters)},
      {"seeds", YesNo(can.seeds)},
      {"echo", YesNo(can.echo)},
      {"n > 1", YesNo(can.several)},
      {"prefix cache", YesNo(can.prefix_cache)},
      {"chat template", ChatWay(can)},
      {"reasoning field", can.reasoning_field.empty() ? "none" : can.reasoning_field},
      {"errors", can.error_style},
  };
  if (can.kind == ServerKind::kVllm) {
    report.findings.push_back({"token refinement", Refinement(can.routing)});
  }
  report.workarounds = can.workarounds;
  return report;
}

const char* ServerKindName(ServerKind kind) {
  switch (kind) {
    case ServerKind::kLlamaServer:
      return "llama-server";
    case ServerKind::kVllm:
      return "vLLM";
    case ServerKind::kSglang:
      return "SGLang";
    case ServerKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace hyper::remote
