#include "apps/hyper/printers/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hyper/extract.h"
#include "src/base/utf8.h"

namespace hyper::app {
namespace {

// The last lines of a reasoning, cut to some 240 bytes, with a word on what is left out.
std::string Folded(std::string_view reasoning) {
  constexpr size_t kLines = 3;
  constexpr size_t kBytes = 240;
  size_t begin = reasoning.size();
  for (size_t line = 0; line < kLines && begin > 0 && begin != std::string_view::npos; ++line) {
    begin = reasoning.rfind('\n', begin - 1);
  }
  begin = begin == std::string_view::npos ? 0 : begin;
  if (reasoning.size() - begin > kBytes) {
    begin = reasoning.find(' ', reasoning.size() - kBytes);
    begin = begin == std::string_view::npos ? reasoning.size() - kBytes : begin;
  }
  if (begin == 0) {
    return PlainText(reasoning);
  }
  const auto words = [](std::string_view text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto space = [&text](size_t at) {
        return text[at] == ' ' || text[at] == '\n' || text[at] == '\t';
      };
      count += !space(i) && (i == 0 || space(i - 1)) ? 1 : 0;
    }
    return count;
  };
  const std::string_view left = reasoning.substr(0, begin);
  std::string_view shown = reasoning.substr(begin);
  shown.remove_prefix(std::min(shown.find_first_not_of(" \n"), shown.size()));
  return fmt::format("[{} words of reasoning before; --show winner prints them]\n{}", words(left),
                     PlainText(shown));
}

}  // namespace

std::string PlainText(std::string_view text) {
  std::string plain;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line;
    for (const char c : text.substr(0, end)) {
      line += c == '\t' ? std::string("    ") : std::string(1, c);
    }
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    plain += base::OneLine(line);
    if (end == text.size()) {
      return plain;
    }
    plain += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string PathText(std::string_view text, std::string_view prompt, bool whole) {
  const std::vector<TagPair> tags = DefaultThinkTags();
  const ReasoningSplit split = SplitReasoning(text, tags, PromptOpensReasoning(prompt, tags));
  const std::string reasoning = JoinSpans(text, split.reasoning);
  const std::string content = JoinSpans(text, split.content);
  std::string shown;
  if (!reasoning.empty()) {
    shown += (whole ? PlainText(reasoning) : Folded(reasoning)) + "\n";
  }
  if (!content.empty()) {
    shown += (shown.empty() ? "" : "\n") + PlainText(content) + "\n";
  }
  return shown;
}

std::string LeaderText::TakeOver(const Pool& pool) {
  const Path* best = nullptr;
  for (const PathId id : pool.running()) {
    const Path& path = pool.path(id);
    if (path.kind == PathKind::kReasoning && !path.tokens.empty() &&
        (best == nullptr || Sureness(path) > Sureness(*best))) {
      best = &path;
    }
  }
  if (best == nullptr) {
    return "";
  }
  std::string text;
  if (leader_ != kNoPath) {
    const Path& last = pool.path(leader_);
    text =
        fmt::format("\n[path {} was {}; path {} leads]\n", last.id, NameOf(last.status), best->id);
  }
  leader_ = best->id;
  printed_ = 0;
  return text;
}

std::string LeaderText::Next(const Pool& pool) {
  std::string text;
  const Path* path = leader_ == kNoPath ? nullptr : &pool.path(leader_);
  if (path != nullptr && path->status == PathStatus::kMerged && path->kept != kNoPath &&
      pool.path(path->kept).text.starts_with(path->text.substr(0, printed_))) {
    leader_ = path->kept;  // it goes on where the other one was
    path = &pool.path(leader_);
  }
  const bool lost = path == nullptr || (!path->running() && path->status != PathStatus::kFinished &&
                                        path->status != PathStatus::kLength);
  if (lost) {
    text = TakeOver(pool);
  }
  if (leader_ == kNoPath) {
    return text;
  }
  const Path& leader = pool.path(leader_);
  std::string_view more =
      std::string_view(leader.text).substr(std::min(printed_, leader.text.size()));
  if (leader.running()) {
    more.remove_suffix(base::IncompleteTail(more));
  }
  printed_ += more.size();
  return text + PlainText(more);
}

}  // namespace hyper::app
