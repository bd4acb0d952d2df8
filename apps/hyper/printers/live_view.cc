#include "apps/hyper/printers/live_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "apps/hyper/command.h"
#include "apps/hyper/printers/run_text.h"
#include "apps/hyper/printers/screen_line.h"
#include "apps/hyper/terminal.h"

namespace hyper::app {
namespace {

constexpr size_t kMostEvents = 64;
constexpr size_t kMostCurve = 128;   // values of a path's curve
constexpr size_t kTextBytes = 1024;  // of a path's end that a row may show

std::string WarmupText(const WarmupRecord& record) {
  return record.has_threshold
             ? fmt::format("warm-up done: paths below confidence {:.2f} are pruned from now on",
                           record.threshold)
             : "warm-up done: nothing is pruned";
}

// Halves the values of a curve that has become long.
void Thin(std::vector<float>& curve, int& stride) {
  if (curve.size() < kMostCurve) {
    return;
  }
  for (size_t i = 0; i < curve.size() / 2; ++i) {
    curve[i] = curve[2 * i + 1];
  }
  curve.resize(curve.size() / 2);
  stride *= 2;
}

// A line of the screen, in place of the one before.
void ShowPhase(const std::string& text) {
  Tell("\r\x1b[K" + std::string(FirstColumns(OneLine(text), ScreenNow().columns - 1)));
}

}  // namespace

SlowNote::SlowNote(std::string text, bool on_screen)
    : text_(std::move(text)), on_screen_(on_screen), thread_([this] { Loop(); }) {}

SlowNote::~SlowNote() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SlowNote::Loop() {
  std::unique_lock lock(mutex_);
  std::chrono::seconds wait(1);
  for (int seconds = 1; !changed_.wait_for(lock, wait, [this] { return over_; }); ++seconds) {
    if (on_screen_) {
      ShowPhase(fmt::format("{}, {} s", text_, seconds));
    } else {
      Tell(text_ + "\n");
      wait = std::chrono::seconds(10);
    }
  }
}

LiveMode LiveModeOf(LiveWhen when, bool for_programs) {
  if (when == LiveWhen::kNever) {
    return LiveMode::kOff;
  }
  if (IsScreen()) {
    return LiveMode::kScreen;
  }
  if (when == LiveWhen::kAlways) {
    return LiveMode::kLines;
  }
  return for_programs ? LiveMode::kHeartbeats : LiveMode::kBeats;
}

void LiveView::Start(const std::string& title, double limit_s) {
  state_ = {};
  samplings_.clear();
  idle_decisions_ = 0;
  short_ = false;
  counted_ = 0;
  state_.title = title;
  state_.limit_s = limit_s;
  state_.phase = "start";
  start_ = Clock::now();
  last_draw_ = start_;
}

void LiveView::Tell(const std::string& line) {
  if (mode_ == LiveMode::kLines) {
    app::Tell(line + "\n");
  }
}

void LiveView::AddEvent(const std::string& text) {
  state_.events.push_back(text);
  if (state_.events.size() > kMostEvents) {
    state_.events.erase(state_.events.begin());
  }
}

void LiveView::OnDecision(const DecisionRecord& decision) {
  Tell(DecisionLine(decision));
  const bool idle = decision.effect() == Action::kNone;
  idle_decisions_ = idle ? idle_decisions_ + 1 : 0;
  const std::string text =
      fmt::format("token {}: {}{}, {} lanes, diversity {}", decision.position, ActionText(decision),
                  idle_decisions_ > 1 ? fmt::format(" ({} times)", idle_decisions_) : "",
                  decision.lanes_after, ShortNumber(decision.raw.diversity));
  if (idle_decisions_ > 1 && !state_.events.empty()) {
    state_.events.back() = text;
  } else {
    AddEvent(text);
  }
}

void LiveView::OnRecord(const Record& record) {
  if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
    OnDecision(*decision);
    return;
  }
  std::string event;
  if (const auto* finish = std::get_if<FinishRecord>(&record)) {
    Tell(FinishLine(*finish));
    if (finish->status != PathStatus::kFinished && finish->status != PathStatus::kMerged) {
      event = fmt::format("path {} {}: {}", finish->path, NameOf(finish->status), finish->reason);
    }
  } else if (const auto* stop = std::get_if<StopRecord>(&record)) {
    event = StopText(*stop);
    Tell(event);
  } else if (const auto* warmup = std::get_if<WarmupRecord>(&record)) {
    event = WarmupText(*warmup);
    Tell(event);
    if (mode_ == LiveMode::kBeats) {
      app::Tell(event + "\n");
    }
  } else if (const auto* notice = std::get_if<NoticeRecord>(&record)) {
    event = notice->text;
  } else if (const auto* shortage = std::get_if<ShortageRecord>(&record)) {
    event = ShortageText(*shortage);
    if (mode_ == LiveMode::kBeats && !short_) {  // the result says how often
      app::Tell(event + "\n");
    }
    short_ = true;
  }
  if (!event.empty()) {
    idle_decisions_ = 0;
    AddEvent(event);
  }
}

