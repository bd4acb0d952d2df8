#include "apps/hyper/input/client_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace hyper::app {
namespace {

TEST(ClientKeys, AreReadWithTheirLimits) {
  const auto keys = ParseClientKeys(R"(
[ann]
key = "0123456789abcdef"
width = 8
tokens-per-minute = 20000
[board]
# the SHA-256 of "abc", from FIPS 180-4
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
all-runs = true
)");
  ASSERT_TRUE(keys.has_value()) << keys.error().message;
  ASSERT_EQ(keys->size(), 2U);
  const server::Client& ann = keys->at(0).client;
  EXPECT_EQ(ann.name, "ann");
  EXPECT_EQ(ann.width, 8);
  EXPECT_EQ(ann.tokens_per_minute, 20000);
  EXPECT_FALSE(ann.all_runs);
  const server::Clients clients(*keys);
  EXPECT_EQ(clients.Find("0123456789abcdef")->name, "ann");
  ASSERT_NE(clients.Find("abc"), nullptr);
  EXPECT_EQ(clients.Find("abc")->name, "board");
  EXPECT_TRUE(clients.Find("abc")->all_runs);
  EXPECT_EQ(clients.Find("abc")->width, 0);
  EXPECT_EQ(clients.Find(""), nullptr);
  EXPECT_EQ(clients.Find("0123456789abcdeg"), nullptr);
}

// What is wrong is said with its line.
std::string Wrong(const std::string& text) {
  const auto keys = ParseClientKeys(text);
  return keys ? "nothing" : keys.error().message;
}

TEST(ClientKeys, WhatIsWrongIsNamedWithItsLine) {
  const std::string ann = "[ann]\nkey = 0123456789abcdef\n";
  EXPECT_EQ(Wrong(ann), "nothing");
  EXPECT_NE(Wrong("key = 0123456789abcdef\n").find("1: 'key"), std::string::npos);
  EXPECT_NE(Wrong(ann + "wide = 3\n").find("3: 'wide = 3' is not known"), std::string::npos);
  EXPECT_NE(Wrong(ann + "width = 0\n").find("3: "), std::string::npos);
  EXPECT_NE(Wrong(ann + "width = [1, 2]\n").find("3: "), std::string::npos);
  EXPECT_NE(Wrong("[ann]\nwidth = 3\n").find("2: [ann] takes either"), std::string::npos);
  EXPECT_NE(Wrong(ann + "sha256 = " + std::string(64, 'a')).find("takes either"),
            std::string::npos);
  EXPECT_NE(Wrong("[ann]\nkey = short\n").find("guessed"), std::string::npos);
  EXPECT_NE(Wrong("[ann]\nsha256 = abc\n").find("64 lower-case"), std::string::npos);
  EXPECT_NE(Wrong(ann + "[bob]\nkey = 0123456789abcdef\n").find("4: [bob] has the key of [ann]"),
            std::string::npos);
}

}  // namespace
}  // namespace hyper::app
