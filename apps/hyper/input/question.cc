#include "apps/hyper/input/question.h"

#include <fmt/format.h>
#include <unistd.h>

#include "apps/hyper/input/read_text.h"

namespace hyper::app {

Result<std::string> ReadQuestion(const std::string& argument, const std::string& path) {
  if (!argument.empty() && !path.empty()) {
    return InvalidArgument(
        fmt::format("both a question and --file '{}' are given; give one", path));
  }
  std::string text = argument;
  const bool piped = argument.empty() && path.empty() && isatty(STDIN_FILENO) == 0;
  if (piped || !path.empty() || argument == "-") {
    Result<std::string> read = ReadText(path.empty() ? "-" : path);
    if (!read) {
      return read;
    }
    text = *read;
  }
  text.erase(text.find_last_not_of("\r\n") + 1);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return InvalidArgument(
        "the question is empty; give it as an argument, on standard input or with --file");
  }
  return text;
}

}  // namespace hyper::app
