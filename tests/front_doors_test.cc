// A method means the same through every door: the program, C++, C, the server and the evaluation
// run each one with one seed on the scripted engine, and give equal options, rule, paths and texts.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/scripted_engine.h"
#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/hyper.h"
#include "src/capi/engine_handle.h"
#include "src/eval/data/suite.h"
#include "src/eval/run/runner.h"
#include "src/report/json.h"
#include "src/store/store.h"
#include "tests/support/process.h"
#include "tests/support/server_fixture.h"

namespace hyper::test {
namespace {

constexpr const char* kQuestion = "How many?";
constexpr const char* kSeed = "7";
constexpr int kContext = 4096;
constexpr const char* kEndText = "<end>";  // of the token that ends a path, which is no text of it

// What a door made of a method.
struct Seen {
  Json options;
  std::string vote_rule;
  std::string answer;
  std::vector<std::string> texts;  // of all paths
};

std::string WordOr(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The JSON object of a run, as the program and the C interface print it.
Seen SeenIn(const Json& run) {
  Seen seen{run.at("options"), run.at("vote_rule"), WordOr(run.at("answer")), {}};
  for (const Json& path : run.at("paths")) {
    seen.texts.push_back(path.at("text"));
  }
  return seen;
}

Seen ThroughTheProgram(const std::string& method) {
  const ProcessResult run =
      RunProcess({HYPER_PROGRAM, "run", "--engine", "scripted", "--preset", "short", "--method",
                  method, "--seed", kSeed, "--json", "--instruction", "", kQuestion});
  EXPECT_EQ(run.exit_code, 0) << method << ": " << run.err;
  return SeenIn(Json::parse(run.out));
}

Seen SeenOf(const Session& session) {
  const SessionResult result = session.Result();
  Seen seen{OptionsJson(session.pool().options()),
            result.vote_rule,
            result.answer ? *result.answer : "null",
            {}};
  for (const Path& path : session.pool().paths()) {
    seen.texts.push_back(path.text);
  }
  return seen;
}

Seen Decode(Engine& engine, Result<std::unique_ptr<Session>> session) {
  EXPECT_TRUE(session.has_value()) << session.error().message;
  Driver driver(engine);
  driver.Add(session->get());
  EXPECT_TRUE(driver.RunAll().ok());
  return SeenOf(**session);
}

Seen ThroughCpp(const std::string& method) {
  const std::unique_ptr<Engine> engine = app::MakeScriptedEngine(0, kContext);
  AskOptions options;
  options.method = method;
  options.preset = "short";
  options.seed = 7;
  return Decode(*engine, PrepareSession(*engine, kQuestion, options));
}

Seen ThroughC(const std::string& method) {
  hyper_engine handle{app::MakeScriptedEngine(0, kContext)};
  const Json options = {{"method", method}, {"preset", "short"}, {"seed", 7}};
  char* result = nullptr;
  char* error = nullptr;
  EXPECT_EQ(
      hyper_ask(&handle, kQuestion, options.dump().c_str(), nullptr, nullptr, &result, &error),
      HYPER_OK)
      << method << ": " << (error == nullptr ? "" : error);
  const Seen seen = SeenIn(Json::parse(result == nullptr ? "{}" : result));
  hyper_free(result);
  hyper_free(error);
  return seen;
}

// What a run's log tells: options in its head, texts path by path, where a fork begins with what
// its parent had written.
void Take(const Json& record, Seen& seen) {
  if (!record.is_object()) {
    return;
  }
  const std::string kind = record.value("record", "");
  if (kind == "run") {
    seen.options = record.at("options");
  } else if (kind == "path") {
    const Json& parent = record.at("parent");
    seen.texts.push_back(parent.is_null() ? "" : seen.texts[parent.get<size_t>()]);
  } else if (kind == "token") {
    const std::string text = record.at("text");
    seen.texts.at(record.at("path").get<size_t>()) += text == kEndText ? "" : text;
  }
}

// A served engine that writes as the scripted one does.
class Served {
 public:
  Served() : engine_(app::MakeScriptedEngine(0, kContext)), scheduler_(*engine_, {}) {
    server::ServerLimits limits;
    limits.model_name = "m";
    limits.preset = "short";
    limits.model = engine_->model();
    limits.most_lanes = engine_->capabilities().max_lanes;
    limits.routing = engine_->capabilities().routing;
    server::HttpOptions http;
    http.port = 0;
    server_ = std::move(*server::HttpServer::Listen(scheduler_, limits, http));
  }
  ~Served() {
    scheduler_.Shutdown(0);
    server_->Stop();
  }

  Seen Through(const std::string& method) {
    httplib::Client client("127.0.0.1", server_->port());
    const Json body = {{"model", "m:" + method},
                       {"messages", {{{"role", "user"}, {"content", kQuestion}}}},
                       {"hyper", {{"seed", 7}, {"token-records", true}}}};
    const auto reply = client.Post("/v1/chat/completions", body.dump(), "application/json");
    EXPECT_TRUE(reply && reply->status == 200) << method;
    const Json answer = Json::parse(reply->body);
    const std::string id = answer.at("hyper").at("run");
    Seen seen{{}, answer.at("hyper").at("vote_rule"), WordOr(answer.at("hyper").at("answer")), {}};
    const auto log = client.Get("/v1/runs/" + id + "/events");
    EXPECT_TRUE(log && log->status == 200) << method;
    std::istringstream lines(log->body);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("data: ")) {
        Take(Json::parse(line.substr(6), nullptr, /*allow_exceptions=*/false), seen);
      }
    }
    return seen;
  }

