// hyper plan: what a number of servers would answer, from what one of them was measured to do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/commands/cluster_model.h"
#include "apps/hyper/input/read_text.h"
#include "src/core/quantile.h"
#include "src/report/json.h"

namespace hyper::app {
namespace {

constexpr const char* kPlanCommand = "plan";
constexpr double kControllerUs = 9.3;  // docs/remote.md, measured with 64 servers
constexpr const char* kPlanFooter =
    "Examples:\n"
    "  hyper bench --engine http://127.0.0.1:8080/v1 --width 1 --json > w1.json\n"
    "  hyper bench --engine http://127.0.0.1:8080/v1 --width 16 --json > w16.json\n"
    "  hyper eval --engine http://127.0.0.1:8080/v1 --questions 20 --study s.db\n"
    "  hyper export s.db --jsonl > runs.jsonl\n"
    "  hyper plan --cluster 8 --bench w1.json,w16.json --runs runs.jsonl\n\n"
    "docs/remote.md tells what is simulated, and what is left out.";

struct PlanFlags {
  int cluster = 0;
  std::vector<std::string> bench;
  std::string runs;
  Cluster shape{.controller_us = kControllerUs};
  int questions = 0;
  bool json = false;
};

struct PlanRow {
  Cluster cluster;
  ClusterLoad load;
};

// The objects of a file: one, or one on each line.
Result<std::vector<Json>> ReadObjects(const std::string& path) {
  const Result<std::string> text = ReadText(path);
  if (!text) {
    return text.error();
  }
  const Json whole = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (whole.is_object()) {
    return std::vector<Json>{whole};
  }
  std::vector<Json> objects;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = Trimmed(std::string_view(*text).substr(at, end - at));
    at = end + 1;
    if (line.empty()) {
      continue;
    }
    objects.push_back(Json::parse(line, nullptr, /*allow_exceptions=*/false));
    if (!objects.back().is_object()) {
      objects.clear();
      break;
    }
  }
  if (objects.empty()) {
    return Error{ErrorCode::kDataLoss, path + " holds no JSON objects"};
  }
  return objects;
}

double Number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// One measured forward for each `hyper bench --json`: the median over its runs.
Result<std::vector<ForwardTime>> ReadForwards(const std::vector<std::string>& paths) {
  std::map<double, double> ms_by_rows;
  for (const std::string& path : paths) {
    const Result<std::vector<Json>> objects = ReadObjects(path);
    if (!objects) {
      return objects.error();
    }
    for (const Json& object : *objects) {
      std::vector<double> rows;
      std::vector<double> ms;
      for (const Json& run : object.value("runs", Json::array())) {
        const double lanes = Number(run, "mean_lanes");
        const double tokens = Number(run, "tokens");
        if (lanes > 0 && tokens > 0 && Number(run, "wall_s") > 0) {
          rows.push_back(lanes);
          ms.push_back(1000 * lanes * Number(run, "wall_s") / tokens);
        }
      }
      if (rows.empty()) {
        return Error{ErrorCode::kDataLoss, path + " is not of hyper bench --json"};
      }
      ms_by_rows[Quantile(rows, 0.5)] = Quantile(ms, 0.5);
    }
  }
  std::vector<ForwardTime> forwards;
  forwards.reserve(ms_by_rows.size());
  for (const auto& [rows, ms] : ms_by_rows) {
    forwards.push_back({rows, ms});
  }
  return forwards;
}

// What each answer of `hyper export --jsonl` or `hyper run --json` decoded.
Result<std::vector<ClusterQuestion>> ReadQuestions(const std::string& path) {
  const Result<std::vector<Json>> objects = ReadObjects(path);
  if (!objects) {
    return objects.error();
  }
  std::vector<ClusterQuestion> questions;
  for (const Json& run : *objects) {
    ClusterQuestion question;
    for (const Json& one : run.value("paths", Json::array())) {
      const int tokens = static_cast<int>(Number(one, "tokens") - Number(one, "fork_position"));
      if (tokens > 0) {
        (one.value("warmup", Json()) == true ? question.warmup : question.paths).push_back(tokens);
      }
    }
    const Json ledger = run.value("ledger", Json::object());
    const double generated = Number(ledger, "generated");
    if (question.warmup.size() + question.paths.size() == 0 || generated <= 0) {
      return Error{ErrorCode::kDataLoss,
                   path + " is not of hyper export --jsonl or hyper run --json"};
    }
    question.rows = 1 + Number(ledger, "extra_routes") / generated;
    questions.push_back(std::move(question));
  }
  return questions;
}

// As many questions as fill the lanes of all replicas, each with the paths that it has on average.
int QuestionsThatFill(const std::vector<ClusterQuestion>& questions, const Cluster& cluster) {
  double paths = 0;
  for (const ClusterQuestion& question : questions) {
    paths += static_cast<double>(std::max(question.warmup.size(), question.paths.size()));
  }
  const double lanes = static_cast<double>(cluster.replicas) * cluster.lanes;
  return std::max(1, static_cast<int>(lanes * static_cast<double>(questions.size()) / paths));
}

// 1, 2, 4, ... replicas, and the number asked for.
std::vector<PlanRow> PlanRows(const PlanFlags& flags, const std::vector<ForwardTime>& forwards,
                              const std::vector<ClusterQuestion>& questions) {
  std::vector<PlanRow> rows;
  for (int replicas = 1;; replicas = std::min(2 * replicas, flags.cluster)) {
    Cluster cluster = flags.shape;
    cluster.replicas = replicas;
    cluster.questions =
        flags.questions > 0 ? flags.questions : QuestionsThatFill(questions, cluster);
    rows.push_back({cluster, SimulateCluster(forwards, questions, cluster)});
    if (replicas == flags.cluster) {
      return rows;
    }
  }
}

std::string PlanText(const std::vector<PlanRow>& rows, const std::vector<ForwardTime>& forwards) {
  std::string text =
      fmt::format("{:>8}  {:>9}  {:>8}  {:>14}  {:>11}  {:>14}  {:>10}\n", "replicas", "questions",
                  "tokens/s", "questions/hour", "s/question", "rows/forward", "controller");
  bool beyond = false;
  for (const auto& [cluster, load] : rows) {
    text +=
        fmt::format("{:>8}  {:>9}  {:>8.0f}  {:>14.0f}  {:>11.2f}  {:>14.1f}  {:>8.1f} %\n",
                    cluster.replicas, cluster.questions, load.tokens_per_s, load.questions_per_hour,
                    load.seconds, load.rows, 100 * load.controller_share);
    beyond = beyond || load.rows > forwards.back().rows;
  }
  if (beyond) {
    text += fmt::format(
        "forwards have more rows than any that was measured ({:.1f}): their times are "
        "extrapolated\n",
        forwards.back().rows);
  }
  return text;
}

std::string PlanJson(const std::vector<PlanRow>& rows, const std::vector<ForwardTime>& forwards) {
  Json object = {{"forwards", Json::array()}, {"rows", Json::array()}};
  for (const ForwardTime& forward : forwards) {
    object["forwards"].push_back({{"rows", forward.rows}, {"ms", forward.ms}});
  }
  for (const auto& [cluster, load] : rows) {
    object["rows"].push_back({{"replicas", cluster.replicas},
                              {"questions", cluster.questions},
                              {"tokens_per_s", load.tokens_per_s},
                              {"questions_per_hour", load.questions_per_hour},
                              {"s_per_question", load.seconds},
                              {"rows_per_forward", load.rows},
                              {"controller_share", load.controller_share}});
  }
  return DumpJson(object, 2) + "\n";
}

}  // namespace

