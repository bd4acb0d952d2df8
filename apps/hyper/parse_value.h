// Values of flags out of text, with errors that name flag, value and what it takes.
#pragma once

#include <cstdint>
#include <string>

#include "hyper/result.h"

namespace hyper::app {

// Each reads `text` whole into `value`, which keeps its old value on an error.
//   name   the flag without its dashes      range  what it takes, in words
// Errors: kInvalidArgument. NaN and infinity are read; a range check has to refuse them.
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  int& value);
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  int64_t& value);
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  uint64_t& value);
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  double& value);
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  bool& value);
Status ParseValue(const std::string& name, const std::string& text, const std::string& range,
                  std::string& value);

// Seconds out of "30s", "1.5m", "2h", "250ms" or a plain number of seconds; above 0, finite.
Result<double> ParseDuration(const std::string& name, const std::string& text);

}  // namespace hyper::app