// Brings the state up to the session.
void LiveView::Observe(const Session& session) {
  const Pool& pool = session.pool();
  const MethodOptions& options = pool.options();
  state_.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
  state_.tokens = pool.ledger().generated;
  state_.threshold = pool.threshold();
  size_t ended = 0;
  bool pool_open = false;
  bool warmed = false;
  state_.paths.resize(pool.paths().size());
  samplings_.resize(pool.paths().size());
  for (size_t i = 0; i < state_.paths.size(); ++i) {
    const Path& path = pool.paths()[i];
    LivePath& live = state_.paths[i];
    pool_open = pool_open || !path.warmup;
    warmed = warmed || path.warmup;
    ended += path.running() ? 0 : 1;
    if (path.length() >= samplings_[i].next && std::isfinite(path.window_mean)) {
      live.curve.push_back(static_cast<float>(path.window_mean));
      Thin(live.curve, samplings_[i].stride);
      samplings_[i].next = path.length() + samplings_[i].stride;
    }
    live.id = path.id;
    live.status = path.status;
    live.tokens = path.length();
    live.confidence = path.window_mean;
    live.text = path.text.substr(path.text.size() - std::min(path.text.size(), kTextBytes));
    live.answer = path.answer;
  }
  state_.phase = pool_open ? "pool" : "warm-up";
  state_.max_tokens = options.max_tokens;
  state_.expected_paths = PoolWidth(options) + (warmed ? WarmupCount(options) : 0);
  if (ended > counted_) {
    counted_ = ended;
    const SessionResult result = session.Result();
    state_.answers.clear();
    const auto vote = result.votes.find(result.vote_rule);
    if (vote != result.votes.end()) {
      for (const AnswerTally& tally : vote->second.scores) {
        state_.answers.push_back({tally.answer, tally.share, tally.paths});
      }
    }
  }
}

void LiveView::Draw(const Session& session) {
  constexpr auto kFrame = std::chrono::milliseconds(100);
  constexpr auto kBeat = std::chrono::seconds(10);
  if (mode_ == LiveMode::kLines || mode_ == LiveMode::kOff) {
    return;
  }
  const auto now = Clock::now();
  const bool first = state_.paths.empty();
  if (mode_ == LiveMode::kScreen) {
    if (first || now - last_draw_ >= kFrame) {
      last_draw_ = now;
      Observe(session);
      ShowFrame(LiveFrame(state_, ScreenNow()));
    }
    return;
  }
  if (first && !session.pool().paths().empty() && mode_ == LiveMode::kBeats) {
    Observe(session);
    app::Tell(fmt::format("{}: {} paths\n", state_.phase, state_.paths.size()));
  }
  if (now - last_draw_ >= kBeat) {
    last_draw_ = now;
    Observe(session);
    app::Tell(LiveLine(state_) + "\n");
  }
}

void LiveView::Phase(const std::string& text) {
  slow_ = nullptr;
  phase_shown_ = mode_ == LiveMode::kScreen;
  if (phase_shown_) {
    ShowPhase(text);
  }
  if (mode_ != LiveMode::kOff) {
    slow_ = std::make_unique<SlowNote>(OneLine(text), phase_shown_);
  }
}

void LiveView::Estimate(const std::string& text) {
  if (estimate_.empty() || (text != estimate_ && !IsScreen())) {
    app::Tell(text + "\n");
  }
  estimate_ = text;
}

void LiveView::Clear() {
  slow_ = nullptr;
  LeaveScreen();
  if (phase_shown_) {
    phase_shown_ = false;
    app::Tell("\r\x1b[K");
  }
}

}  // namespace hyper::app
