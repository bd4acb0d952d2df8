#include "src/eval/grade/judge.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "src/base/http/fetch.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr std::string_view kName = "judge ";
constexpr int kUnauthorized = 401;

// The last line that says "correct: X", without quotes and marks, in small letters; X, or nothing.
std::string LastVerdict(std::string_view reply) {
  constexpr std::string_view kKey = "correct:";
  std::string verdict;
  while (!reply.empty()) {
    const size_t end = reply.find('\n');
    std::string line;
    for (const char c : reply.substr(0, end)) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == ':') {
        line += static_cast<char>(std::tolower(byte));
      }
    }
    reply.remove_prefix(end == std::string_view::npos ? reply.size() : end + 1);
    if (line.starts_with(kKey)) {
      verdict = line.substr(kKey.size());
    }
  }
  return verdict;
}

json RequestOf(const JudgeOptions& options, const std::string& prompt) {
  json request = {{"messages", {{{"role", "user"}, {"content", prompt}}}},
                  {"temperature", 0},
                  {"max_tokens", options.max_tokens},
                  {"stream", false}};
  if (!options.model.empty()) {
    request["model"] = options.model;
  }
  return request;
}

// The text of the first choice; nothing where the reply has none (content null counts as empty).
std::optional<std::string> ContentOf(const std::string& body) {
  const json reply = json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto place = json::json_pointer("/choices/0/message");
  if (!reply.is_object() || !reply.contains(place) || !reply[place].is_object()) {
    return std::nullopt;
  }
  const json& message = reply[place];
  const auto content = message.find("content");
  return content != message.end() && content->is_string() ? content->get<std::string>() : "";
}

}  // namespace

std::string JudgePrompt(const Question& question, std::string_view answer) {
  std::string prompt =
      "You grade one answer to a question. Only the reference decides; do not solve the question "
      "yourself and do not argue for another answer. The answer is correct where it means the same "
      "as the reference, rounding of a number within its last digit included.\n\n";
  prompt += "[question]\n" + question.text + "\n[end of question]\n\n";
  prompt += "[reference]\n" + question.gold + "\n[end of reference]\n\n";
  prompt += "[answer]\n" + std::string(answer) + "\n[end of answer]\n\n";
  prompt +=
      "Say in one sentence how answer and reference differ, if they do. Then end with one line, "
      "either \"correct: yes\" or \"correct: no\".";
  return prompt;
}

Judgement ReadJudgement(std::string_view reply) {
  const std::string verdict = LastVerdict(reply);
  if (verdict == "yes") {
    return {StoredVerdict::kRight, "judged"};
  }
  if (verdict == "no") {
    return {StoredVerdict::kWrong, "judged"};
  }
  constexpr size_t kShown = 80;
  return {StoredVerdict::kNotGraded,
          "the judge gave no verdict: " + std::string(reply.substr(0, kShown))};
}

Result<Judgement> AskJudge(const JudgeOptions& options, const Question& question,
                           std::string_view response) {
  constexpr double kJudgeStallSeconds = 600;
  constexpr double kJudgeConnectSeconds = 20;
  std::string url = options.url;
  while (url.ends_with('/')) {
    url.pop_back();
  }
  url += "/chat/completions";
  base::HttpLoop loop({.api_key = options.key, .connect_timeout_s = kJudgeConnectSeconds},
                      options.clock != nullptr ? *options.clock : base::SteadyClock());
  const base::HttpAnswer answer =
      FetchPatiently(loop,
                     {.url = url,
                      .post = true,
                      .body = RequestOf(options, JudgePrompt(question, response))
                                  .dump(-1, ' ', false, json::error_handler_t::replace),
                      .stall_s = kJudgeStallSeconds,
                      .follow_redirects = true},
                     base::Retries());
  if (!answer.end.failure.empty()) {
    return Error{ErrorCode::kUnavailable, url + ": " + answer.end.failure};
  }
  if (answer.end.status != 200) {
    constexpr size_t kShown = 200;
    const char* remedy =
        answer.end.status == kUnauthorized ? "; give a key in HYPER_JUDGE_KEY" : "";
    return Error{ErrorCode::kUnavailable, url + ": the judge answered with HTTP status " +
                                              std::to_string(answer.end.status) + ": " +
                                              answer.body.substr(0, kShown) + remedy};
  }
  const std::optional<std::string> content = ContentOf(answer.body);
  if (!content) {
    return Error{ErrorCode::kDataLoss, url + ": the reply is not a chat completion"};
  }
  return ReadJudgement(*content);
}

std::string JudgeName(const JudgeOptions& options) {
  return std::string(kName) + (options.model.empty() ? options.url : options.model);
}

bool IsJudge(std::string_view grader) { return grader.starts_with(kName); }

}  // namespace hyper::eval
