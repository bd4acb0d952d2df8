#include "apps/hyper/printers/shell_text.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

std::vector<ListedCommand> Two() {
  ListedCommand run{"run", "answer a question: yours", "Examples:\n  hyper run 'x'\n", {}};
  run.options = {
      {"width", "n", "N", "paths side by side (1 to 4096) [80]", "Pool", {}},
      {"live", "", "WORD", "the pool's view; auto: on a terminal", "Output", {"auto", "never"}},
      {"quiet", "q", "", "print [only] the answer", "Output", {}}};
  ListedCommand models{"models", "known models", "", {}};
  models.arguments = {{"list", "the models"}, {"get", "fetch one"}};
  models.words = {"list", "get"};
  return {run, {"serve", "serve it", "", {}}, models};
}

TEST(Completions, OfferWhatMayFollowACommand) {
  EXPECT_NE(BashCompletion(Two()).find("-eq 2 ]; then\n    case \"${COMP_WORDS[1]}\" in\n"
                                       "      models) words='list get' ;;\n"),
            std::string::npos)
      << BashCompletion(Two());
  EXPECT_NE(ZshCompletion(Two()).find("'1:word:(list get)'"), std::string::npos);
  EXPECT_NE(FishCompletion(Two()).find("from models' -f -a 'list get'\n"), std::string::npos);
  EXPECT_NE(CommandManual(Two()[2]).find(".SH ARGUMENTS\n.TP\n.B list\nthe models\n"),
            std::string::npos);
}

TEST(BashCompletion, HasCommandsOptionsAndWords) {
  const std::string text = BashCompletion(Two());
  EXPECT_NE(text.find("compgen -W 'run serve models'"), std::string::npos) << text;
  EXPECT_NE(text.find("      run) words='--width --live --quiet' ;;\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    'run --live') words='auto never' ;;\n"), std::string::npos) << text;
}

TEST(ZshCompletion, EscapesWhatZshReads) {
  const std::string text = ZshCompletion(Two());
  EXPECT_NE(text.find("'run:answer a question\\: yours'"), std::string::npos) << text;
  EXPECT_NE(text.find("'--width[paths side by side ]:N: '"), std::string::npos) << text;
  EXPECT_NE(text.find("'--live[the pool'\\''s view]:value:(auto never)'"), std::string::npos)
      << text;
  EXPECT_NE(text.find("'--quiet[print ]'"), std::string::npos) << text;
}

TEST(FishCompletion, SaysWhatTakesAValue) {
  const std::string text = FishCompletion(Two());
  EXPECT_NE(text.find("-l width -s n -r -d 'paths side by side '\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-l live -r -f -a 'auto never' -d 'the pool'\\''s view'\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("-l quiet -s q -d "), std::string::npos) << text;
}

TEST(CommandManual, KeepsDashesAndGroups) {
  const std::string text = CommandManual(Two()[0]);
  EXPECT_EQ(text.rfind(".TH HYPER\\-RUN 1 ", 0), 0U) << text;
  const size_t pool = text.find(".SS Pool\n.TP\n.B \\-n, \\-\\-width N\npaths side by side");
  const size_t output = text.find(".SS Output\n.TP\n.B \\-\\-live WORD\n");
  EXPECT_NE(pool, std::string::npos) << text;
  EXPECT_NE(output, std::string::npos) << text;
  EXPECT_LT(pool, output);
  EXPECT_EQ(text.find(".SS Output", output + 1), std::string::npos);
  EXPECT_NE(text.find("\n  hyper run 'x'\n"), std::string::npos);
}

TEST(ProgramManual, NamesEveryCommand) {
  const std::string text = ProgramManual(Two(), ".a line that begins with a dot\n");
  EXPECT_NE(text.find("\\&.a line"), std::string::npos) << text;
  EXPECT_NE(text.find(".BR hyper\\-run (1),\n.BR hyper\\-serve (1),\n.BR hyper\\-models (1)\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace hyper::app
