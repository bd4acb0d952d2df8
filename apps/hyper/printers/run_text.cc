#include "apps/hyper/printers/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <variant>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/printers/path_text.h"
#include "src/report/winner.h"

namespace hyper::app {
namespace {

std::string Bytes(double bytes) {
  if (bytes >= 1024.0 * 1024.0 * 1024.0) {
    return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024.0 * 1024.0));
  }
  if (bytes >= 1024.0 * 1024.0) {
    return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
  }
  return fmt::format("{:.0f} KiB", bytes / 1024.0);
}

std::string AnswerLines(const SessionResult& result) {
  std::string text = fmt::format("answer   {}\n", result.answer ? OneLine(*result.answer) : "none");
  if (result.partial) {
    text += fmt::format("partial  {}\n", OneLine(result.partial_reason));
  }
  return text + fmt::format("votes    {}\n", AgreementText(result));
}

std::string SeedText(const RunSetup& setup) {
  return fmt::format("seed {}{}", setup.seed, setup.seed_drawn ? " (random)" : "");
}

// One row for each rule, the winner and up to three others, each with its share of the score.
std::string VoteTable(const SessionResult& result, size_t paths) {
  constexpr size_t kShown = 4;
  std::string text = fmt::format("         {} of {} paths voted; rule {}\n\nvote\n",
                                 result.voting_paths, paths, result.vote_rule);
  for (const auto& [rule, outcome] : result.votes) {
    text += fmt::format("  {} {:<20}", rule == result.vote_rule ? '*' : ' ', rule);
    for (size_t i = 0; i < std::min(outcome.scores.size(), kShown); ++i) {
      const AnswerTally& tally = outcome.scores[i];
      text += fmt::format("  {}: {:.0f} % ({} {})", OneLine(tally.answer), 100 * tally.share,
                          tally.paths, tally.paths == 1 ? "path" : "paths");
    }
    text += outcome.scores.size() > kShown
                ? fmt::format("  and {} more", outcome.scores.size() - kShown)
                : "";
    text += outcome.scores.empty() ? "  no answer" : "";
    text += outcome.tie ? "  tie" : "";
    text += outcome.clipped > 0 ? fmt::format("  {} clipped", outcome.clipped) : "";
    text += '\n';
  }
  return text;
}

std::string PathCounts(const std::vector<Path>& paths) {
  std::map<PathStatus, int> counts;
  for (const Path& path : paths) {
    ++counts[path.status];
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [status, count] : counts) {
    parts.push_back(fmt::format("{} {}", count, NameOf(status)));
  }
  return fmt::format("paths    {}: {}\n", paths.size(), fmt::join(parts, ", "));
}

// Empty where nothing was decided.
std::string ActionCounts(const std::vector<Record>& records) {
  std::array<int, kActionCount> counts{};
  int decisions = 0;
  int without_effect = 0;
  for (const Record& record : records) {
    if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      ++counts[static_cast<size_t>(decision->effect())];
      ++decisions;
      without_effect += decision->action != decision->effect() ? 1 : 0;
    }
  }
  if (decisions == 0) {
    return "";
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < kActionCount; ++i) {
    parts.push_back(fmt::format("{} {}", NameOf(static_cast<Action>(i)), counts[i]));
  }
  return fmt::format(
      "actions  {}{}\n", fmt::join(parts, ", "),
      without_effect > 0
          ? fmt::format(" (other actions that could do nothing, counted as none: {})",
                        without_effect)
          : "");
}

// Empty where the run was not stopped by its vote.
std::string StopLine(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (const auto* stop = std::get_if<StopRecord>(&record)) {
      return fmt::format("stop     {}, about {} tokens saved\n", StopText(*stop),
                         Grouped(stop->saved));
    }
  }
  return "";
}

}  // namespace

