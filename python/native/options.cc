#include "python/native/options.h"

#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/llama_engine.h"
#include "src/decode/ask_options.h"
#include "src/report/json.h"
#include "src/report/options_json.h"

namespace hyper::python {
namespace {

const char* TypeName(const Option& option) {
  switch (option.type()) {
    case Option::Type::kInteger:
      return "integer";
    case Option::Type::kNumber:
      return "number";
    case Option::Type::kSwitch:
      return std::holds_alternative<bool>(option.value()) ? "switch" : "word";
    case Option::Type::kWord:
      return "word";
    case Option::Type::kText:
      return "text";
    case Option::Type::kList:
      break;
  }
  return "list";
}

Json TableJson(const std::vector<Option>& options) {
  Json rows = Json::array();
  for (const Option& option : options) {
    const OptionInfo& info = option.info();
    rows.push_back({{"name", info.name},
                    {"help", info.help},
                    {"group", info.group},
                    {"symbol", info.symbol},
                    {"type", TypeName(option)},
                    {"words", option.Words()},
                    {"takes", option.Takes()},
                    {"default", option.Text()},
                    {"repeated", info.repeated},
                    {"automatic", info.automatic},
                    {"read_by", ReadersOf(info)}});
  }
  return rows;
}

}  // namespace

std::string OptionTablesJson() {
  AskOptions ask;
  MethodOptions method;
  LlamaOptions llama;
  RemoteOptions remote;
  Json question = TableJson(OptionsOf(ask));
  for (Json& row : TableJson(OptionsOf(method))) {
    question.push_back(std::move(row));
  }
  return DumpJson({{"question", std::move(question)},
                   {"model", TableJson(OptionsOf(llama))},
                   {"server", TableJson(OptionsOf(remote))}});
}

Result<RemoteOptions> ParseServerOptions(const std::string& text) {
  const Result<Json> object = ParseOptionObject(text);
  if (!object) {
    return object.error();
  }
  OptionReader reader(*object);
  RemoteOptions options;
  for (Option& option : OptionsOf(options)) {
    const Json* value = reader.Find(option.info().name);
    if (value == nullptr || !value->is_array()) {
      TakeOption(reader, option);
      continue;
    }
    for (const Json& entry : *value) {
      if (const Status status = option.Set(entry.is_string() ? entry.get<std::string>() : "");
          !status) {
        reader.Fail(status.error());
      }
    }
  }
  const Status status = reader.Finish();
  return status ? Result<RemoteOptions>(std::move(options)) : Result<RemoteOptions>(status.error());
}

}  // namespace hyper::python
