#include "src/engine/llama/moe_router.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hyper::llama {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// All matches of `pattern` in `text`: its first group, and its second one where it has one.
std::vector<std::pair<std::string, std::string>> AllMatches(const std::string& text,
                                                            const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::pair<std::string, std::string>> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    found.emplace_back((*match)[1], match->size() > 2 ? (*match)[2].str() : "");
  }
  return found;
}

// The architectures for which llama.cpp loads a router, by its sources in `folder`.
std::set<std::string> ArchitecturesWithRouters(const std::filesystem::path& folder) {
  std::map<std::string, std::string> names;  // by enumerator
  for (const auto& [id, name] :
       AllMatches(ReadText(folder / "llama-arch.cpp"), R"(\{ *LLM_ARCH_(\w+), *"([^"]+)\")")) {
    names[id] = name;
  }
  std::set<std::string> loaders;  // classes that load a router themselves
  std::set<std::string> others;   // and classes that load their tensors without one
  for (const auto& entry : std::filesystem::directory_iterator(folder / "models")) {
    const std::string text = ReadText(entry.path());
    const std::regex start(R"(\nvoid (llama_model_\w+)::load_arch_tensors\()");
    for (std::sregex_iterator match(text.begin(), text.end(), start), end; match != end; ++match) {
      const auto begin = static_cast<size_t>(match->position());
      const std::string body = text.substr(begin, text.find("\n}\n", begin) - begin);
      const bool loads = std::regex_search(body, std::regex(R"(LLM_TENSOR_FFN_GATE_INP\b)"));
      (loads ? loaders : others).insert((*match)[1]);
    }
  }
  std::map<std::string, std::string> bases;
  for (const auto& [name, base] :
       AllMatches(ReadText(folder / "models" / "models.h"),
                  R"(struct (llama_model_\w+) *: *public (llama_model_\w+))")) {
    bases[name] = base;
  }
  std::set<std::string> found;
  std::vector<std::string> cases;  // that share the next return
  for (const auto& [id, made] :
       AllMatches(ReadText(folder / "llama-model.cpp"),
                  R"(case LLM_ARCH_(\w+):|return new (llama_model_\w+)\()")) {
    if (made.empty()) {
      cases.push_back(id);
      continue;
    }
    std::string loader = made;
    while (loaders.count(loader) + others.count(loader) == 0 && bases.count(loader) > 0) {
      loader = bases.at(loader);
    }
    for (const std::string& arch : cases) {
      if (loaders.count(loader) > 0) {
        found.insert(names.count(arch) > 0 ? names.at(arch) : arch);
      }
    }
    cases.clear();
  }
  return found;
}

TEST(KnownRouters, AreThoseOfLlamaCpp) {
  const std::filesystem::path folder = std::filesystem::path(HYPER_LLAMA_TREE) / "src";
  if (!std::filesystem::exists(folder / "models")) {
    GTEST_SKIP() << "llama.cpp's sources are not here";
  }
  std::set<std::string> known;
  for (const KnownRouter& router : KnownRouters()) {
    known.emplace(router.architecture);
  }
  EXPECT_EQ(known, ArchitecturesWithRouters(folder))
      << "read build_moe_ffn's call of each new one, then add it to moe_router.cc";
}

TEST(KnownRouters, AreSortedAndDocumented) {
  EXPECT_TRUE(std::is_sorted(
      KnownRouters().begin(), KnownRouters().end(),
      [](const KnownRouter& a, const KnownRouter& b) { return a.architecture < b.architecture; }));
  std::map<std::string, std::string> lists;  // by the reason for a refusal
  for (const KnownRouter& router : KnownRouters()) {
    std::string& list = lists[std::string(router.refusal)];
    list += (list.empty() ? "" : ", ") + ("`" + std::string(router.architecture) + "`");
  }
  const std::string page = std::regex_replace(
      ReadText(std::filesystem::path(HYPER_SOURCE_DIR) / "docs" / "architectures.md"),
      std::regex("\\s+"), " ");
  for (const auto& [refusal, list] : lists) {
    const std::string kind = refusal.empty() ? "can be refined" : "refused, since " + refusal;
    const std::string line = fmt::format("- {}: {} ", kind, list);
    EXPECT_NE(page.find(line), std::string::npos) << "docs/architectures.md lacks\n" << line;
  }
}

GgufHeader HeaderOf(const std::string& architecture) {
  GgufHeader header;
  header.values["general.architecture"] = architecture;
  header.values[architecture + ".block_count"] = uint64_t{3};
  header.values[architecture + ".expert_count"] = uint64_t{8};
  header.values[architecture + ".expert_used_count"] = uint64_t{2};
  for (const char* layer : {"1", "2"}) {
    header.tensors.push_back({std::string("blk.") + layer + ".ffn_gate_inp.weight", {16, 8}});
  }
  return header;
}

TEST(DescribeRouter, OfAPlainModel) {
  const MoeRouter router = DescribeRouter(HeaderOf("olmoe"));
  EXPECT_EQ(router.layers, 2);
  EXPECT_FALSE(router.biased);
  EXPECT_EQ(router.refusal, "");
}

TEST(DescribeRouter, LayersThatPredictFurtherTokensAreNotRun) {
  GgufHeader header = HeaderOf("glm4moe");
  header.values["glm4moe.nextn_predict_layers"] = uint64_t{1};
  header.tensors.push_back({"blk.2.exp_probs_b.bias", {8}});
  const MoeRouter router = DescribeRouter(header);
  EXPECT_EQ(router.layers, 1);
  EXPECT_EQ(router.refusal, "");
}

TEST(DescribeRouter, SaysWhyItRefuses) {
  GgufHeader biased = HeaderOf("deepseek2");
  biased.tensors.push_back({"blk.1.exp_probs_b.bias", {8}});
  EXPECT_NE(DescribeRouter(biased).refusal.find("exp_probs_b"), std::string::npos);

  GgufHeader grouped = HeaderOf("deepseek2");
  grouped.values["deepseek2.expert_group_count"] = uint64_t{1};
  EXPECT_EQ(DescribeRouter(grouped).refusal, "");
  grouped.values["deepseek2.expert_group_count"] = uint64_t{4};
  EXPECT_NE(DescribeRouter(grouped).refusal.find("groups"), std::string::npos);

  GgufHeader uneven = HeaderOf("nemotron_h");
  uneven.values["nemotron_h.expert_used_count"] = std::vector<int64_t>{0, 2, 2};
  EXPECT_EQ(DescribeRouter(uneven).refusal, "");
  uneven.values["nemotron_h.expert_used_count"] = std::vector<int64_t>{0, 2, 3};
  EXPECT_NE(DescribeRouter(uneven).refusal.find("different numbers"), std::string::npos);

  EXPECT_NE(DescribeRouter(HeaderOf("grovemoe")).refusal.find("second list"), std::string::npos);
  EXPECT_NE(DescribeRouter(HeaderOf("newmoe")).refusal.find("\"newmoe\""), std::string::npos);

  GgufHeader dense = HeaderOf("qwen3");
  dense.values.erase("qwen3.expert_count");
  EXPECT_EQ(DescribeRouter(dense).refusal, "the model has no experts");
}

}  // namespace
}  // namespace hyper::llama