int PlanCommand(int argc, const char* const* argv) {
  CLI::App app("Simulates how much up to N equal servers answer, from measurements of one.");
  PlanFlags flags;
  SetUpParser(app, kPlanCommand, kPlanFooter);
  app.add_option("--cluster", flags.cluster, "servers at most; also 1, 2, 4, ... are shown")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->required();
  app.add_option("--bench", flags.bench, "results of hyper bench --json, one for each width")
      ->type_name("FILE,...")
      ->delimiter(',')
      ->required();
  app.add_option("--runs", flags.runs,
                 "answers of hyper export --jsonl or hyper run --json: what questions decode")
      ->type_name("FILE")
      ->required();
  app.add_option("--lanes", flags.shape.lanes, "paths that one server decodes at once [64]")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_option("--questions", flags.questions,
                 "questions in work at once [as many as fill the lanes]")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_option("--controller-us", flags.shape.controller_us,
                 fmt::format("CPU time of hyper for each token, in us [{}]", kControllerUs))
      ->type_name("US")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--json", flags.json, "print one JSON object");
  if (const std::optional<int> done = ParseCommandLine(app, kPlanCommand, argc, argv)) {
    return *done;
  }
  const Result<std::vector<ForwardTime>> forwards = ReadForwards(flags.bench);
  if (!forwards) {
    return Complain(kPlanCommand, forwards.error());
  }
  const Result<std::vector<ClusterQuestion>> questions = ReadQuestions(flags.runs);
  if (!questions) {
    return Complain(kPlanCommand, questions.error());
  }
  const std::vector<PlanRow> rows = PlanRows(flags, *forwards, *questions);
  const std::string text = flags.json ? PlanJson(rows, *forwards) : PlanText(rows, *forwards);
  return PrintResult(kPlanCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace hyper::app
