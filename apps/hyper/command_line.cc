#include "apps/hyper/command_line.h"

#include <fmt/format.h>

#include "apps/hyper/command.h"

namespace hyper::app {

void SetUpParser(CLI::App& app, const char* command, const std::string& footer) {
  constexpr size_t kFlagColumns = 30;
  app.name(std::string("hyper ") + command);
  app.get_formatter()->column_width(kFlagColumns);
  app.footer(footer);
}

std::optional<int> ParseCommandLine(CLI::App& app, const char* command, int argc,
                                    const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return PrintResult(command, app.help()) ? kExitOk : kExitOutput;
  } catch (const CLI::ParseError& error) {
    return Complain(command,
                    InvalidArgument(fmt::format("{}; 'hyper {} --help' lists what it takes",
                                                error.what(), command)));
  }
  return std::nullopt;
}

}  // namespace hyper::app
