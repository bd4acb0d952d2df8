// The description at /openapi.json and what the server does are one thing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "src/decode/ask_options.h"
#include "src/server/http/routes.h"
#include "tests/support/server_fixture.h"

namespace hyper::server {
namespace {

Json Description(const TestServer& server) {
  const httplib::Result reply = server.Client().Get("/openapi.json");
  EXPECT_TRUE(reply);
  EXPECT_EQ(reply->get_header_value("Content-Type"), "application/json");
  return Json::parse(reply->body);
}

// All properties of a request, those of the parts it is made of included.
Json Properties(const Json& description, const Json& schema) {
  Json all = Json::object();
  if (schema.contains("$ref")) {
    const std::string reference = schema["$ref"];
    return Properties(description, description.at(Json::json_pointer(reference.substr(1))));
  }
  if (schema.contains("allOf")) {
    for (const Json& part : schema["allOf"]) {
      all.update(Properties(description, part));
    }
  }
  if (schema.contains("properties")) {
    all.update(schema["properties"]);
  }
  return all;
}

TEST(ApiDescription, ListsTheRoutesAndNothingElse) {
  const TestServer server({});
  std::set<std::string> served;
  for (const Route& route : server.http().routes()) {
    served.insert(route.method + " " + route.path);
  }
  std::set<std::string> described;
  const Json description = Description(server);
  for (const auto& [path, item] : description["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method != "parameters") {
        std::string upper = method;
        std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
        described.insert(upper.append(" ").append(path));
      }
    }
  }
  EXPECT_EQ(described, served);
}

TEST(ApiDescription, HasNoReferenceThatLeadsNowhere) {
  const TestServer server({});
  const Json description = Description(server);
  int references = 0;
  const Json flat = description.flatten();
  for (const auto& [place, value] : flat.items()) {
    if (place.ends_with("/$ref")) {
      const std::string target = value;
      EXPECT_TRUE(description.contains(Json::json_pointer(target.substr(1)))) << target;
      ++references;
    }
  }
  EXPECT_GT(references, 20);
}

// In objects inside `schema` that describe their members, those that are required are among them.
void ExpectRequiredDescribed(const Json& description, const Json& schema,
                             const std::string& place) {
  if (schema.is_object() && schema.contains("required") && schema["required"].is_array()) {
    const Json properties = Properties(description, schema);
    for (const Json& name : schema["required"]) {
      EXPECT_TRUE(properties.empty() || properties.contains(name.get<std::string>()))
          << place << " " << name;
    }
  }
  for (const auto& [name, part] : schema.items()) {
    if (part.is_structured()) {
      std::string inside = place;
      inside.append("/").append(name);
      ExpectRequiredDescribed(description, part, inside);
    }
  }
}

TEST(ApiDescription, DescribesAllThatItRequires) {
  const TestServer server({});
  const Json description = Description(server);
  ExpectRequiredDescribed(description, description["components"], "components");
}

// Every bound of a number is the server's: one beyond it is a 400 that names the field.
TEST(ApiDescription, GivesTheBoundsThatHold) {
  const TestServer server({});
  const Json description = Description(server);
  const std::pair<const char*, Json> requests[] = {
      {"/v1/chat/completions", With(Chat("say x"), "logprobs", true)},
      {"/v1/completions", {{"model", "m:plain"}, {"prompt", "say x\n"}}},
      {"/v1/responses", {{"model", "m:plain"}, {"input", "say x"}}}};
  int bounds = 0;
  for (const auto& [path, body] : requests) {
    const Json& content = description["paths"][path]["post"]["requestBody"]["content"];
    const Json fields = Properties(description, content["application/json"]["schema"]);
    for (const auto& [name, schema] : fields.items()) {
      for (const auto& [bound, beyond] : {std::pair{"minimum", -1}, std::pair{"maximum", 1}}) {
        if (schema.contains(bound) && name != "seed") {
          const Json value = schema[bound].get<double>() + beyond;
          const Json whole = schema[bound].is_number_integer()
                                 ? Json(schema[bound].get<int64_t>() + beyond)
                                 : value;
          EXPECT_EQ(server.BadField(path, With(body, name, whole)), name) << path << whole;
          ++bounds;
        }
      }
    }
  }
  EXPECT_GT(bounds, 30);
}

// Every option of a method is described, and nothing is that the server does not know.
TEST(ApiDescription, KnowsTheOptionsOfTheMethods) {
  const TestServer server({});
  const Json options = Description(server)["components"]["schemas"]["Hyper"]["properties"];
  MethodOptions defaults;
  for (const Option& option : OptionsOf(defaults)) {
    EXPECT_TRUE(options.contains(option.info().name)) << option.info().name;
  }
  AskOptions question;
  for (const Option& option : OptionsOf(question)) {
    EXPECT_TRUE(options.contains(option.info().name)) << option.info().name;
  }
  EXPECT_EQ(options["budget-tokens"]["minimum"], 1);
  EXPECT_EQ(options["effort"]["enum"], Json::array({"low", "medium", "high", nullptr}));
  EXPECT_EQ(options["width"]["minimum"], 1);
  EXPECT_EQ(options["width"]["maximum"], 4096);
  EXPECT_EQ(options["top-p"]["exclusiveMinimum"], 0);
  EXPECT_EQ(options["penalty"]["enum"], Json::array({"score", "softmax", nullptr}));
  for (const auto& [name, schema] : options.items()) {
    // Of a type that no option takes: the message tells an unknown name from a wrong value.
    const httplib::Result reply =
        server.Post(kChat, With(Chat("x"), "hyper", {{name, Json::array()}}));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 400) << name;
    EXPECT_EQ(reply->body.find("is not known"), std::string::npos) << reply->body;
  }
}

