// The OpenAI API over real HTTP, on a scripted engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

TEST(Server, AnswersPlainChat) {
  const TestServer server({});
  const Json reply = server.Good(kChat, Chat("say hello there"));
  EXPECT_EQ(reply["object"], "chat.completion");
  EXPECT_EQ(Content(reply), "hello there");
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(reply["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(reply["usage"]["completion_tokens"], 12);  // the end token is one
  EXPECT_EQ(reply["usage"]["prompt_tokens"], std::string("user: say hello there\n").size());
  EXPECT_EQ(reply["usage"]["total_tokens"], 12 + 22);
}

TEST(Server, StreamsTheSameTextWithRoleAndUsage) {
  const TestServer server({});
  const Json body = With(Chat("say hello there"), "stream_options", {{"include_usage", true}});
  const std::vector<Json> events = server.Stream(kChat, body);
  EXPECT_EQ(events.front()["choices"][0]["delta"]["role"], "assistant");
  std::string text;
  for (const Json& event : events) {
    if (!event["choices"].empty()) {
      text += event["choices"][0]["delta"].value("content", "");
    }
  }
  EXPECT_EQ(text, "hello there");
  EXPECT_EQ(events[events.size() - 2]["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(events.back()["choices"].empty());
  EXPECT_EQ(events.back()["usage"], server.Good(kChat, Chat("say hello there"))["usage"]);
}

TEST(Server, SendsNoUsageChunkUnasked) {
  const TestServer server({});
  for (const Json& event : server.Stream(kChat, Chat("say x"))) {
    EXPECT_FALSE(event.contains("usage"));
  }
}

TEST(Server, GivesAsManyChoicesAsAsked) {
  ServerSetup setup;
  setup.lanes = 4;
  const TestServer server(setup);
  for (const int n : {1, 3, 9}) {  // nine on four lanes: in waves
    const Json reply = server.Good(kChat, With(Chat("say ok"), "n", n));
    ASSERT_EQ(reply["choices"].size(), static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(reply["choices"][static_cast<size_t>(i)]["index"], i);
      EXPECT_EQ(Content(reply, static_cast<size_t>(i)), "ok");
    }
    EXPECT_EQ(reply["usage"]["completion_tokens"], 3 * n);
  }
  EXPECT_EQ(server.BadField(kChat, With(Chat("say ok", "m:sc"), "n", 2)), "n");
}

TEST(Server, SeedsDecideTheText) {
  ServerSetup setup;
  setup.logits = Babble;
  const TestServer server(setup);
  Json body = With(With(With(Chat("x"), "n", 4), "max_tokens", 12), "temperature", 1);
  const auto texts = [&server, &body](int seed) {
    const Json reply = server.Good(kChat, With(body, "seed", seed));
    std::vector<std::string> all;
    for (size_t i = 0; i < 4; ++i) {
      all.push_back(Content(reply, i));
    }
    return all;
  };
  const std::vector<std::string> first = texts(1);
  EXPECT_EQ(first, texts(1));
  EXPECT_NE(first, texts(2));
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 4U);
}

TEST(Server, EndsAtTheTokenLimit) {
  ServerSetup setup;
  setup.logits = Babble;
  const TestServer server(setup);
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {
    const Json reply = server.Good(kChat, With(Chat("x"), name, 5));
    EXPECT_EQ(Content(reply).size(), 5U);
    EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
    EXPECT_EQ(reply["usage"]["completion_tokens"], 5);
  }
}

TEST(Server, CutsAtStopStringsOutsideReasoning) {
  const TestServer server({});
  const Json cut = server.Good(kChat, With(Chat("say alpha beta gamma"), "stop", "a g"));
  EXPECT_EQ(Content(cut), "alpha bet");
  EXPECT_EQ(cut["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(cut["usage"]["completion_tokens"], 12);  // none behind the stop string
  const Json thought =
      server.Good(kChat, With(Chat("say <think>9.8 it is</think>9.11"), "stop", {"9.8"}));
  EXPECT_EQ(Content(thought), "9.11");
  EXPECT_EQ(thought["choices"][0]["message"]["reasoning_content"], "9.8 it is");
}

TEST(Server, ReportsLogprobs) {
  ServerSetup setup;
  setup.logits = [](const FakeStep& step, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -200.0F);
    const bool first = static_cast<int>(step.history.size()) == step.prompt_tokens;
    logits[first ? 'a' : 0] = 2.0F;
    logits['b'] = 1.0F;
    logits['c'] = 0.0F;
  };
  const TestServer server(setup);
  Json body = With(With(Chat("x"), "logprobs", true), "top_logprobs", 3);
  body["temperature"] = 0;
  const Json reply = server.Good(kChat, body);
  const Json tokens = reply["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0]["token"], "a");
  EXPECT_EQ(tokens[0]["bytes"], Json::array({97}));
  const std::vector<double> wanted{-0.4076, -1.4076, -2.4076};
  ASSERT_EQ(tokens[0]["top_logprobs"].size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(tokens[0]["top_logprobs"][i]["logprob"].get<double>(), wanted[i], 1e-4);
  }
}

TEST(Server, FloorsLogprobsThatAreNotFinite) {
  ServerSetup setup;
  setup.logits = [](const FakeStep& step, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -std::numeric_limits<float>::infinity());
    const bool first = static_cast<int>(step.history.size()) == step.prompt_tokens;
    logits[first ? 'a' : 0] = 1.0F;
  };
  const TestServer server(setup);
  const Json body = With(With(Chat("x"), "logprobs", true), "top_logprobs", 2);
  const Json reply = server.Good(kChat, body);
  const Json top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"];
  for (const Json& entry : top) {
    EXPECT_GE(entry["logprob"].get<double>(), -9999.0);
    EXPECT_LE(entry["logprob"].get<double>(), 0.0);
  }
}

TEST(Server, NamesTheFieldThatIsWrong) {
  const TestServer server({});
  const Json good = Chat("say x");
  const std::vector<std::pair<std::string, Json>> wrong{{"n", 0},
                                                        {"n", "3"},
                                                        {"n", 1.5},
                                                        {"temperature", "hot"},
                                                        {"temperature", -1},
                                                        {"top_p", 2},
                                                        {"top_k", 1.5},
                                                        {"min_p", 1},
                                                        {"max_tokens", 0},
                                                        {"max_tokens", "5"},
                                                        {"seed", 1.5},
                                                        {"stop", 7},
                                                        {"stop", {""}},
                                                        {"stream", "yes"},
                                                        {"stream_options", 3},
                                                        {"logit_bias", {{"999999", 1}}},
                                                        {"logit_bias", {{"a", 1}}},
                                                        {"logprobs", 3},
                                                        {"top_logprobs", 3},
                                                        {"response_format", {{"type", "xml"}}},
                                                        {"tools", {{{"a", 1}}}},
                                                        {"functions", {{{"name", "f"}}}},
                                                        {"tool_choice", "required"},
                                                        {"function_call", {{"name", "f"}}},
                                                        {"chat_template_kwargs", 1},
                                                        {"hyper", 4},
                                                        {"messages", Json::array()},
                                                        {"messages", "hi"}};
  for (const auto& [name, value] : wrong) {
    EXPECT_EQ(server.BadField(kChat, With(good, name, value)), name) << value;
  }
  for (const auto& [option, value] : std::vector<std::pair<std::string, Json>>{
           {"width", "wide"}, {"width", 5000}, {"colour", 1}, {"events", 1}, {"seed", -1}}) {
    EXPECT_EQ(server.BadField(kChat, With(good, "hyper", {{option, value}})), "hyper." + option);
  }
  const Json tops = With(With(good, "logprobs", true), "top_logprobs", 21);
  EXPECT_EQ(server.BadField(kChat, tops), "top_logprobs");
  EXPECT_EQ(server.BadField(kChat, {{"messages", {{{"role", "user"}, {"content", nullptr}}}}}),
            "messages[0].content");
  EXPECT_EQ(server.BadField(kChat, {{"messages", {{{"role", "king"}, {"content", "x"}}}}}),
            "messages[0].role");
}

TEST(Server, IgnoresNullsAndFieldsThatChangeNothing) {
  const TestServer server({});
  Json body = With(With(Chat("say x"), "metadata", {{"a", "b"}}), "stop", nullptr);
  body["colour"] = nullptr;
  body["n"] = nullptr;
  body["hyper"] = {{"width", nullptr}, {"method", nullptr}};
  EXPECT_EQ(Content(server.Good(kChat, body)), "x");
  EXPECT_EQ(Content(server.Good(kChat, With(With(Chat("say x"), "n", 4), "temperature", 0))), "x");
}

TEST(Server, ReadsContentInParts) {
  const TestServer server({});
  const Json parts = {{{"type", "text"}, {"text", "say "}}, {{"type", "text"}, {"text", "both"}}};
  const Json body = {{"model", "m:plain"}, {"messages", {{{"role", "user"}, {"content", parts}}}}};
  EXPECT_EQ(Content(server.Good(kChat, body)), "both");
}

TEST(Server, RefusesPromptsLongerThanTheContext) {
  ServerSetup setup;
  setup.context = 64;
  const TestServer server(setup);
  const httplib::Result reply = server.Post(kChat, Chat(std::string(100, 'x')));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  const Json error = Json::parse(reply->body)["error"];
  EXPECT_EQ(error["type"], "exceed_context_size_error");
  EXPECT_NE(error["message"].get<std::string>().find("107"), std::string::npos);
  EXPECT_NE(error["message"].get<std::string>().find("64"), std::string::npos);
}

TEST(Server, VotesWithAPool) {
  const TestServer server({});
  Json body = Chat("say so it is \\boxed{42}", "m:sc");
  body["hyper"] = {{"width", 4}};
  const Json reply = server.Good(kChat, body);
  EXPECT_EQ(Content(reply), "so it is \\boxed{42}");
  EXPECT_EQ(reply["hyper"]["answer"], "42");
  EXPECT_EQ(reply["hyper"]["voting_paths"], 4);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 4 * 20);
  EXPECT_EQ(reply["usage"]["hyper"]["lanes_opened"], 4);
  EXPECT_EQ(reply["usage"]["completion_tokens_details"]["reasoning_tokens"], 80 - 20);
}

TEST(Server, StreamsRecordsWhereAsked) {
  const TestServer server({});
  Json body = Chat("say so it is \\boxed{42}", "m:hyper");
  body["hyper"] = {{"width", 4}, {"events", true}};
  std::set<std::string> kinds;
  std::string text;
  for (const Json& event : server.Stream(kChat, body)) {
    kinds.insert(event["object"].get<std::string>());
    if (event["object"] == "chat.completion.chunk" && !event["choices"].empty()) {
      text += event["choices"][0]["delta"].value("content", "");
    }
  }
  for (const char* kind : {"hyper.run", "hyper.path", "hyper.finish", "hyper.warmup",
                           "hyper.decision", "hyper.result"}) {
    EXPECT_EQ(kinds.count(kind), 1U) << kind;
  }
  EXPECT_EQ(text, "so it is \\boxed{42}");
}

TEST(Server, CompletesPrompts) {
  const TestServer server({});
  const Json body = {{"model", "m:plain"}, {"prompt", {"say one\n", "say two\n"}}, {"n", 2}};
  const Json reply = server.Good("/v1/completions", body);
  std::vector<std::string> texts;
  for (const Json& choice : reply["choices"]) {
    texts.push_back(choice["text"]);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "one", "two", "two"}));
  const Json echoed = {{"model", "m:plain"}, {"prompt", {115, 97, 121, 32, 97}}, {"echo", true}};
  EXPECT_EQ(server.Good("/v1/completions", echoed)["choices"][0]["text"], "say aa");
  EXPECT_EQ(server.BadField("/v1/completions", {{"prompt", ""}}), "prompt");
  EXPECT_EQ(server.BadField("/v1/completions", {{"prompt", {1, -2}}}), "prompt");
  EXPECT_EQ(server.BadField("/v1/completions", {{"n", 1}}), "prompt");
  EXPECT_EQ(server.BadField("/v1/completions", With(body, "best_of", 4)), "best_of");
  server.Good("/v1/completions", With(body, "best_of", 2));
}

// What is sent back is what was given: an item of reasoning and a message.
TEST(Server, ResponsesTakeTheirOwnOutput) {
  const TestServer server({});
  const Json first =
      server.Good("/v1/responses", {{"model", "m:plain"}, {"input", "say <think>ab</think>ok"}});
  ASSERT_EQ(first["output"].size(), 2U);
  Json input = {{{"role", "user"}, {"content", "x"}}};
  for (const Json& item : first["output"]) {
    input.push_back(item);
  }
  input.push_back({{"role", "user"}, {"content", "say on"}});
  Json body = {{"model", "m:plain"}, {"input", input}};
  const Json dropped = server.Good("/v1/responses", body);
  EXPECT_EQ(dropped["output"][0]["content"][0]["text"], "on");
  body["hyper"] = {{"keep-reasoning", true}};
  const Json kept = server.Good("/v1/responses", body);
  EXPECT_EQ(kept["usage"]["input_tokens"].get<int>() - dropped["usage"]["input_tokens"].get<int>(),
            std::string("<think>\nab\n</think>\n\n").size());
  EXPECT_EQ(
      server.BadField("/v1/responses", With(body, "text", {{"format", {{"type", "json_schema"}}}})),
      "text.format");
}

TEST(Server, NamesTheFieldOfAPromptThatIsTooLong) {
  ServerSetup setup;
  setup.context = 100;
  setup.scheduler.waiting_bytes = 40000;
  const TestServer server(setup);
  const std::string text(200, 'x');
  EXPECT_EQ(server.BadField(kChat, Chat(text)), "messages");
  EXPECT_EQ(server.BadField("/v1/completions", {{"prompt", text}}), "prompt");
  EXPECT_EQ(server.BadField("/v1/responses", {{"input", text}}), "input");
  // More than may wait: no later try would be taken either.
  EXPECT_EQ(server.BadField("/v1/completions", {{"prompt", {"a", "b", "c"}}}), "prompt");
}

TEST(Server, BoundsTheLogprobsOfOneReply) {
  const TestServer server({});
  Json body = With(With(Chat("say x"), "logprobs", true), "top_logprobs", 20);
  body["max_tokens"] = 32768;
  server.Good(kChat, body);
  EXPECT_EQ(server.BadField(kChat, With(body, "n", 2)), "logprobs");
}

// As curl -d sends it without a header: JSON that says it is a form.
TEST(Server, TakesLongBodiesThatSayTheyAreForms) {
  const TestServer server({});
  const std::string body = With(Chat("say x"), "user", std::string(100000, 'u')).dump();
  const httplib::Result reply =
      server.Client().Post(kChat, body, "application/x-www-form-urlencoded");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body;
}

TEST(Server, GivesResponses) {
  const TestServer server({});
  const Json body = {{"model", "m:plain"}, {"input", "say hi"}};
  const Json reply = server.Good("/v1/responses", body);
  EXPECT_EQ(reply["status"], "completed");
  EXPECT_EQ(reply["output"][0]["content"][0]["text"], "hi");
  EXPECT_EQ(reply["usage"]["output_tokens"], 3);
  const std::vector<Json> events = server.Stream("/v1/responses", body);
  EXPECT_EQ(events.front()["type"], "response.created");
  EXPECT_EQ(events.back()["type"], "response.completed");
  EXPECT_EQ(events.back()["response"]["output"][0]["content"][0]["text"], "hi");
}

TEST(Server, ResponsesHaveLogprobsWhereAskedFor) {
  const TestServer server({});
  const Json body = {{"model", "m:plain"}, {"input", "say hi"}};
  const auto part = [](const Json& response) { return response["output"][0]["content"][0]; };
  EXPECT_EQ(part(server.Good("/v1/responses", body))["logprobs"], Json::array());
  const Json included = With(body, "include", {"message.output_text.logprobs"});
  const Json plain = part(server.Good("/v1/responses", included))["logprobs"];
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(plain[0]["top_logprobs"], Json::array());
  const Json listed = With(body, "top_logprobs", 3);
  const Json tokens = part(server.Good("/v1/responses", listed))["logprobs"];
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0]["token"], "h");
  EXPECT_EQ(tokens[1]["token"], "i");
  EXPECT_EQ(tokens[1]["top_logprobs"].size(), 3U);
  Json streamed = Json::array();
  const std::vector<Json> events = server.Stream("/v1/responses", listed);
  for (const Json& event : events) {
    if (event["type"] == "response.output_text.delta") {
      streamed.insert(streamed.end(), event["logprobs"].begin(), event["logprobs"].end());
    }
  }
  EXPECT_EQ(streamed, tokens);
  EXPECT_EQ(part(events.back()["response"])["logprobs"], tokens);
  for (const Json& wrong : {Json("all"), Json::array({1})}) {
    EXPECT_EQ(server.BadField("/v1/responses", With(body, "include", wrong)), "include");
  }
  EXPECT_EQ(server.BadField("/v1/responses", With(listed, "model", "m:sc")), "top_logprobs");
  EXPECT_EQ(server.BadField("/v1/responses", With(included, "model", "m:sc")), "include");
}

