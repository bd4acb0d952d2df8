#include "apps/hyper/flags/models_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "apps/hyper/input/config_file.h"
#include "apps/hyper/input/read_text.h"
#include "hyper/method.h"
#include "src/server/api/served_run.h"

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

// What an engine's option is called in its table.
struct OptionName {
  std::string name;  // empty: there is none that may be set here
  bool is_list = false;
  bool is_repeated = false;  // each text is one more entry
};

OptionName EngineOption(const std::string& name) {
  if (name == "max-lanes" || name == "interleave") {  // they follow from other options
    return {};
  }
  LlamaOptions llama;
  RemoteOptions remote;
  for (const std::vector<Option>& table : {OptionsOf(llama), OptionsOf(remote)}) {
    for (const Option& option : table) {
      if (name == option.info().name || name == option.info().alias) {
        return {option.info().name, option.type() == Option::Type::kList, option.info().repeated};
      }
    }
  }
  return {};
}

Status PutInto(const ConfigEntry& entry, ModelSection& section) {
  const std::string value = fmt::format("{}", fmt::join(entry.values, ","));
  std::string* const field = FieldOf(entry.name, section.engine);
  const OptionName option = EngineOption(entry.name);
  if (entry.is_array && (field != nullptr || (!option.name.empty() && !option.is_list))) {
    return WrongAt(entry.line, fmt::format("{} takes one value, and '{}' is an array; leave the "
                                           "brackets out",
                                           entry.name, entry.Text()));
  }
  if (field != nullptr) {
    *field = value;
  } else if (entry.name == "plain-name") {
    section.plain_names = entry.values;
    std::erase(section.plain_names, "");
  } else if (!option.name.empty()) {
    for (const std::string& text :
         option.is_repeated ? entry.values : std::vector<std::string>{value}) {
      section.engine.given.push_back({option.name, text});
    }
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

std::vector<std::string> NamesOf(const ModelSection& section) {
  std::vector<std::string> names = {section.name};
  names.insert(names.end(), section.plain_names.begin(), section.plain_names.end());
  return names;
}

bool IsMethod(const std::string& name) {
  const std::vector<MethodInfo> methods = Methods();
  return name == server::kPlainMethod ||
         std::any_of(methods.begin(), methods.end(),
                     [&name](const MethodInfo& method) { return method.name == name; });
}

// The name of which that one is a method, as "small" of "small:sc"; empty: of none.
std::string WithoutMethod(const std::string& name) {
  const size_t colon = name.rfind(':');
  return colon != std::string::npos && IsMethod(name.substr(colon + 1)) ? name.substr(0, colon)
                                                                        : "";
}

// What one name could mean must be one model with one method.
Status CheckNames(const std::vector<ModelSection>& sections) {
  std::map<std::string, const ModelSection*> owners;
  for (const ModelSection& section : sections) {
    for (const std::string& name : NamesOf(section)) {
      const auto [owner, is_new] = owners.emplace(name, &section);
      if (!is_new) {
        return WrongAt(section.line,
                       owner->second == &section
                           ? fmt::format("[{}] has the name '{}' twice; leave one of them out",
                                         section.name, name)
                           : fmt::format("'{}' is the name of two models, [{}] and [{}]; give one "
                                         "of them another",
                                         name, owner->second->name, section.name));
      }
    }
  }
  for (const auto& [name, owner] : owners) {
    const std::string model = WithoutMethod(name);
    if (std::any_of(sections.begin(), sections.end(),
                    [&model](const ModelSection& other) { return other.name == model; })) {
      return WrongAt(owner->line, fmt::format("'{}' also means a method of [{}]; give [{}] another "
                                              "name",
                                              name, model, owner->name));
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
