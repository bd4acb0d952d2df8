// The file of several models: a section of TOML for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/hyper/flags/engine_flags.h"
#include "hyper/result.h"

namespace hyper::app {

struct ModelSection {
  std::string name;
  EngineFlags engine;
  std::vector<std::string> plain_names;  // other names, for plain decoding
  int line = 0;
};

// Reads
//   [NAME]
//   model = "file.gguf"   # or a name of 'models list'; else the bundled model
//   ctx = 65536           # any option of the engine
//   plain-name = ["gpt-4o-mini"]
// of each model, whose names must differ. What a section does not give is as in `common`. The
// values are judged by CheckEngineFlags. Errors: kInvalidArgument, beginning with the line. Pure.
Result<std::vector<ModelSection>> ParseModels(std::string_view text, const EngineFlags& common);

// The models of a file, checked; at least one. Errors: those of reading it, of ParseModels and of
// CheckEngineFlags, with the line; kNotFound where a model's file is not there.
Result<std::vector<ModelSection>> ReadModels(const std::string& path, const EngineFlags& common);

}  // namespace hyper::app