TEST(Server, ListsModelsAndRefusesOthers) {
  ServerSetup setup;
  setup.plain_names = {"titles", "gpt-4o-mini"};
  const TestServer server(setup);
  const httplib::Result reply = server.Client().Get("/v1/models");
  ASSERT_TRUE(reply);
  std::set<std::string> ids;
  const Json models = Json::parse(reply->body);
  for (const Json& model : models["data"]) {
    ids.insert(model["id"].get<std::string>());
  }
  for (const char* id : {"m", "m:plain", "m:hyper", "m:sc", "titles", "gpt-4o-mini"}) {
    EXPECT_EQ(ids.count(id), 1U) << id;
  }
  for (const std::string& id : ids) {
    const httplib::Result one = server.Client().Get("/v1/models/" + id);
    ASSERT_TRUE(one) << id;
    EXPECT_EQ(one->status, 200) << id;
    EXPECT_EQ(Json::parse(one->body)["id"], id);
  }
  const httplib::Result unknown = server.Client().Get("/v1/models/org/m");
  EXPECT_EQ(unknown->status, 404);
  EXPECT_EQ(Json::parse(unknown->body)["error"]["code"], "model_not_found");
  EXPECT_EQ(server.Post(kChat, Chat("x", "gpt-9"))->status, 404);
  EXPECT_EQ(server.Post(kChat, Chat("x", "m:magic"))->status, 404);
  EXPECT_EQ(server.Post(kChat, Chat("x", "titles:sc"))->status, 404);
  for (const char* id : {"titles", "gpt-4o-mini"}) {
    const Json title = server.Good(kChat, Chat("say x", id));
    EXPECT_EQ(title["model"], id);
    EXPECT_EQ(title["hyper"]["method"], "plain");
    EXPECT_EQ(title["choices"][0]["message"]["content"], "x");
  }
}

}  // namespace
}  // namespace hyper::server
