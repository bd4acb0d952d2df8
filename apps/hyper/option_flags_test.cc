#include "apps/hyper/option_flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "apps/hyper/bundled_model.h"

namespace hyper::app {
namespace {

Status ApplyFlags(const std::vector<std::string>& arguments, MethodOptions& options) {
  CLI::App app;
  OptionFlags flags;
  flags.AddTo(app);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  app.parse(reversed);
  return flags.Apply(options);
}

TEST(OptionFlags, ChangeWhatIsGivenAndNothingElse) {
  MethodOptions options = *Preset("short");
  ASSERT_TRUE(ApplyFlags({"--lambda", "0.3", "--actions", "none", "--top-k", "5"}, options).ok());
  EXPECT_EQ(options.lambda, 0.3);
  EXPECT_EQ(options.actions, "none");
  EXPECT_EQ(options.sampler.top_k, 5);
  EXPECT_EQ(options.width, Preset("short")->width);
  EXPECT_EQ(options.tau, Preset("short")->tau);
}

// Each option in turn gets another valid value by its flag, and only its field changes.
TEST(OptionFlags, ThereIsOneForEveryOption) {
  const MethodOptions base = *Preset("paper");
  MethodOptions::ForEach(base, [&base](const auto& field, const OptionInfo& info) {
    // The first of these that is valid and not the default: numbers, words, the last of a range.
    const std::string range = info.range;
    Status status;
    MethodOptions changed;
    for (const std::string& value :
         {std::string("0.5"), std::string("2"), std::string("1"), std::string("true"),
          std::string("branch"), range.substr(range.rfind('|') + 1)}) {
      changed = base;
      status = ApplyFlags({std::string("--") + info.name, value}, changed);
      if (status && fmt::format("{}", field) != value) {
        break;
      }
    }
    ASSERT_TRUE(status.ok()) << info.name << ": " << status.error().message;
    std::vector<std::string> differing;
    MethodOptions::ForEach(changed, [&](const auto& now, const OptionInfo& other) {
      MethodOptions::ForEach(base, [&](const auto& was, const OptionInfo& before) {
        if constexpr (std::is_same_v<decltype(now), decltype(was)>) {
          if (std::string(other.name) == before.name && !(now == was)) {
            differing.emplace_back(other.name);
          }
        }
      });
    });
    EXPECT_EQ(differing, std::vector<std::string>{info.name});
  });
}

TEST(PresetFor, MetadataFirstThenTheBundledModelsName) {
  EXPECT_EQ(PresetFor("short", "/models/any.gguf"), "short");
  EXPECT_EQ(PresetFor("", "/models/tinymath-moe-6m-f16.gguf"), "short");
  EXPECT_EQ(PresetFor("", "/tinymath-moe-6m/other.gguf"), "paper");
  EXPECT_EQ(PresetFor("paper", "/models/tinymath-moe-6m-f16.gguf"), "paper");
}

}  // namespace
}  // namespace hyper::app
