#include "apps/hyper/printers/help_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "hyper/method.h"

namespace hyper::app {
namespace {

TEST(Wrapped, BreaksAtSpacesBeforeTheEdge) {
  const std::string nine = "123456789";
  EXPECT_EQ(Wrapped(nine + " " + nine, 70), nine + "\n" + std::string(70, ' ') + nine);
  EXPECT_EQ(Wrapped("1234 56789", 70), "1234 56789") << "80 columns fit";
  EXPECT_EQ(Wrapped("1234 567890", 70), "1234\n" + std::string(70, ' ') + "567890");
  EXPECT_EQ(Wrapped("\xC3\xA8\xC3\xA8\xC3\xA8\xC3\xA8 56789", 70),
            "\xC3\xA8\xC3\xA8\xC3\xA8\xC3\xA8 56789");
  EXPECT_EQ(Wrapped("", 3), "");
}

TEST(HelpEntry, PutsALongNameOnItsOwnLine) {
  EXPECT_EQ(HelpEntry("--width N", "paths"), "  --width N               paths\n");
  EXPECT_EQ(HelpEntry("--deepconf-offline-filtered", "x"),
            "  --deepconf-offline-filtered\n                          x\n");
}

TEST(WrappedParagraphs, LeavesExamplesAlone) {
  const std::string example = "  " + std::string(90, 'x');
  EXPECT_EQ(WrappedParagraphs("Examples:\n" + example + "\n\none\ntwo."),
            "Examples:\n" + example + "\n\none two.\n");
}

TEST(MethodHelp, ShowsWhatTheMethodReadsAndNothingElse) {
  const Result<std::string> sc = MethodHelp("sc");
  ASSERT_TRUE(sc.has_value());
  EXPECT_NE(sc->find("  --width "), std::string::npos);
  EXPECT_NE(sc->find("[majority]"), std::string::npos) << "the method's own default: " << *sc;
  for (const char* foreign : {"--warmup", "--actions", "--threshold", "--search"}) {
    EXPECT_EQ(sc->find(std::string("  ") + foreign + " "), std::string::npos) << foreign;
  }
  const Result<std::string> hyper = MethodHelp("hyper");
  ASSERT_TRUE(hyper.has_value());
  EXPECT_NE(hyper->find("[never; auto: chosen]"), std::string::npos) << *hyper;
  EXPECT_NE(hyper->find("auto: on]"), std::string::npos) << "the same for every model";
  EXPECT_NE(hyper->find("  --actions "), std::string::npos);
  EXPECT_EQ(hyper->find("  --search "), std::string::npos);
  const Result<std::string> tot = MethodHelp("tot-judge");
  ASSERT_TRUE(tot.has_value());
  EXPECT_NE(tot->find("  --search "), std::string::npos);
  EXPECT_FALSE(MethodHelp("nosuch").has_value());
}

TEST(MethodHelp, FitsEightyColumns) {
  for (const MethodInfo& info : Methods()) {
    std::istringstream lines(*MethodHelp(info.name));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), kHelpColumns) << info.name << ": " << line;
    }
  }
}

}  // namespace
}  // namespace hyper::app
