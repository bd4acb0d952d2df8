#include "src/decode/methods/prober.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "hyper/equal.h"

namespace hyper {
namespace {

constexpr std::string_view kReasoningEnd = "</think>";

// Whether the reply to `asked` is complete: all braces are closed that it and the question opened,
// or its first line has ended.
bool IsWholeReply(std::string_view asked, std::string_view reply) {
  if (reply.find('\n') != std::string_view::npos) {
    return true;
  }
  int open = static_cast<int>(std::count(asked.begin(), asked.end(), '{')) -
             static_cast<int>(std::count(asked.begin(), asked.end(), '}'));
  bool closed = false;
  for (const char byte : reply) {
    open += byte == '{' ? 1 : byte == '}' ? -1 : 0;
    closed |= byte == '}' && open <= 0;
  }
  return closed;
}

// What is appended: the end of the reasoning where the path is still within it, then the text.
std::string QuestionFor(const Pool& pool, const Path& path, const std::string& text) {
  const bool opened = pool.prompt().reasoning_opened || path.text.find("<think>") == 0;
  const bool within = opened && path.text.find(kReasoningEnd) == std::string::npos;
  return (within ? "\n" + std::string(kReasoningEnd) : std::string()) + "\n\n" + text;
}

}  // namespace

std::vector<int> GroupReplies(const std::vector<std::string>& answers) {
  std::vector<std::string> given;
  std::copy_if(answers.begin(), answers.end(), std::back_inserter(given),
               [](const std::string& answer) { return !answer.empty(); });
  const std::vector<int> groups = GroupAnswers(given);
  std::vector<int> numbers;
  numbers.reserve(answers.size());
  size_t next = 0;
  for (const std::string& answer : answers) {
    numbers.push_back(answer.empty() ? -1 : groups[next++]);
  }
  return numbers;
}

int Prober::Since(const Path& path) const {
  const auto id = static_cast<size_t>(path.id);
  return path.length() - (id < asked_at_.size() ? asked_at_[id] : 0);
}

void Prober::Note(const Path& path) {
  const auto id = static_cast<size_t>(path.id);
  asked_at_.resize(std::max(asked_at_.size(), id + 1));
  asked_at_[id] = path.length();
}

int Prober::Left(const Pool& pool) const {
  int left = std::numeric_limits<int>::max();
  for (const PathId id : pool.running()) {
    if (options_.probe && pool.path(id).kind == PathKind::kReasoning) {
      left = std::min(left, std::max(1, options_.probe_interval - Since(pool.path(id))));
    }
  }
  return left;
}

void Prober::OnToken(Pool& pool, PathId id) const {
  const Path& path = pool.path(id);
  if (path.kind != PathKind::kProbe || !path.running()) {
    return;
  }
  std::string reply;
  for (size_t at = path.tokens.size(); path.route_counts[at - 1] > 0; --at) {  // not given ones
    reply.insert(0, pool.engine().TokenText(path.tokens[at - 1]));
  }
  if (IsWholeReply(options_.probe_text, reply)) {
    pool.Finish(id, PathStatus::kFinished, "the answer is complete");
  }
}

Status Prober::Ask(Pool& pool, PathId id) {
  const Result<std::vector<Token>> question = pool.engine().Tokenize(
      QuestionFor(pool, pool.path(id), options_.probe_text), /*parse_special=*/true);
  if (!question) {
    return question.error();
  }
  const Result<PathId> probe = pool.Probe(id, *question, options_.probe_tokens);
  if (probe && pool.path(*probe).granted == 0) {
    pool.Finish(*probe, PathStatus::kCancelled, "max-tokens leaves no room");
  }
  const bool lacking = !probe && (probe.error().code == ErrorCode::kResourceExhausted ||
                                  probe.error().code == ErrorCode::kInvalidArgument);
  return probe || lacking ? Status() : Status(probe.error());
}

Result<Prober::Step> Prober::OnSettled(Pool& pool) {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    if (pool.path(id).kind == PathKind::kProbe) {
      pool.Finish(id, PathStatus::kLength, "probe-tokens " + std::to_string(options_.probe_tokens));
    }
  }
  // A line of room for the question besides the reply.
  constexpr int kQuestionTokens = 16;
  int free = options_.probe ? pool.FreeLanes(kQuestionTokens + options_.probe_tokens) : 0;
  const bool any = free > 0;
  for (const PathId id : ids) {
    const Path& path = pool.path(id);
    if (!options_.probe || path.kind != PathKind::kReasoning ||
        Since(path) < options_.probe_interval) {
      continue;
    }
    if (any && free-- == 0) {
      break;
    }
    Note(path);
    if (Status status = any ? Ask(pool, id) : Status(); !status) {
      return status.error();
    }
    asked_ |= any;
  }
  if (!pool.settled()) {
    return Step::kAsking;
  }
  return std::exchange(asked_, false) ? Step::kAnswered : Step::kNone;
}

void Prober::Cancel(Pool& pool) const {
  const std::vector<PathId> ids = pool.running();
  for (const PathId id : ids) {
    if (pool.path(id).kind == PathKind::kProbe) {
      pool.Finish(id, PathStatus::kCancelled, "KV cells ran short");
    }
  }
}

}  // namespace hyper
