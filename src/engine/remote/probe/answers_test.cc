#include "src/engine/remote/probe/answers.h"

#include <gtest/gtest.h>

namespace hyper::remote {
namespace {

// Lines of vLLM 0.32: the counter's creation time and other caches' counters are not it.
TEST(ProbeAnswers, CacheHitsOfAllEnginesOutOfMetrics) {
  EXPECT_EQ(CacheHits("# TYPE vllm:prefix_cache_hits_total counter\n"
                      "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} 2999.0\n"
                      "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 640.0\n"
                      "vllm:prefix_cache_hits_total{engine=\"1\",model_name=\"m\"} 1.5e+02\n"
                      "vllm:prefix_cache_hits_created{engine=\"0\"} 1.7958721166704214e+09\n"
                      "vllm:external_prefix_cache_hits_total{engine=\"0\"} 7.0\n"),
            790);
  EXPECT_EQ(CacheHits("sglang:cached_tokens_total{model_name=\"m\"} 12"), 12);
  EXPECT_EQ(CacheHits(""), 0);
  EXPECT_EQ(CacheHits(R"({"error":"no metrics here"})"), 0);
}

TEST(ProbeAnswers, OfAnotherHyperPlainDecodingIsTheEngine) {
  const auto model = [](const char* owner, const std::string& wanted) {
    JsonAnswer answer;
    answer.end.status = 200;
    answer.body = {{"data", WireJson::array()}};
    for (const char* id : {"m", "m:plain", "m:sc"}) {
      answer.body["data"].push_back({{"id", id}, {"owned_by", owner}});
    }
    Abilities can;
    EXPECT_TRUE(ReadModels("http://x/v1", answer, wanted, can).ok());
    return can.model;
  };
  EXPECT_EQ(model("hyper", ""), "m:plain");
  EXPECT_EQ(model("hyper", "m:sc"), "m:sc");
  EXPECT_EQ(model("vllm", ""), "m");
}

TEST(ProbeAnswers, CachedTokensOfUsageOrTimings) {
  JsonAnswer answer;
  answer.text = R"({"usage":{"prompt_tokens":8,"prompt_tokens_details":{"cached_tokens":7}}})";
  answer.body = WireJson::parse(answer.text);
  EXPECT_EQ(CachedTokens(answer), 7);
  answer.text = R"({"timings":{"cache_n":5},"usage":{"prompt_tokens_details":null}})";
  answer.body = WireJson::parse(answer.text);
  EXPECT_EQ(CachedTokens(answer), 5);
  answer.text = R"({"usage":{"prompt_tokens":8,"prompt_tokens_details":null}})";
  answer.body = WireJson::parse(answer.text);
  EXPECT_EQ(CachedTokens(answer), 0);
}

}  // namespace
}  // namespace hyper::remote
