// hyper models: known models, fetched from a hub.
#include "apps/hyper/commands/models_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "apps/hyper/command.h"
#include "apps/hyper/command_line.h"
#include "apps/hyper/input/secret.h"
#include "apps/hyper/models/model_fetch.h"
#include "apps/hyper/models/model_sources.h"
#include "src/report/json.h"
#include "src/report/nearest.h"

namespace hyper::app {
namespace {

constexpr const char* kModelsCommand = "models";
constexpr const char* kModelsFooter = R"(Examples:
  hyper models list
  hyper models get qwen3-4b
  hyper run -m qwen3-4b --file question.txt

The file comes from the Hugging Face Hub; --hub or HYPER_HUB names another one (it answers
GET ADDRESS/REPOSITORY/resolve/main/FILE). It is put into $XDG_DATA_HOME/hyper/models
(~/.local/share/hyper/models), where --model finds it by its name. An interrupted fetch continues
where it stopped, and the SHA-256 is checked. HF_TOKEN holds the token of a gated repository. The
memory listed is that of the weights and 16,384 KV cells; 'hyper run --plan -m NAME' shows yours.
Exit codes are those of hyper run.)";

struct ModelsFlags {
  std::string name;
  std::string hub;
  std::string output;
};

bool IsFetched(const ModelSource& source) {
  std::error_code error;
  return std::filesystem::exists(ModelsFolder() + "/" + source.file, error);
}

int ListModels(bool as_json) {
  std::string text = fmt::format("{:<14} {:>7}  {}\n", "NAME", "MEMORY", "MODEL");
  Json list = Json::array();
  for (const ModelSource& source : ModelSources()) {
    const bool fetched = IsFetched(source);
    text += fmt::format("{:<14} {:>7}  {}{}\n", source.name, ByteText(MemoryOf(source)),
                        source.title, fetched ? " (fetched)" : "");
    text += fmt::format("{:24}{} {}, {}\n{:24}sha256 {}\n{:24}{}\n", "", source.repository,
                        source.file, ByteText(source.bytes), "", source.sha256, "", source.terms);
    list.push_back({{"name", source.name},
                    {"title", source.title},
                    {"terms", source.terms},
                    {"memory_bytes", MemoryOf(source)},
                    {"repository", source.repository},
                    {"file", source.file},
                    {"bytes", source.bytes},
                    {"sha256", source.sha256},
                    {"fetched", fetched}});
  }
  return PrintResult(kModelsCommand, as_json ? DumpJson(list, 2) + "\n" : text) ? kExitOk
                                                                                : kExitOutput;
}

// Shows how much of a file has come: on a terminal as it comes, else each tenth on a line.
class DownloadProgress {
 public:
  explicit DownloadProgress(const ModelSource& source) : source_(source) {}
  ~DownloadProgress() {
    if (shown_ >= 0 && terminal_) {
      Tell("\n");
    }
  }
  DownloadProgress(const DownloadProgress&) = delete;
  DownloadProgress& operator=(const DownloadProgress&) = delete;

  void Show(int64_t bytes) {
    const int64_t step = bytes * (terminal_ ? 1000 : 10) / source_.bytes;
    if (step == shown_) {
      return;
    }
    shown_ = step;
    Tell(fmt::format("{}{}: {} of {}, {:.0f} %{}", terminal_ ? "\r\033[K" : "", source_.name,
                     ByteText(bytes), ByteText(source_.bytes),
                     100.0 * static_cast<double>(bytes) / static_cast<double>(source_.bytes),
                     terminal_ ? "" : "\n"));
  }

 private:
  const ModelSource& source_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  int64_t shown_ = -1;  // thousandths, or tenths
};

Result<FetchedModel> Fetch(const ModelSource& source, const ModelsFlags& flags) {
  ModelFetch fetch;
  fetch.hub = HubAddress(flags.hub, kPublicHub);
  fetch.token = FromEnvironment({"HF_TOKEN"});
  fetch.folder = flags.output.empty() ? ModelsFolder() : flags.output;
  if (fetch.folder.empty()) {
    return InvalidArgument("neither XDG_DATA_HOME nor HOME is set; give a folder with --output");
  }
  Tell(fmt::format("{}: {}\n", source.name, source.terms));
  DownloadProgress progress(source);
  fetch.progress = [&progress](int64_t bytes) { progress.Show(bytes); };
  fetch.wait = [](double seconds) {
    Warn(kModelsCommand,
         fmt::format("the hub is busy or the connection broke off; waiting {:.0f} s", seconds));
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  return FetchModel(source, fetch);
}

int GetModel(const ModelsFlags& flags) {
  const ModelSource* source = FindModelSource(flags.name);
  if (source == nullptr) {
    return Complain(kModelsCommand,
                    InvalidArgument(fmt::format("model '{}' is not known{}; 'hyper models list' "
                                                "lists those that are",
                                                flags.name, DidYouMean(flags.name, ModelNames()))));
  }
  const Result<FetchedModel> fetched = Fetch(*source, flags);
  if (!fetched) {
    return Complain(kModelsCommand, fetched.error());
  }
  const std::string text = fmt::format("{}: SHA-256 is right{}\n", OneLine(fetched->path),
                                       fetched->present ? ", fetched before" : "");
  return PrintResult(kModelsCommand, text) ? kExitOk : kExitOutput;
}

}  // namespace

int ModelsCommand(int argc, const char* const* argv) {
  ModelsFlags flags;
  CLI::App app("Lists known models, and fetches them from a hub.");
  SetUpParser(app, kModelsCommand, kModelsFooter);
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("list", "the models, what they need and where they are");
  bool as_json = false;
  list->add_flag("--json", as_json, "a JSON array");
  CLI::App* get = app.add_subcommand("get", "fetch a model");
  get->add_option("--hub", flags.hub, "address of another hub [HYPER_HUB]")->type_name("ADDRESS");
  get->add_option("-o,--output", flags.output, "folder for the file [where --model looks]")
      ->type_name("FOLDER");
  get->add_option("NAME", flags.name, "a model of the list")->type_name("")->required();
  if (const std::optional<int> done = ParseCommandLine(app, kModelsCommand, argc, argv)) {
    return *done;
  }
  return list->parsed() ? ListModels(as_json) : GetModel(flags);
}

}  // namespace hyper::app
