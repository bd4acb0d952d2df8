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
constexpr const char* kBudget = "budget-tokens";
constexpr int kContext = 65536;            // holds the paper's 32,768 tokens of a path
constexpr const char* kEndText = "<end>";  // of the token that ends a path, which is no text of it
constexpr const char* kProbeQuestion = "\n\nThe answer is \\boxed{";

// What is asked for beside question and seed.
struct Wanted {
  std::string method;
  std::string preset = "short";
  std::map<std::string, int> options = {};
};

// The methods as Methods() lists them, and trees with the other scorers that need no second engine.
std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const MethodInfo& method : Methods()) {
    names.push_back(method.name);
    if (method.name.ends_with("-conf")) {
      const std::string tree = method.name.substr(0, method.name.find('-'));
      names.push_back(tree + "-ptrue");
      names.push_back(tree + "-judge");
    }
  }
  return names;
}

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

Seen ThroughTheProgram(const Wanted& wanted) {
  std::vector<std::string> arguments = {HYPER_PROGRAM,
                                        "run",
                                        "--engine",
                                        "scripted",
                                        "--preset",
                                        wanted.preset,
                                        "--method",
                                        wanted.method,
                                        "--seed",
                                        kSeed,
                                        "--json",
                                        "--instruction",
                                        ""};
  for (const auto& [name, value] : wanted.options) {
    arguments.push_back("--" + name + "=" + std::to_string(value));
  }
  arguments.emplace_back(kQuestion);
  const ProcessResult run = RunProcess(arguments);
  EXPECT_EQ(run.exit_code, 0) << wanted.method << ": " << run.err;
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

Seen ThroughCpp(const Wanted& wanted) {
  const std::unique_ptr<Engine> engine = app::MakeScriptedEngine(0, kContext);
  AskOptions options;
  options.method = wanted.method;
  options.preset = wanted.preset;
  options.seed = 7;
  for (const auto& [name, value] : wanted.options) {
    if (name == kBudget) {
      options.limits.budget_tokens = value;
    } else {
      options.options.emplace_back(name, value);
    }
  }
  return Decode(*engine, PrepareSession(*engine, kQuestion, options));
}

Seen ThroughC(const Wanted& wanted) {
  hyper_engine handle{app::MakeScriptedEngine(0, kContext)};
  Json options = {{"method", wanted.method}, {"preset", wanted.preset}, {"seed", 7}};
  options.update(Json(wanted.options));
  char* result = nullptr;
  char* error = nullptr;
  EXPECT_EQ(
      hyper_ask(&handle, kQuestion, options.dump().c_str(), nullptr, nullptr, &result, &error),
      HYPER_OK)
      << wanted.method << ": " << (error == nullptr ? "" : error);
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
    std::string& written = seen.texts.at(record.at("path").get<size_t>());
    // What a probe was asked is no event. A token of this engine is a byte.
    written += record.at("position").get<size_t>() > written.size() ? kProbeQuestion : "";
    written += text == kEndText ? "" : text;
  }
}

// A served engine that writes as the scripted one does.
class Served {
 public:
  Served() : engine_(app::MakeScriptedEngine(0, kContext)), scheduler_(*engine_, book_, {}) {
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

  Seen Through(const Wanted& wanted) {
    const std::string& method = wanted.method;
    httplib::Client client("127.0.0.1", server_->port());
    Json options = {{"seed", 7}, {"token-records", true}, {"preset", wanted.preset}};
    options.update(Json(wanted.options));
    const Json body = {{"model", "m:" + method},
                       {"messages", {{{"role", "user"}, {"content", kQuestion}}}},
                       {"hyper", options}};
    const auto reply = client.Post("/v1/chat/completions", body.dump(), "application/json");
    EXPECT_TRUE(reply && reply->status == 200) << method << (reply ? reply->body : "no reply");
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
  server::RunBook book_{server::BookOptions{}};
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
  for (const std::string& method : MethodNames()) {
    const Seen program = ThroughTheProgram({method});
    EXPECT_FALSE(program.texts.empty()) << method;
    ExpectSame(ThroughCpp({method}), program, method + " in C++");
    ExpectSame(ThroughC({method}), program, method + " in C");
    ExpectSame(served.Through({method}), program, method + " served");
  }
}

// The suites' preset is `short`, so only the other doors have both. A run that stops at its first
// token shows its options all the same.
TEST(FrontDoors, OptionsAreTheSameUnderThePaperPresetToo) {
  Served served;
  for (const std::string& method : MethodNames()) {
    const Wanted wanted{method, "paper", {{kBudget, 1}}};
    const Seen program = ThroughTheProgram(wanted);
    EXPECT_EQ(program.options.at("interval"), Preset("paper")->interval) << method;
    EXPECT_EQ(ThroughCpp(wanted).options, program.options) << method;
    EXPECT_EQ(ThroughC(wanted).options, program.options) << method;
    EXPECT_EQ(served.Through(wanted).options, program.options) << method;
  }
}

TEST(FrontDoors, CotIsOnePathWhateverTheWidth) {
  const Wanted wanted{"cot", "short", {{"width", 8}}};
  Served served;
  for (const Seen& seen :
       {ThroughTheProgram(wanted), ThroughCpp(wanted), ThroughC(wanted), served.Through(wanted)}) {
    EXPECT_EQ(seen.options.at("width"), 1);
    EXPECT_EQ(seen.texts.size(), 1U);
  }
}

// The evaluation has prompts and seeds of its own: each of its sessions is made again in C++.
class Evaluated {
 public:
  Evaluated() {
    std::string methods;
    for (const std::string& method : MethodNames()) {
      methods += (methods.empty() ? "" : ",") + method;
    }
    const ProcessResult run = RunProcess({HYPER_PROGRAM,
                                          "eval",
                                          "--engine",
                                          "scripted",
                                          "--suite",
                                          "tinymath",
                                          "--levels",
                                          "2",
                                          "--questions",
                                          "1",
                                          "--methods",
                                          methods,
                                          "--seed",
                                          kSeed,
                                          "--align",
                                          "off",
                                          "--live",
                                          "--row",
                                          "cot 8=cot:width=8",
                                          "--study",
                                          folder_.File("study.db")});
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
  EXPECT_EQ(runs->size(), MethodNames().size()) << "cot with a width is cot";
  for (const StoredRun& run : *runs) {
    evaluated.Compare(run);
  }
}

}  // namespace
}  // namespace hyper::test
