// hyper chat: several turns, each answered by a pool; the winner's reply becomes history.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/commands/asker.h"
#include "apps/hyper/commands/run_plan.h"
#include "apps/hyper/flags/run_flags.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/run_log.h"

namespace hyper::app {
namespace {

// The next line that somebody writes; false at the end.
bool ReadTurn(std::string& line) {
  if (isatty(STDIN_FILENO) == 1) {
    Tell("> ");
  }
  return static_cast<bool>(std::getline(std::cin, line));
}

int Chat(const RunFlags& flags) {
  LiveView view(LiveModeOf(flags.stream ? LiveWhen::kNever : flags.live));
  constexpr int64_t kConversationTokens = 8192;
  Result<Asker> asker = Asker::Load(
      flags, MostPromptTokens(flags, MessagesOf(flags, "")) + kConversationTokens, view);
  if (!asker) {
    return Complain(kChatCommand, asker.error());
  }
  std::vector<ChatMessage> history;
  if (!flags.system.empty()) {
    history.push_back({"system", flags.system});
  }
  const size_t first = history.size();
  std::string line;
  for (uint64_t turn = 0; ReadTurn(line);) {
    if (line == "/exit" || line == "/quit") {
      break;
    }
    if (line == "/new") {
      history.resize(first);
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    if (line.front() == '/' && line.find(' ') == std::string::npos) {
      Tell(fmt::format("'{}' is not known; there are /new, /exit and /quit\n", OneLine(line)));
      continue;
    }
    history.push_back({"user", line});
    Result<Asked> asked = asker->Prepare(history, turn++, view);
    if (!asked) {
      return Complain(kChatCommand, asked.error());
    }
    LeaderStream stream(flags.stream);
    asker->Decode(*asked, view, stream, nullptr);
    if (const Status& status = asked->session->status(); !status) {
      return Complain(kChatCommand, status.error());
    }
    const bool shown = stream.End(asked->Winner());
    const RunReport report = asked->Report();
    if (!PrintResult(kChatCommand, (shown ? "" : ShownTexts(report, "")) +
                                       RunToText(report, flags.detail) + "\n")) {
      return kExitOutput;
    }
    if (asked->exit_code == kExitInterrupted) {
      history.pop_back();  // the turn may be given again
      continue;
    }
    KeepInLog(flags, *asked);
    history.push_back({"assistant", asked->Reply()});
  }
  return kExitOk;
}

}  // namespace

int ChatCommand(int argc, const char* const* argv) {
  RunFlags flags;
  if (const std::optional<int> done = ParseChatFlags(argc, argv, &flags)) {
    return *done;
  }
  return Chat(flags);
}

}  // namespace hyper::app
