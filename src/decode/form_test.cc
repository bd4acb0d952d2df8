// Replies that are to have a form: which paths of a pool are kept to it.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "src/decode/session_pool.h"
#include "tests/support/scripted_paths.h"

namespace hyper {
namespace {

TEST(Form, OnlyPathsOfTheQuestionAreKeptToIt) {
  FakeOptions options = ScriptedOptions([](uint64_t, std::string_view, int) {
    return ScriptedNext{'x', 30.0F};
  });
  options.allows = [](const std::string& grammar, std::string_view text) {
    return grammar == "no x" && text.find('x') == std::string_view::npos;
  };
  FakeEngine engine(options);
  Pool::Config config;
  config.prompt.tokens = {'q'};
  ReplyForm form;
  form.grammar = std::make_shared<const Grammar>(Grammar{"no x"});
  config.prompt.form = std::make_shared<const ReplyForm>(std::move(form));
  config.options = *Preset("short");
  config.reservation = {64, 1 << 20};
  config.extractor = AfterEquals;
  SessionPool pool(engine, std::move(config));
  const auto text = [&](const Result<PathId>& path) {
    EXPECT_TRUE(path.has_value());
    EXPECT_TRUE(pool.Grant(*path, 2).ok());
    while (!pool.settled()) {
      for (const Event& event : *engine.Poll(0)) {
        pool.Apply(event);
      }
    }
    return pool.path(*path).text;
  };
  const std::vector<Token> given = {'j'};
  EXPECT_EQ(text(pool.Open(0, false)).find('x'), std::string::npos);
  EXPECT_EQ(text(pool.Fork(0, 1, 1)).find('x'), std::string::npos);
  EXPECT_EQ(text(pool.OpenJudge(given, 0)), "xx");
  EXPECT_TRUE(text(pool.Probe(0, given, 2)).ends_with("jxxxx"));  // both grants
}

}  // namespace
}  // namespace hyper
