// The options of a method as flags of the command line.
#pragma once

#include <map>
#include <string>

#include "hyper/options.h"
#include "hyper/result.h"

namespace CLI {
class App;
}

namespace hyper::app {

// Values of MethodOptions that the command line gives, as text: the preset they change is known
// only once the model is.
class OptionFlags {
 public:
  // One flag per option, with meaning, range, symbol and the default of each preset. This object
  // must outlive the parse.
  void AddTo(CLI::App& app);

  // Puts the given values into `options` and validates the whole.
  // Errors: kInvalidArgument with flag, value and range.
  Status Apply(MethodOptions& options) const;

  // Sets a value as if it had been given, unless it has been.
  void SetDefault(const std::string& name, const std::string& value) {
    given_.try_emplace(name, value);
  }

 private:
  std::map<std::string, std::string> given_;  // by option name
};

}  // namespace hyper::app