// Every record of a run has a schema, which names its members and no others.
TEST(ApiDescription, DescribesTheRecords) {
  const TestServer server({});
  Json body = Chat("say so it is \\boxed{42}", "m:hyper");
  body["hyper"] = {{"width", 4}, {"token-records", true}};
  const std::string id = server.Good(kChat, body)["hyper"]["run"];
  const std::string events = server.Client().Get("/v1/runs/" + id + "/events")->body;
  const Json schemas = Description(server)["components"]["schemas"];
  std::set<std::string> seen;
  for (size_t at = 0; (at = events.find("data: ", at)) != std::string::npos; at += 6) {
    const Json record = Json::parse(events.substr(at + 6, events.find('\n', at) - at - 6));
    const std::string kind = record["record"];
    std::string name = kind + "Record";
    name.front() = static_cast<char>(std::toupper(name.front()));
    ASSERT_TRUE(schemas.contains(name)) << name;
    const Json& schema = schemas[name];
    EXPECT_EQ(schema["properties"]["record"]["enum"], Json::array({kind}));
    for (const Json& member : schema["required"]) {
      EXPECT_TRUE(record.contains(member.get<std::string>())) << name << member;
    }
    for (const auto& [member, value] : record.items()) {
      EXPECT_TRUE(kind == "result" || schema["properties"].contains(member)) << name << member;
    }
    seen.insert(kind);
  }
  for (const char* kind : {"run", "path", "token", "warmup", "decision", "finish", "result"}) {
    EXPECT_TRUE(seen.contains(kind)) << kind;
  }
}

TEST(ApiDescription, KnowsTheFieldsThatChangeNothing) {
  const TestServer server({});
  const Json fields = Description(server)["components"]["schemas"]["Sampling"]["properties"];
  EXPECT_TRUE(fields.contains("user"));
  for (const auto& [name, schema] : fields.items()) {
    if (!schema.contains("type") && schema.contains("description")) {
      const httplib::Result reply = server.Post(kChat, With(Chat("say x"), name, {{"any", 1}}));
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->status, 200) << name << reply->body;
    }
  }
}

TEST(ApiDescription, NamesTheMethodsThatAPathTakes) {
  const TestServer server({});
  httplib::Client client = server.Client();
  const httplib::Result wrong = client.Get(kChat);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->get_header_value("Allow"), "POST");
  EXPECT_EQ(client.Delete("/v1/runs")->status, 405);
  EXPECT_EQ(client.Post("/v1/runs/run_1")->get_header_value("Allow"), "GET, HEAD, DELETE");
  EXPECT_EQ(client.Delete("/v1/runs/run_1/other")->status, 404);
  EXPECT_EQ(client.Head("/health")->status, 200);
  // A method that the HTTP library does not know either.
  httplib::Request query;
  query.method = "QUERY";
  query.path = "/v1/runs?limit=3";
  const httplib::Result unknown = client.send(query);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 405);
  EXPECT_EQ(unknown->get_header_value("Allow"), "GET, HEAD");
  query.path = "/v1/other";
  EXPECT_EQ(client.send(query)->status, 400);
}

TEST(Routes, KnowTheirPaths) {
  EXPECT_TRUE(IsPathOf("/", "/"));
  EXPECT_TRUE(IsPathOf("/v1/runs/{run}", "/v1/runs/run_1"));
  EXPECT_FALSE(IsPathOf("/v1/runs/{run}", "/v1/runs/"));
  EXPECT_FALSE(IsPathOf("/v1/runs/{run}", "/v1/runs/a/b"));
  EXPECT_FALSE(IsPathOf("/v1/runs", "/v1/runs/"));
  EXPECT_FALSE(IsPathOf("/v1/runs", "/v1"));
  EXPECT_TRUE(IsPathOf("/a/{b}/c/{d}", "/a/1/c/2"));
}

}  // namespace
}  // namespace hyper::server
