#include "src/capi/engine_options.h"

#include <vector>

#include "src/report/options_json.h"

namespace hyper {

Result<LlamaOptions> ParseEngineOptions(const std::string& text, const std::string& model_path) {
  const Result<Json> object = ParseOptionObject(text);
  if (!object) {
    return object.error();
  }
  OptionReader reader(*object);
  LlamaOptions options;
  options.model_path = model_path;
  for (Option& option : OptionsOf(options)) {
    TakeOption(reader, option);
  }
  const Status status = reader.Finish();
  return status ? Result<LlamaOptions>(std::move(options)) : Result<LlamaOptions>(status.error());
}

}  // namespace hyper
