#include "apps/hyper/flags/option_flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/hyper/flags/engine_flags.h"

namespace hyper::app {
namespace {

// The options with what the arguments give.
Status Parsed(const std::vector<std::string>& arguments, MethodOptions& options) {
  CLI::App app;
  OptionValues given;
  AddMethodFlags(app, given);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  app.parse(reversed);
  return ApplyFlags(given, OptionsOf(options));
}

TEST(OptionFlags, ChangeWhatIsGivenAndNothingElse) {
  MethodOptions options = *Preset("short");
  ASSERT_TRUE(Parsed({"--lambda", "0.3", "--actions", "none", "--top-k", "5"}, options).ok());
  EXPECT_EQ(options.route.lambda, 0.3);
  EXPECT_EQ(options.actions, ActionSet());
  EXPECT_EQ(options.sampler.top_k, 5);
  EXPECT_EQ(options.width, Preset("short")->width);
  EXPECT_EQ(options.route.tau, Preset("short")->route.tau);
}

// Each option in turn gets another valid value by its flag, and only its field changes.
TEST(OptionFlags, ThereIsOneForEveryOption) {
  MethodOptions base = *Preset("paper");
  const std::vector<Option> before = OptionsOf(base);
  for (const Option& option : before) {
    const std::string name = option.info().name;
    std::vector<std::string> values = option.Words();
    values.insert(values.end(), {"0.5", "2", "1", "branch", "top:3", "sure"});
    MethodOptions changed;
    Status status;
    // The first of these that is valid and not the default.
    for (const std::string& value : values) {
      changed = base;
      status = Parsed({"--" + name, value}, changed);
      if (status && option.Text() != value) {
        break;
      }
    }
    ASSERT_TRUE(status.ok()) << name << ": " << status.error().message;
    std::vector<std::string> differing;
    const std::vector<Option> after = OptionsOf(changed);
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i].Text() != after[i].Text()) {
        differing.emplace_back(after[i].info().name);
      }
    }
    EXPECT_EQ(differing, std::vector<std::string>{name});
  }
}

// Both engines' options, and one of them as a list that takes commas.
TEST(OptionFlags, EnginesHaveTheirsToo) {
  CLI::App app;
  EngineFlags flags;
  flags.AddTo(app);
  std::vector<std::string> arguments = {"--threads",     "3",
                                        "--kv-budget",   "512",
                                        "--header",      "A: 1, 2",
                                        "--header",      "B: 3",
                                        "--timeout",     "2m",
                                        "--determinism", "fast",
                                        "--engine",      "http://127.0.0.1:1/v1"};
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  ASSERT_TRUE(CheckEngineFlags(flags).ok());
  EXPECT_EQ(flags.llama.threads, 3);
  EXPECT_EQ(flags.llama.context_cells, 512);
  EXPECT_FALSE(flags.llama.strict);
  EXPECT_EQ(flags.remote.headers, (std::vector<std::string>{"A: 1, 2", "B: 3"}));
  EXPECT_EQ(flags.remote.timeout_s, 120);
  EXPECT_EQ(flags.remote.urls, std::vector<std::string>{"http://127.0.0.1:1/v1"});
}

}  // namespace
}  // namespace hyper::app
