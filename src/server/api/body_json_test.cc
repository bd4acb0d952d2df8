#include "src/server/api/body_json.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

std::string Repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

std::string Nested(size_t levels) {
  return R"({"a":)" + Repeated("[", levels) + Repeated("]", levels) + "}";
}

std::string Wide(size_t members) {
  std::string text = R"({"first":1)";
  for (size_t i = 1; i < members; ++i) {
    text += ",\"m" + std::to_string(i) + "\":1";
  }
  return text + "}";
}

std::string Refusal(const std::string& body) {
  const std::variant<Json, ApiError> parsed = ParseBody(body);
  const auto* error = std::get_if<ApiError>(&parsed);
  if (error == nullptr) {
    return "";
  }
  EXPECT_EQ(error->status, 400);
  return error->message;
}

TEST(ParseBody, TakesObjects) {
  const std::variant<Json, ApiError> parsed = ParseBody(R"({"a": {"b": [1, "x"]}})");
  ASSERT_TRUE(std::holds_alternative<Json>(parsed));
  EXPECT_EQ(std::get<Json>(parsed)["a"]["b"][1], "x");
}

TEST(ParseBody, SaysWhatIsWrong) {
  EXPECT_EQ(Refusal("[1]"), "the body is not a JSON object but array");
  EXPECT_EQ(Refusal(""), "the body is not JSON: it ends or goes wrong at byte 1");
  EXPECT_EQ(Refusal(R"({"a": 1,})"), "the body is not JSON: it ends or goes wrong at byte 9");
  EXPECT_EQ(Refusal(R"({"a": 1e999})"),
            "the body is not valid JSON: one of its numbers is out of range");
}

TEST(ParseBody, BoundsLevelsAndMembers) {
  EXPECT_EQ(Refusal(Nested(kMostJsonLevels - 1)), "");
  EXPECT_EQ(Refusal(Nested(kMostJsonLevels)), "the body has more than 64 levels");
  EXPECT_EQ(Refusal(Nested(1000000)), "the body has more than 64 levels");
  EXPECT_EQ(Refusal(Wide(kMostJsonMembers)), "");
  EXPECT_EQ(Refusal(Wide(kMostJsonMembers + 1)),
            "an object of the body has more than 1024 members");
  EXPECT_EQ(Refusal(R"({"a": ")" + Repeated("[{:\\\"", 5000) + R"("})"), "");  // within a text
}

// A million levels once overflowed the stack here.
TEST(ParseBody, IsUsedByEveryEndpointWithABody) {
  const TestServer server({});
  for (const char* path : {kChat, "/v1/completions", "/v1/responses", "/v1/runs/x/paths/0/grant"}) {
    const httplib::Result reply = server.Client().Post(path, Nested(100000), "application/json");
    ASSERT_TRUE(reply) << path;
    EXPECT_EQ(reply->status, 400) << path;
    EXPECT_NE(reply->body.find("64 levels"), std::string::npos) << reply->body;
  }
}

}  // namespace
}  // namespace hyper::server
