#include "src/engine/llama/gguf/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

namespace hyper::llama {
namespace {

constexpr int64_t kMostLayers = 512;    // LLAMA_MAX_LAYERS
constexpr int64_t kMostExperts = 1024;  // LLAMA_MAX_EXPERTS
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

class Counts {
 public:
  explicit Counts(const GgufHeader& header)
      : header_(header), prefix_(header.Text("general.architecture", "") + ".") {}

  std::string Name(const char* key) const { return prefix_ + key; }
  int64_t Of(const char* key) const { return header_.Integer(prefix_ + key, 0); }
  bool Has(const char* key) const { return header_.values.count(prefix_ + key) > 0; }
  // Notes the first count that does not lie in [least, most]; a missing one passes.
  void Check(const char* key, int64_t least, int64_t most, const std::string& because = "") {
    const int64_t count = Of(key);
    if (reason_ || !Has(key) || (count >= least && count <= most)) {
      return;
    }
    reason_ = prefix_ + key + " is " + std::to_string(count) + " and takes " +
              std::to_string(least) + " to " + std::to_string(most) + because;
  }
  void Fail(const char* key, const std::string& because) {
    reason_ = reason_ ? reason_ : prefix_ + key + " is " + std::to_string(Of(key)) + because;
  }
  const std::optional<std::string>& reason() const { return reason_; }

 private:
  const GgufHeader& header_;
  std::string prefix_;
  std::optional<std::string> reason_;
};

void CheckExperts(Counts* counts) {
  const int64_t experts = counts->Of("expert_count");
  const int64_t groups = counts->Of("expert_group_count");
  const std::string of = " of " + std::to_string(experts) + " experts";
  counts->Check("expert_count", 0, kMostExperts);
  counts->Check("expert_used_count", experts > 0 ? 1 : 0, experts, of);
  counts->Check("expert_group_count", 0, std::max<int64_t>(experts - 1, 0), of);
  if (experts > 0 && !counts->Has("expert_used_count")) {
    counts->Fail("expert_count", ", but expert_used_count is missing");
  }
  if (groups > 1) {
    if (experts % groups != 0) {
      counts->Fail("expert_group_count", ", which does not divide the " + std::to_string(experts) +
                                             " experts of expert_count");
    }
    counts->Check("expert_group_used_count", 1, groups - 1, " of so many groups");
    if (!counts->Has("expert_group_used_count")) {
      counts->Fail("expert_group_count", ", but expert_group_used_count is missing");
    }
  }
}

// Rotary positions turn pairs of a head's entries.
void CheckRope(const GgufHeader& header, Counts* counts) {
  const int64_t heads = counts->Of("attention.head_count");
  int64_t width = counts->Of("embedding_length");
  if (counts->Has("attention.key_length")) {
    width = counts->Of("attention.key_length");
  } else if (heads > 0 && !header.IsList(counts->Name("attention.head_count"))) {
    width /= heads;
  }
  counts->Check("rope.dimension_count", 2, width, ", the width of a head");
  if (counts->Of("rope.dimension_count") % 2 != 0) {
    counts->Fail("rope.dimension_count", " and takes even numbers");
  }
}

// The first number that turns every logit into no number, as a reason: the epsilon of a norm below
// 0, or rotary positions of no base.
std::optional<std::string> BadNumber(const GgufHeader& header) {
  for (const auto& [key, value] : header.values) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr) {
      continue;
    }
    const std::string is = key + " is " + std::to_string(*number) + " and takes ";
    if (key.ends_with("_epsilon") && !(*number >= 0)) {
      return is + "0 or more";
    }
    const bool base = key.ends_with("rope.freq_base") || key.ends_with("rope.freq_base_swa");
    if (base && !(*number > 0 && std::isfinite(*number))) {
      return is + "more than 0";
    }
  }
  return std::nullopt;
}

}  // namespace

Status CheckCounts(const GgufHeader& header, const std::string& path) {
  Counts counts(header);
  counts.Check("block_count", 1, kMostLayers);
  counts.Check("nextn_predict_layers", 0, counts.Of("block_count"));
  for (const char* key : {"context_length", "embedding_length", "full_attention_interval",
                          "experts_per_group", "wkv.head_size", "ssm.time_step_rank"}) {
    counts.Check(key, 1, kMost);
  }
  // Models without attention, such as Mamba, say that they have no heads.
  const bool attends = std::any_of(
      header.tensors.begin(), header.tensors.end(),
      [](const GgufTensor& tensor) { return tensor.name.find(".attn_q") != std::string::npos; });
  for (const char* key : {"attention.head_count", "attention.head_count_kv", "attention.key_length",
                          "attention.value_length"}) {
    counts.Check(key, attends ? 1 : 0, kMost);
  }
  CheckExperts(&counts);
  if (attends) {
    CheckRope(header, &counts);
  }
  const std::optional<std::string> reason = counts.reason() ? counts.reason() : BadNumber(header);
  if (!reason) {
    return {};
  }
  return Error{ErrorCode::kDataLoss, "model file " + Quoted(path) + " is broken: " + *reason +
                                         "; download or convert it again"};
}

}  // namespace hyper::llama
