// The methods by name. Private to the library: runs come in through ResolveRun and OpenSession
// (hyper/ask.h), which apply a method's defaults before they make it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hyper/method.h"
#include "hyper/options.h"
#include "hyper/result.h"

namespace hyper {

// What the front door needs to know of a method.
struct MethodEntry {
  std::string name;
  uint32_t features = kEvery;   // MethodFeature bits
  bool needs_logprobs = false;  // cannot work on an engine that gives no log-probabilities
  bool one_path = false;        // decodes one path, whatever --width says
  std::string reward = {};      // the scorer of a tree whose name gives one
};

// Errors: kNotFound with the names there are. Pure.
Result<MethodEntry> FindMethod(const std::string& name);

// Changes what a method does not take from the preset (such as DeepConf's confidence set), before
// the user's own options. Errors: kNotFound with the names there are.
Status ApplyMethodDefaults(const std::string& name, MethodOptions& options);

// Puts "option=value option=value" into `options`. Errors: kInvalidArgument.
Status SetOptions(MethodOptions& options, std::string_view texts);

// The method of a name. Errors: kNotFound with the names there are; those of a tree's scorer.
Result<std::unique_ptr<Method>> MakeMethod(const std::string& name, const MethodOptions& options);

}  // namespace hyper
