// The module hyper_decode._native: engines and runs, the option tables, equality and extraction.
// What users see is the Python around it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/program.h"
#include "hyper/llama_engine.h"
#include "hyper/remote_engine.h"
#include "hyper/step_reward.h"
#include "python/native/answers.h"
#include "python/native/engine_host.h"
#include "python/native/errors.h"
#include "python/native/options.h"
#include "python/native/python_evaluation.h"
#include "python/native/python_method.h"
#include "src/capi/engine_options.h"
#include "src/report/options_json.h"

namespace nb = nanobind;

namespace hyper::python {
namespace {

// An engine as Python holds it. Its thread may need Python's lock to end.
class HeldEngine {
 public:
  explicit HeldEngine(std::unique_ptr<EngineHost> host) : host_(std::move(host)) {}
  ~HeldEngine() {
    const nb::gil_scoped_release released;
    host_.reset();
  }
  HeldEngine(const HeldEngine&) = delete;
  HeldEngine& operator=(const HeldEngine&) = delete;
  EngineHost& host() { return *host_; }

 private:
  std::unique_ptr<EngineHost> host_;
};

std::unique_ptr<HeldEngine> OpenHost(EngineHost::Maker make) {
  const nb::gil_scoped_release released;
  return std::make_unique<HeldEngine>(Value(EngineHost::Open(std::move(make))));
}

std::unique_ptr<HeldEngine> OpenModel(const std::string& path, const std::string& options_json) {
  LlamaOptions options = Value(ParseEngineOptions(options_json, path));
  return OpenHost([options = std::move(options)] { return MakeLlamaEngine(options); });
}

std::unique_ptr<HeldEngine> OpenServers(std::vector<std::string> urls, const std::string& model,
                                        const std::string& api_key,
                                        const std::string& options_json) {
  RemoteOptions options = Value(ParseServerOptions(options_json));
  options.urls = std::move(urls);
  options.model = model;
  options.api_key = api_key;
  return OpenHost([options = std::move(options)] { return MakeRemoteEngine(options); });
}

// A step-wise method whose steps are valued in Python.
MethodMaker WithReward(nb::object reward) {
  // Dropped with the GIL, on whichever thread the last copy goes.
  const std::shared_ptr<nb::object> held(new nb::object(std::move(reward)), [](nb::object* object) {
    const nb::gil_scoped_acquire acquired;
    delete object;
  });
  return [held](const RunPlan& plan) -> Result<std::unique_ptr<Method>> {
    const nb::gil_scoped_acquire acquired;
    return MakeStepMethod(plan, MakePythonReward(*held));
  };
}

std::shared_ptr<Run> Start(HeldEngine& engine,
                           const std::vector<std::pair<std::string, std::string>>& messages,
                           const std::string& options_json, bool records, nb::object reward,
                           const std::string& name,
                           const std::vector<std::pair<std::string, std::string>>& defaults,
                           nb::object factory) {
  AskRequest request = Value(ParseAskOptions(options_json));
  Job job;
  job.options = std::move(request.options);
  job.timing = request.timing;
  job.records = records;
  job.check = &StatusOf;
  for (const auto& [role, content] : messages) {
    job.messages.push_back({role, content});
  }
  if (!reward.is_none()) {
    job.make = WithReward(std::move(reward));
  } else if (!factory.is_none()) {
    job.name = name;
    job.make = PythonMethodMaker(name, std::move(factory));
    for (const auto& [option, value] : defaults) {
      job.options.defaults.push_back({option, value});
    }
  }
  const nb::gil_scoped_release released;
  return engine.host().Start(std::move(job));
}

// What the engine is and can do, as JSON.
std::string AboutJson(HeldEngine& engine) {
  const ModelInfo& model = engine.host().model();
  const Capabilities& can = engine.host().capabilities();
  return DumpJson({{"name", model.name},
                   {"architecture", model.architecture},
                   {"hash", model.hash},
                   {"vocabulary", model.vocab_size},
                   {"experts", model.expert_count},
                   {"context", can.context_tokens},
                   {"cells", can.cells_total},
                   {"max_lanes", can.max_lanes},
                   {"routing", can.routing},
                   {"score", can.score},
                   {"strict", can.strict},
                   {"cpu_backend", model.cpu_backend}});
}

// Runs a command of the program; returns its exit code.
int RunCommand(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"hyper"};
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  const nb::gil_scoped_release released;
  return app::RunProgram(static_cast<int>(argv.size()), argv.data());
}

void BindRuns(nb::module_& module) {
  nb::class_<Run>(module, "Run")
      .def("wait", &Run::Wait, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>())
      .def("cancel", &Run::Cancel, nb::arg("reason"), nb::call_guard<nb::gil_scoped_release>())
      .def("take_records", &Run::TakeRecords, nb::arg("timeout_s"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("report", [](const Run& run) { return Value(run.Report()); });
  nb::class_<HeldEngine>(module, "Engine")
      .def("start", &Start, nb::arg("messages"), nb::arg("options_json"), nb::arg("records"),
           nb::arg("reward").none(), nb::arg("name") = "", nb::arg("defaults") = nb::list(),
           nb::arg("factory") = nb::none())
      .def("about", &AboutJson)
      .def("on_its_thread", [](HeldEngine& engine) { return engine.host().OnItsThread(); })
      .def(
          "close", [](HeldEngine& engine) { engine.host().Close(); },
          nb::call_guard<nb::gil_scoped_release>());
  module.def("open_model", &OpenModel, nb::arg("path"), nb::arg("options_json"));
  module.def("open_servers", &OpenServers, nb::arg("urls"), nb::arg("model"), nb::arg("api_key"),
             nb::arg("options_json"));
}

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // methods stay registered until the process ends
  module.attr("version") = HYPER_VERSION;
  module.def("option_tables", &OptionTablesJson);
  BindRuns(module);
  BindAnswers(module);
  BindMethods(module);
  BindEvaluation(module);
  module.def("run_command", &RunCommand, nb::arg("arguments"));
}

}  // namespace
}  // namespace hyper::python
