#include "src/engine/llama/moe_router.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <variant>
#include <vector>

namespace hyper::llama {
namespace {

constexpr std::string_view kSecondList = "a second list of experts depends on the first";
constexpr std::string_view kByToken = "some layers choose their experts by the token alone";
constexpr std::string_view kNeverRun = "llama.cpp does not run the experts of this architecture";
constexpr std::string_view kNotCausal = "the model does not write from left to right";

// By the calls of build_moe_ffn in llama.cpp's src/models; moe_router_test holds the list complete.
constexpr auto kRouters = std::to_array<KnownRouter>({
    {"afmoe", ""},
    {"arctic", ""},
    {"bailingmoe", ""},
    {"bailingmoe2", ""},
    {"bailingmoe3", ""},
    {"bert", kNotCausal},
    {"cohere2moe", ""},
    {"dbrx", ""},
    {"deepseek", ""},
    {"deepseek2", ""},
    {"deepseek2-ocr", ""},
    {"deepseek32", ""},
    {"deepseek4", kByToken},
    {"dflash", kNotCausal},
    {"dots1", ""},
    {"dots3note", ""},
    {"ernie4_5", kNeverRun},
    {"ernie4_5-moe", ""},
    {"exaone-moe", ""},
    {"gemma4", ""},
    {"glm-dsa", ""},
    {"glm4moe", ""},
    {"gpt-oss", ""},
    {"granite", ""},
    {"granite_swa", ""},
    {"granitehybrid", ""},
    {"granitemoe", ""},
    {"grok", ""},
    {"grovemoe", kSecondList},
    {"hunyuan-moe", ""},
    {"hy_v3", ""},
    {"jamba", ""},
    {"jina-bert-v3", kNotCausal},
    {"kimi-k3", ""},
    {"kimi-linear", ""},
    {"laguna", ""},
    {"lfm2", ""},
    {"lfm2moe", ""},
    {"llada-moe", kNotCausal},
    {"llama", ""},
    {"llama-embed", kNotCausal},
    {"llama4", ""},
    {"mellum", ""},
    {"mimo2", ""},
    {"minicpm", ""},
    {"minimax-01", ""},
    {"minimax-m2", ""},
    {"minimax-m3", ""},
    {"mistral3", ""},
    {"mistral4", ""},
    {"nemotron_h", ""},
    {"nemotron_h_moe", ""},
    {"nomic-bert", kNotCausal},
    {"nomic-bert-moe", kNotCausal},
    {"olmoe", ""},
    {"paddleocr", kNeverRun},
    {"phimoe", ""},
    {"qwen2moe", ""},
    {"qwen35moe", ""},
    {"qwen3moe", ""},
    {"qwen3next", ""},
    {"qwen3vlmoe", ""},
    {"qwen4exp", ""},
    {"refact", kNeverRun},
    {"rnd1", kNotCausal},
    {"smallthinker", ""},
    {"step35", ""},
});

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The layer of a tensor named "blk.N.something", or -1.
int LayerOf(const std::string& name) {
  return name.rfind("blk.", 0) == 0 ? std::atoi(name.c_str() + 4) : -1;
}

// Whether all layers with experts use equally many; `used` holds one number for each layer.
bool IsEven(const std::vector<int64_t>& used) {
  int64_t first = 0;
  for (const int64_t count : used) {
    first = first == 0 ? count : first;
    if (count != 0 && count != first) {
      return false;
    }
  }
  return true;
}

std::string Refusal(const GgufHeader& header, const std::string& architecture,
                    bool selection_bias) {
  const auto* known =
      std::find_if(kRouters.begin(), kRouters.end(),
                   [&](const KnownRouter& router) { return router.architecture == architecture; });
  if (known == kRouters.end()) {
    return "it is not known how models of the architecture " + Quoted(architecture) +
           " choose their experts";
  }
  if (!known->refusal.empty()) {
    return std::string(known->refusal);
  }
  if (selection_bias) {
    return "the model chooses its experts by other scores than its router's: each expert has a "
           "bias (exp_probs_b)";
  }
  if (header.Integer(architecture + ".expert_group_count", 0) > 1) {
    return "the model chooses groups of experts first";
  }
  const auto used = header.values.find(architecture + ".expert_used_count");
  const auto* list =
      used == header.values.end() ? nullptr : std::get_if<std::vector<int64_t>>(&used->second);
  if (list != nullptr && !IsEven(*list)) {
    return "the model's layers use different numbers of experts";
  }
  return "";
}

}  // namespace

std::span<const KnownRouter> KnownRouters() { return kRouters; }

MoeRouter DescribeRouter(const GgufHeader& header) {
  const std::string architecture = header.Text("general.architecture", "");
  // Layers that predict further tokens come last and are not run.
  const int64_t layers = header.Integer(architecture + ".block_count", 0) -
                         header.Integer(architecture + ".nextn_predict_layers", 0);
  MoeRouter router;
  bool selection_bias = false;
  for (const GgufTensor& tensor : header.tensors) {
    if (LayerOf(tensor.name) >= layers) {
      continue;
    }
    router.layers += EndsWith(tensor.name, ".ffn_gate_inp.weight") ? 1 : 0;
    router.biased = router.biased || EndsWith(tensor.name, ".ffn_gate_inp.bias");
    selection_bias = selection_bias || tensor.name.find(".exp_probs_b") != std::string::npos;
  }
  if (header.Integer(architecture + ".expert_count", 0) < 2 || router.layers == 0) {
    router.refusal = "the model has no experts";
  } else {
    router.refusal = Refusal(header, architecture, selection_bias);
  }
  return router;
}

}  // namespace hyper::llama