 private:
  std::unique_ptr<Engine> engine_;
  server::Scheduler scheduler_;
  std::unique_ptr<server::HttpServer> server_;
};

void ExpectSame(const Seen& door, const Seen& program, const std::string& where) {
  EXPECT_EQ(door.options, program.options) << where;
  EXPECT_EQ(door.vote_rule, program.vote_rule) << where;
  EXPECT_EQ(door.answer, program.answer) << where;
  ASSERT_EQ(door.texts.size(), program.texts.size()) << where;
  EXPECT_EQ(door.texts, program.texts) << where;
}

TEST(FrontDoors, EveryMethodIsTheSameThroughEachOfThem) {
  Served served;
  for (const MethodInfo& method : Methods()) {
    const Seen program = ThroughTheProgram(method.name);
    EXPECT_FALSE(program.texts.empty()) << method.name;
    ExpectSame(ThroughCpp(method.name), program, method.name + " in C++");
    ExpectSame(ThroughC(method.name), program, method.name + " in C");
    ExpectSame(served.Through(method.name), program, method.name + " served");
  }
}

// The evaluation has prompts and seeds of its own: each of its sessions is made again in C++.
class Evaluated {
 public:
  Evaluated() {
    std::string methods;
    for (const MethodInfo& method : Methods()) {
      methods += (methods.empty() ? "" : ",") + method.name;
    }
    const ProcessResult run =
        RunProcess({HYPER_PROGRAM, "eval", "--engine", "scripted", "--suite", "tinymath",
                    "--levels", "2", "--questions", "1", "--methods", methods, "--seed", kSeed,
                    "--align", "off", "--live", "--study", folder_.File("study.db")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    store_.emplace(std::move(*Store::Open(folder_.File("study.db"), DatabaseMode::kReadOnly)));
    suite_ = *eval::LoadSuite("tinymath");
    eval::Selection selection;
    selection.groups = {"2"};
    selection.limit = 1;
    question_ = eval::LoadQuestions(suite_, selection, "")->questions.front();
  }

  Store& store() { return *store_; }

  // The run that the evaluation stored, against the same session opened here.
  void Compare(const StoredRun& run) {
    const Result<RunPlan> plan = ResolveRun({run.method, "short", {}, {}}, {});
    ASSERT_TRUE(plan.has_value()) << run.method;
    MethodOptions options = plan->options;
    for (const Option& option : OptionsOf(options)) {
      EXPECT_EQ(run.settings.at(option.info().name), option.Text()) << run.method;
    }
    const std::unique_ptr<Engine> engine = app::MakeScriptedEngine(0, kContext);
    SessionSpec spec;
    spec.prompt = *engine->RenderChat(eval::PromptMessages(suite_, question_), {});
    spec.seed = {7, eval::QuestionKey(suite_.name, question_.id)};
    spec.extractor = ExtractorFor(eval::AnswerOptions(question_));
    const Seen here = Decode(*engine, OpenSession(*engine, *plan, std::move(spec)));
    const Result<StoredItem> item = store_->LoadItem({run.id, 1, 0});
    ASSERT_TRUE(item.has_value()) << run.method;
    EXPECT_EQ(item->vote_rule, here.vote_rule) << run.method;
    EXPECT_EQ(item->answer.value_or("null"), here.answer) << run.method;
    ASSERT_EQ(item->paths.size(), here.texts.size()) << run.method;
    for (size_t i = 0; i < here.texts.size(); ++i) {
      EXPECT_EQ(item->paths[i].text, here.texts[i]) << run.method << " path " << i;
    }
  }

 private:
  TemporaryFolder folder_;
  std::optional<Store> store_;
  eval::Suite suite_;
  eval::Question question_;
};

TEST(FrontDoors, TheEvaluationRunsTheMethodsThatItsRowsName) {
  Evaluated evaluated;
  const Result<std::vector<StoredRun>> runs = evaluated.store().Runs();
  ASSERT_TRUE(runs.has_value());
  EXPECT_EQ(runs->size(), Methods().size());
  for (const StoredRun& run : *runs) {
    evaluated.Compare(run);
  }
}

}  // namespace
}  // namespace hyper::test