std::string Grouped(int64_t number) {
  std::string digits = fmt::format("{}", number);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string AgreementText(const SessionResult& result) {
  constexpr double kMost = 0.5;
  constexpr double kSome = 0.25;
  const auto vote = result.votes.find(result.vote_rule);
  if (!result.answer || vote == result.votes.end() || vote->second.scores.empty()) {
    return "no path gave an answer";
  }
  const int agree = vote->second.scores.front().paths;
  const int all = std::max(agree, result.voting_paths);
  if (all == 1) {
    return "one path answered";
  }
  const double share = static_cast<double>(agree) / all;
  if (share > kMost) {
    return fmt::format("{} of {} paths agree", agree, all);
  }
  return fmt::format("{} agreement: {} of {} paths ({:.0f} %)", share > kSome ? "little" : "no",
                     agree, all, 100 * share);
}

std::string RunToText(const RunReport& report, Detail detail) {
  const SessionResult result = report.session.Result();
  if (detail == Detail::kAnswer) {
    return (result.answer ? PlainText(*result.answer) : "") + "\n";
  }
  const Ledger& ledger = result.ledger;
  const std::vector<Path>& paths = report.session.pool().paths();
  const RunSetup& setup = report.setup;
  std::string text = AnswerLines(result);
  if (detail == Detail::kResult) {
    return text + StopLine(report.records) +
           fmt::format("cost     {} tokens in {} paths; {}; -v shows more\n",
                       Grouped(ledger.effective()), paths.size(), SeedText(setup));
  }
  text += VoteTable(result, paths.size()) + "\n";
  text += PathCounts(paths) + ActionCounts(report.records) + StopLine(report.records);
  text += fmt::format(
      "cost     {} tokens generated, {} effective ({} refined), {} one after another; prompt {}; "
      "lanes {} opened, "
      "{} at most, {:.1f} on average; KV cache {}\n",
      Grouped(ledger.generated), Grouped(ledger.effective()), Grouped(ledger.refined),
      Grouped(ledger.positions), Grouped(ledger.prefilled), ledger.lanes_opened, ledger.lanes_peak,
      ledger.mean_lanes(), Bytes(ledger.cells_peak_bytes()));
  return text + fmt::format("run      {} on {}, preset {}, {}, {}\n", setup.method,
                            OneLine(setup.model.name), setup.preset, setup.determinism,
                            SeedText(setup));
}

std::string ShownTexts(const RunReport& report, const std::string& show) {
  const SessionResult result = report.session.Result();
  const std::vector<Path>& paths = report.session.pool().paths();
  const auto text_of = [&report](const Path* path, bool whole) {
    return path == nullptr ? "" : PathText(path->text, report.setup.prompt, whole);
  };
  const auto titled = [&text_of](const Path* path) {
    return path == nullptr
               ? std::string()
               : fmt::format("path {} ({}), answer {}:\n{}\n", path->id, NameOf(path->status),
                             path->answer.empty() ? "none" : OneLine(path->answer),
                             text_of(path, /*whole=*/true));
  };
  if (show.empty()) {
    const std::string text = text_of(WinningPath(paths, result.answer), /*whole=*/false);
    return text + (text.empty() ? "" : "\n");
  }
  if (show == "winner") {
    return titled(WinningPath(paths, result.answer));
  }
  if (show != "losers") {
    const auto path = std::find_if(paths.begin(), paths.end(), [&show](const Path& one) {
      return fmt::format("{}", one.id) == show;
    });
    return path == paths.end() ? "" : titled(&*path);
  }
  std::string text;
  const auto vote = result.votes.find(result.vote_rule);
  if (vote != result.votes.end()) {
    for (const AnswerTally& tally : vote->second.scores) {
      text += tally.answer != result.answer ? titled(WinningPath(paths, tally.answer)) : "";
    }
  }
  return text;
}

std::string TimeLine(const RunReport& report, Detail detail) {
  const Ledger& ledger = report.session.pool().ledger();
  const double wall = std::max(report.decode_s, 1e-9);
  std::string text =
      fmt::format("time     {:.1f} s after {:.1f} s of loading; {:.0f} tokens/s", report.decode_s,
                  report.load_s, static_cast<double>(ledger.generated) / wall);
  if (detail != Detail::kAll) {
    return text;
  }
  const double rest =
      std::max(0.0, wall - ledger.engine_s - ledger.sampler_s - ledger.statistics_s);
  return text +
         fmt::format("; engine {:.0f} %, sampler {:.0f} %, statistics {:.0f} %, rest {:.0f} %",
                     100 * ledger.engine_s / wall, 100 * ledger.sampler_s / wall,
                     100 * ledger.statistics_s / wall, 100 * rest / wall);
}

std::string FinishLine(const FinishRecord& record) {
  return fmt::format("path {:>3}  {:<10} {:>5} tokens  confidence {:>5} lowest {:>5}  {}{}",
                     record.path, NameOf(record.status), record.tokens,
                     ShortNumber(record.confidence), ShortNumber(record.lowest_window),
                     record.answer.empty() ? "no answer" : OneLine(record.answer),
                     record.tentative ? " (tentative)" : "");
}

std::string ActionText(const DecisionRecord& record) {
  const char* name = NameOf(record.effect());
  return record.acted ? fmt::format("{} x{}", name, record.expansion) : name;
}

std::string DecisionLine(const DecisionRecord& record) {
  return fmt::format("decision {} at token {}: {}, {} lanes, confidence {} diversity {}{}",
                     record.step, record.position, ActionText(record), record.lanes_after,
                     ShortNumber(record.raw.confidence), ShortNumber(record.raw.diversity),
                     record.note.empty() ? "" : "; " + OneLine(record.note));
}

}  // namespace hyper::app
