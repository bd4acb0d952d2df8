#include "apps/hyper/printers/live_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <variant>

#include "apps/hyper/command.h"
#include "apps/hyper/printers/run_text.h"

namespace hyper::app {
namespace {

constexpr const char* kUpAndErase = "\x1b[1A\x1b[2K";

size_t TerminalColumns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

// A block that wraps could not be taken away again, so lines are cut to the width.
std::string Cut(const std::string& line) {
  size_t columns = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
    if (starts_character && ++columns >= TerminalColumns()) {
      return line.substr(0, i);
    }
  }
  return line;
}

double MeanWindow(const Pool& pool) {
  double sum = 0;
  int known = 0;
  for (const PathId id : pool.running()) {
    const double mean = pool.path(id).window_mean;
    sum += std::isnan(mean) ? 0 : mean;
    known += std::isnan(mean) ? 0 : 1;
  }
  return known > 0 ? sum / known : 0;
}

}  // namespace

LiveMode LiveModeOf(LiveWhen when) {
  if (when != LiveWhen::kNever && isatty(STDERR_FILENO) == 1) {
    return LiveMode::kRedraw;
  }
  return when == LiveWhen::kAlways ? LiveMode::kLines : LiveMode::kOff;
}

void LiveView::OnRecord(const Record& record) {
  if (const auto* finish = std::get_if<FinishRecord>(&record)) {
    Print(FinishLine(*finish));
  } else if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
    last_decision_ = fmt::format("{} at token {}", ActionText(*decision), decision->position);
    diversity_ = decision->raw.diversity;
    if (mode_ == LiveMode::kLines) {
      Print(DecisionLine(*decision));
    }
  } else if (const auto* stop = std::get_if<StopRecord>(&record)) {
    Print(StopText(*stop));
  } else if (const auto* warmup = std::get_if<WarmupRecord>(&record)) {
    Print(warmup->has_threshold
              ? fmt::format("warm-up done: paths below confidence {:.2f} are pruned from now on",
                            warmup->threshold)
              : "warm-up done: nothing is pruned");
  }
}

void LiveView::Draw(const Pool& pool) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  if (mode_ != LiveMode::kRedraw || now - last_draw_ < kInterval) {
    return;
  }
  last_draw_ = now;
  const Ledger& ledger = pool.ledger();
  ShowBlock(fmt::format("{} running at token {}   confidence {:.2f}   diversity {:.2f}   {}",
                        pool.running().size(), pool.position(), MeanWindow(pool), diversity_,
                        last_decision_),
            fmt::format("{} tokens, {} effective   {:.1f} s", Grouped(ledger.generated),
                        Grouped(ledger.effective()),
                        std::chrono::duration<double>(now - start_).count()));
}

void LiveView::Phase(const std::string& text) {
  if (mode_ == LiveMode::kRedraw) {
    ShowBlock(OneLine(text), "");
  }
}

void LiveView::Print(const std::string& line) {
  if (mode_ != LiveMode::kOff) {
    Clear();
    Tell((mode_ == LiveMode::kRedraw ? Cut(line) : line) + "\n");
  }
}

void LiveView::ShowBlock(const std::string& first, const std::string& second) {
  Clear();
  Tell(Cut(first) + "\n");
  drawn_lines_ = 1;
  if (!second.empty()) {
    Tell(Cut(second) + "\n");
    drawn_lines_ = 2;
  }
}

void LiveView::Clear() {
  for (; drawn_lines_ > 0; --drawn_lines_) {
    Tell(kUpAndErase);
  }
}

}  // namespace hyper::app
