#include "src/engine/remote/probe/continuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "src/base/utf8.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/json_call.h"
#include "src/engine/remote/wire/request.h"

namespace hyper::remote {
namespace {

constexpr const char* kQuestion = R"([{"role":"user","content":"What is 7*8? Explain."}])";
constexpr int kSampleTokens = 24;

// A greedy answer, or a part of one.
struct Answer {
  bool ok = false;
  std::string error;
  Chunk chunk;
};

// What a server wrote, cut in two.
struct Cut {
  std::string before;
  ChunkToken next;     // the first token behind the cut
  std::string behind;  // all text behind it
};

class PrefillTest {
 public:
  PrefillTest(base::HttpLoop& loop, std::string url, const Abilities& can,
              const std::string& arguments)
      : loop_(loop), url_(std::move(url)), can_(can) {
    chat_.messages = kQuestion;
    chat_.arguments = arguments;
  }

  Result<Continuation> Run();

 private:
  Answer Ask(const std::string& prefix, int max_tokens);
  bool Continues(const Cut& cut);
  bool KeepsReasoning();

  base::HttpLoop& loop_;
  std::string url_;
  const Abilities& can_;
  ChatPrompt chat_;
  std::string last_error_;
};

Answer PrefillTest::Ask(const std::string& prefix, int max_tokens) {
  CompletionRequest request;
  request.chat = &chat_;
  request.text = prefix;
  request.sampler.temperature = 0;
  request.top_count = can_.top_logprobs;
  request.max_tokens = max_tokens;
  request.seed = 1;
  request.stream = false;
  const JsonAnswer raw =
      PostJson(loop_, url_, WireJson::parse(CompletionBody(request, can_)), kChatSeconds);
  Answer answer;
  answer.ok =
      raw.ok() && ChunkParser().Parse(raw.text, answer.chunk) && answer.chunk.error.message.empty();
  if (!answer.ok) {
    answer.error = raw.error_words;
  }
  return answer;
}

std::string TextOf(const Chunk& chunk, size_t first, size_t last) {
  std::string text;
  for (size_t i = first; i < last; ++i) {
    text += chunk.tokens[i].bytes;
  }
  return text;
}

// Cuts an answer where its next token is least sure: there another prompt would show most.
Cut CutAnswer(const Chunk& chunk) {
  constexpr size_t kLeastBefore = 2;
  const size_t count = chunk.tokens.size();
  if (count <= kLeastBefore) {  // without log-probabilities the text comes as one piece
    const std::string text = TextOf(chunk, 0, count);
    size_t half = text.size() / 2;
    half -= base::IncompleteTail(text.substr(0, half));
    return {text.substr(0, half), {}, text.substr(half)};
  }
  size_t at = kLeastBefore;
  for (size_t i = kLeastBefore; i < count; ++i) {
    const ChunkToken& token = chunk.tokens[i];
    const bool whole = base::IncompleteTail(TextOf(chunk, 0, i)) == 0 && !token.bytes.empty();
    at = whole && token.logprob < chunk.tokens[at].logprob ? i : at;
  }
  return {TextOf(chunk, 0, at), chunk.tokens[at], TextOf(chunk, at, count)};
}

// Whether two lists can come from one distribution, computed in batches of another shape.
bool SameLists(const ChunkToken& one, const ChunkToken& other) {
  constexpr float kLikely = -4;
  constexpr float kSame = 0.3F;
  bool any = false;
  for (const ChunkAlternative& entry : one.top) {
    const auto same = std::find_if(
        other.top.begin(), other.top.end(),
        [&entry](const ChunkAlternative& candidate) { return candidate.bytes == entry.bytes; });
    if (entry.logprob < kLikely) {
      continue;
    }
    any = true;
    if (same == other.top.end() || std::abs(same->logprob - entry.logprob) > kSame) {
      return false;
    }
  }
  return any;
}

bool PrefillTest::Continues(const Cut& cut) {
  constexpr int kTokens = 4;
  const Answer answer = Ask(cut.before, kTokens);
  if (!answer.ok) {
    last_error_ = answer.error;
    return false;
  }
  if (answer.chunk.tokens.empty()) {
    return false;
  }
  if (!cut.next.top.empty()) {
    return SameLists(cut.next, answer.chunk.tokens[0]);
  }
  const std::string text = TextOf(answer.chunk, 0, answer.chunk.tokens.size());
  return !text.empty() && cut.behind.starts_with(text.substr(0, cut.behind.size()));
}

// Some templates leave the reasoning of an assistant's message out: the prompt is too short then.
bool PrefillTest::KeepsReasoning() {
  constexpr int kFewest = 8;
  const std::string shorter = "one\n</think>\n\nSo";
  const std::string longer = "one two three four five six seven eight nine ten\n</think>\n\nSo";
  const int few = Ask(shorter, 1).chunk.prompt_tokens;
  const int many = Ask(longer, 1).chunk.prompt_tokens;
  return few < 0 || many < 0 || many - few >= kFewest;
}

Result<Continuation> PrefillTest::Run() {
  const Answer whole = Ask("", kSampleTokens);
  const Cut cut = CutAnswer(whole.chunk);
  if (!whole.ok || cut.before.empty() || cut.behind.empty()) {
    return Error{ErrorCode::kUnavailable, whole.ok ? "a chat's answer is empty" : whole.error};
  }
  for (const bool flagged : {true, false}) {
    for (const char* opener : {"", "<think>\n", "<think>"}) {
      chat_.continuation = {flagged, opener};
      if (!Continues(cut)) {
        continue;
      }
      if (!KeepsReasoning()) {
        return Error{ErrorCode::kUnsupported,
                     "its template leaves out the reasoning of a message that is continued"};
      }
      return chat_.continuation;
    }
  }
  return Error{ErrorCode::kUnsupported,
               last_error_.empty()
                   ? "it begins another turn after an assistant's message"
                   : "it refuses a chat that ends in an assistant's message (" + last_error_ + ")"};
}

}  // namespace

Result<Continuation> FindContinuation(base::HttpLoop& loop, const std::string& base,
                                      const Abilities& can, const std::string& arguments) {
  return PrefillTest(loop, base + "/chat/completions", can, arguments).Run();
}

}  // namespace hyper::remote
