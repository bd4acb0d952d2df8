#include "apps/hyper/flags/models_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "apps/hyper/input/config_file.h"
#include "apps/hyper/input/read_text.h"

namespace hyper::app {
namespace {

Error WrongAt(int line, const std::string& what) {
  return InvalidArgument(fmt::format("{}: {}", line, what));
}

// The field that is no row of an option table; null: it may be one.
std::string* FieldOf(const std::string& name, EngineFlags& flags) {
  return name == "model"             ? &flags.model
         : name == "engine"          ? &flags.engine
         : name == "engine-key-file" ? &flags.api_key_file
         : name == "profile"         ? &flags.profile
                                     : nullptr;
}

// The name of an engine's option in its table; empty: there is none that may be set here.
std::string EngineOption(const std::string& name) {
  if (name == "max-lanes" || name == "interleave") {  // they follow from other options
    return "";
  }
  LlamaOptions llama;
  RemoteOptions remote;
  for (const std::vector<Option>& table : {OptionsOf(llama), OptionsOf(remote)}) {
    for (const Option& option : table) {
      if (name == option.info().name || name == option.info().alias) {
        return option.info().name;
      }
    }
  }
  return "";
}

Status PutInto(const ConfigEntry& entry, ModelSection& section) {
  const std::string value = fmt::format("{}", fmt::join(entry.values, ","));
  if (std::string* field = FieldOf(entry.name, section.engine)) {
    *field = value;
  } else if (entry.name == "plain-name") {
    section.plain_names = entry.values;
    std::erase(section.plain_names, "");
  } else if (const std::string option = EngineOption(entry.name); !option.empty()) {
    section.engine.given.push_back({option, value});
  } else {
    return WrongAt(
        entry.line,
        fmt::format("'{}' is not known here; below [NAME] of a model stand model, "
                    "plain-name, engine and options of the engine, as in docs/options.md",
                    entry.Text()));
  }
  return {};
}

// The section of that name, which is added where there is none.
ModelSection& SectionOf(const std::string& name, const EngineFlags& common, int line,
                        std::vector<ModelSection>& sections) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&name](const ModelSection& one) { return one.name == name; });
  return found != sections.end() ? *found
                                 : sections.emplace_back(ModelSection{name, common, {}, line});
}

// A file that is not there is a mistake of whoever wrote the section, and not of a request.
Status CheckSection(ModelSection& section) {
  Status status = CheckEngineFlags(section.engine);
  if (status && section.engine.engine == "llama" && !std::ifstream(section.engine.model)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("model file '{}' cannot be opened; check path and permissions",
                             section.engine.model)};
  }
  return status;
}

// Two models of one name could not be told apart.
Status CheckNames(const std::vector<ModelSection>& sections) {
  std::set<std::string> seen;
  for (const ModelSection& section : sections) {
    std::vector<std::string> names = section.plain_names;
    names.push_back(section.name);
    for (const std::string& name : names) {
      if (!seen.insert(name).second) {
        return WrongAt(
            section.line,
            fmt::format("'{}' is the name of two models; give one of them another", name));
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ModelSection>> ParseModels(std::string_view text, const EngineFlags& common) {
  const Result<std::vector<ConfigEntry>> entries = ParseConfig(text);
  if (!entries) {
    return entries.error();
  }
  std::vector<ModelSection> sections;
  for (const ConfigSection& section : *ParseSections(text)) {
    const int first = SectionOf(section.name, common, section.line, sections).line;
    if (first != section.line) {
      return WrongAt(section.line, fmt::format("[{}] is also in line {}; put its entries there",
                                               section.name, first));
    }
  }
  for (const ConfigEntry& entry : *entries) {
    if (entry.section.empty()) {
      return WrongAt(entry.line, fmt::format("'{}' stands in no section; put it below [NAME], the "
                                             "name of its model",
                                             entry.Text()));
    }
    ModelSection& section = SectionOf(entry.section, common, entry.line, sections);
    if (Status status = PutInto(entry, section); !status) {
      return status.error();
    }
  }
  if (Status names = CheckNames(sections); !names) {
    return names.error();
  }
  return sections;
}

Result<std::vector<ModelSection>> ReadModels(const std::string& path, const EngineFlags& common) {
  const Result<std::string> text = ReadText(path);
  if (!text) {
    return text.error();
  }
  Result<std::vector<ModelSection>> sections = ParseModels(*text, common);
  if (!sections) {
    return InvalidArgument(path + ":" + sections.error().message);
  }
  if (sections->empty()) {
    return InvalidArgument(fmt::format(
        "--models {} has no model; it takes a section [NAME] with model = FILE for each", path));
  }
  for (ModelSection& section : *sections) {
    if (Status status = CheckSection(section); !status) {
      return Error{status.error().code, fmt::format("{}:{}: [{}] {}", path, section.line,
                                                    section.name, status.error().message)};
    }
  }
  return sections;
}

}  // namespace hyper::app
