#include "src/report/nearest.h"

#include <gtest/gtest.h>

namespace hyper {
namespace {

TEST(Nearest, IsWithinAThirdOfTheWord) {
  const std::vector<std::string> names = {"run", "serve", "eval", "grade"};
  EXPECT_EQ(Nearest("runn", names), "run");
  EXPECT_EQ(Nearest("srve", names), "serve");
  EXPECT_EQ(Nearest("garde", names), "grade");
  EXPECT_EQ(Nearest("rnu", names), "run") << "a swap is one edit";
  EXPECT_EQ(Nearest("unr", names), "");
  EXPECT_EQ(Nearest("serv", names), "serve");
  EXPECT_EQ(Nearest("smol", std::vector<std::string>{"smollm2-135m"}), "smollm2-135m");
  EXPECT_EQ(Nearest("rum", names), "run");
  EXPECT_EQ(Nearest("chat", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(DidYouMean("evl", names), "; did you mean eval?");
  EXPECT_EQ(DidYouMean("xyz", names), "");
}

TEST(Nearest, TakesTheFirstOfEqualOnes) {
  const std::vector<std::string> names = {"top-k", "top-p"};
  EXPECT_EQ(Nearest("top-x", names), "top-k");
}

}  // namespace
}  // namespace hyper
