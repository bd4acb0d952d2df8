#include "src/decode/methods/judge_reward.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

namespace hyper {
namespace {

constexpr std::string_view kScoreRequest =
    "Judge the solution steps below, which may be unfinished. Think about whether each step is "
    "correct and leads to the answer of the question. End with a line \"Score: s\", s being a "
    "number from 0 (wrong or useless) to 1 (surely right).\n\nQuestion:\n";
constexpr std::string_view kWordsRequest =
    "Judge whether the solution steps below, which may be unfinished, can lead to the right answer "
    "of the question. End with a line that is one word: sure, likely or impossible.\n\nQuestion:\n";

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

// A number that begins at `at`, and where it ends.
struct Number {
  double value = 0;
  size_t end = 0;
};
std::optional<Number> NumberAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && (IsDigit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                      IsDigit(text[end + 1])))) {
    ++end;
  }
  Number number{0, end};
  const auto read = std::from_chars(text.data() + at, text.data() + end, number.value);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// The number at `at` as a value in [0, 1].
std::optional<double> ValueAt(std::string_view text, size_t at) {
  const std::optional<Number> number = NumberAt(text, at);
  if (!number || (at > 0 && text[at - 1] == '-')) {
    return std::nullopt;
  }
  double value = number->value;
  const std::string_view rest = text.substr(number->end);
  if (rest.substr(0, 1) == "%" || rest.substr(0, 4) == "/100") {
    value /= 100;
  } else if (rest.substr(0, 3) == "/10") {
    value /= 10;
  }
  return value <= 1 ? std::optional(value) : std::nullopt;
}

// Start of the last number, "/10" and the like left out; npos where there is none.
size_t LastNumber(std::string_view text) {
  for (size_t at = text.size(); at-- > 0;) {
    const bool starts =
        IsDigit(text[at]) &&
        (at == 0 || (!IsDigit(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '/'));
    if (starts) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::optional<double> ReadScore(std::string_view lower) {
  const size_t word = lower.rfind("score");
  if (word != std::string_view::npos) {
    const size_t at = lower.find_first_of("0123456789", word);
    if (at != std::string_view::npos) {
      return ValueAt(lower, at);
    }
  }
  const size_t last = LastNumber(lower);
  return last == std::string_view::npos ? std::nullopt : ValueAt(lower, last);
}

// Start of the last occurrence of `word` that is a word of its own; npos where there is none.
size_t LastWord(std::string_view lower, std::string_view word) {
  size_t at = lower.rfind(word);
  while (at != std::string_view::npos) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsLetter(lower[at - 1])) && (end == lower.size() || !IsLetter(lower[end]))) {
      return at;
    }
    at = at == 0 ? std::string_view::npos : lower.rfind(word, at - 1);
  }
  return at;
}

std::optional<double> ReadWord(std::string_view lower) {
  std::optional<double> value;
  size_t latest = 0;
  for (const auto& [word, worth] :
       {std::pair<std::string_view, double>("sure", 20), {"likely", 1}, {"impossible", 0.001}}) {
    const size_t at = LastWord(lower, word);
    if (at != std::string_view::npos && (!value || at > latest)) {
      value = worth / 20;
      latest = at;
    }
  }
  return value;
}

}  // namespace

std::optional<double> ReadVerdict(std::string_view reply, JudgeScale scale) {
  const std::string lower = LowerCase(reply);
  return scale == JudgeScale::kScore ? ReadScore(lower) : ReadWord(lower);
}

JudgeReward::JudgeReward(const MethodOptions& options, JudgeScale scale)
    : calls_(options.tree.judge_calls > 0 ? options.tree.judge_calls
                                          : (scale == JudgeScale::kWords ? 3 : 1)),
      tokens_(options.tree.judge_tokens),
      scale_(scale) {}

Status JudgeReward::Ask(Pool& pool) {
  replies_.assign(steps().size(), {});
  next_ = 0;
  return OpenMore(pool);
}

Status JudgeReward::OnSettled(Pool& pool) {
  Collect(pool);
  return OpenMore(pool);
}

Result<std::vector<Token>> JudgeReward::PromptFor(Pool& pool, const StepSpan& step) const {
  ChatMessage message;
  message.role = "user";
  message.content = scale_ == JudgeScale::kScore ? kScoreRequest : kWordsRequest;
  message.content += QuestionOf(pool) + "\n\nSolution steps:\n";
  message.content += TextBetween(pool, step.path, 0, step.end);
  Result<Prompt> prompt = pool.engine().RenderChat(std::span(&message, 1), {});
  return prompt ? Result<std::vector<Token>>(prompt->tokens) : prompt.error();
}

// Opens judges while there is room for their prompts and replies; one at least, or the search would
// stand still.
Status JudgeReward::OpenMore(Pool& pool) {
  const auto calls = static_cast<size_t>(calls_);
  while (next_ < steps().size() * calls) {
    const size_t step = next_ / calls;
    Result<std::vector<Token>> prompt = PromptFor(pool, steps()[step]);
    if (!prompt) {
      return prompt.error();
    }
    const int needed = static_cast<int>(prompt->size()) + tokens_;
    if (!judging_.empty() && pool.FreeLanes(needed) < 1) {
      break;
    }
    Result<PathId> judge = pool.OpenJudge(*prompt, opened_);
    if (!judge && !judging_.empty()) {
      break;
    }
    ++next_;
    ++opened_;
    if (!judge) {
      pool.Emit(NoticeRecord{"a step got no judge: " + judge.error().message});
      Count(step, /*replied=*/false, std::nullopt);
      continue;
    }
    judging_[*judge] = step;
    Status status = pool.Grant(*judge, tokens_);
    if (!status) {
      return status;
    }
  }
  return {};
}

void JudgeReward::Collect(Pool& pool) {
  const int limit = std::min(tokens_, pool.options().max_tokens);
  for (const auto& [judge, step] : judging_) {
    pool.Finish(judge, PathStatus::kLength, "judge-tokens are used up");
    const Path& path = pool.path(judge);
    const bool finished = path.status == PathStatus::kFinished;
    const bool readable = finished || path.status == PathStatus::kLength;
    const std::optional<double> verdict =
        readable ? ReadVerdict(path.text, scale_) : std::optional<double>();
    // One that was cut short, such as by a lack of cells, has not said that it cannot recommend.
    const bool replied = finished || verdict || path.length() >= limit;
    if (!replied) {
      pool.Emit(NoticeRecord{"a step lost a judge: " + path.reason});
    }
    Count(step, replied, verdict);
  }
  judging_.clear();
}

void JudgeReward::Count(size_t step, bool replied, std::optional<double> verdict) {
  Replies& replies = replies_[step];
  replies.any |= replied;
  if (verdict) {
    replies.verdicts.push_back(*verdict);
  }
  if (++replies.counted < calls_) {
    return;
  }
  const std::vector<double>& read = replies.verdicts;
  if (read.empty()) {
    Set(step, replies.any ? 0.0 : Path::kUnknown);
  } else {
    Set(step, std::accumulate(read.begin(), read.end(), 0.0) / static_cast<double>(read.size()));
  }
}

}  // namespace hyper
