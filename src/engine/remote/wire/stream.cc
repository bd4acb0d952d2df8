#include "src/engine/remote/wire/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/base/http/fetch.h"
#include "src/base/http/url.h"
#include "src/base/utf8.h"

namespace hyper::remote {
namespace {

constexpr size_t kMostWords = 400;                    // of a server's message that are repeated
constexpr size_t kMostErrorBody = size_t{64} << 10U;  // of a refusal
constexpr size_t kMostBody = size_t{16} << 20U;       // of a whole completion

bool IsSuccess(int status) { return status >= 200 && status < 300; }

bool SaysContextFull(const WireError& error) {
  return error.type.find("context") != std::string::npos ||
         error.message.find("context length") != std::string::npos ||
         error.message.find("context size") != std::string::npos;
}

// The number in "... maximum context length is 4096 tokens ..."; 0: none.
int StatedContext(std::string_view message) {
  constexpr std::string_view kWords = "context length is ";
  const size_t at = message.find(kWords);
  if (at == std::string_view::npos) {
    return 0;
  }
  message.remove_prefix(at + kWords.size());
  message.remove_prefix(message.starts_with("only ") ? 5 : 0);
  int stated = 0;
  std::from_chars(message.data(), message.data() + message.size(), stated);
  return stated;
}

}  // namespace

void Stream::NoteChange() {
  if (!std::exchange(changed, true)) {
    changed_lanes_.push_back(lane_);
  }
}

void Stream::OnData(int status, std::string_view bytes) {
  NoteChange();
  if (!IsSuccess(status) || (!any_event_ && (!other_.empty() || bytes.starts_with('{')))) {
    const size_t most = IsSuccess(status) ? kMostBody : kMostErrorBody;
    other_ += bytes.substr(0, most - std::min(most, other_.size()));
    return;
  }
  any_event_ = true;
  if (end.kind != StreamEnd::Kind::kOpen) {
    return;
  }
  const bool fits = sse_.Feed(bytes, events_);
  for (const SseParser::Event& event : std::exchange(events_, {})) {
    OnEvent(event);
  }
  if (!fits) {
    Fail("the server sent an event without an end", /*retry=*/false);
  }
}

void Stream::OnEvent(const SseParser::Event& event) {
  if (end.kind != StreamEnd::Kind::kOpen && end.kind != StreamEnd::Kind::kStop &&
      end.kind != StreamEnd::Kind::kLength) {
    return;
  }
  if (event.data.empty()) {
    return;  // keeps a connection alive
  }
  if (event.data == "[DONE]") {
    done_marked_ = true;
    return;
  }
  Chunk chunk;
  const bool read = parser_.Parse(event.data, chunk);
  if (end.kind != StreamEnd::Kind::kOpen && (!read || !chunk.error.message.empty())) {
    return;  // the text is whole; what comes behind it changes nothing
  }
  if (read) {
    TakeChunk(chunk);
  } else if (event.name == "error") {
    FailAs({0, "", event.data}, 0, -1);
  } else {
    Fail("the server sent an event that is not JSON: " + Words(event.data), true);
  }
}

void Stream::TakeChunk(Chunk& chunk) {
  if (!chunk.error.message.empty()) {
    FailAs(chunk.error, 0, -1);
    return;
  }
  cached_tokens = chunk.cached_tokens >= 0 ? chunk.cached_tokens : cached_tokens;
  for (ChunkToken& token : chunk.tokens) {
    MarkReasoning(token);
    tokens.push_back(std::move(token));
    ++tokens_seen;
  }
  if (chunk.finish_reason == "length") {
    end.kind = StreamEnd::Kind::kLength;
  } else if (chunk.finish_reason == "error" || chunk.finish_reason == "abort") {
    Fail("the server gave up the completion (finish_reason " + chunk.finish_reason + ")", true);
  } else if (chunk.finish_reason == "content_filter") {
    Fail("the server's content filter ended the completion", /*retry=*/false);
  } else if (!chunk.finish_reason.empty()) {
    end.kind = StreamEnd::Kind::kStop;
  }
  constexpr int kSlack = 8;  // a server may count its end token apart
  if (end.kind == StreamEnd::Kind::kOpen && tokens_seen > asked_tokens + kSlack) {
    Fail(
        fmt::format("the server sent {} tokens where {} were asked for", tokens_seen, asked_tokens),
        /*retry=*/false);
  }
}

// Puts back the tags that a server takes out when it sends reasoning apart from the content: the
// lane's text must be what the model wrote. Tokens that are told have them.
void Stream::MarkReasoning(ChunkToken& token) {
  if (token.has_logprob) {
    return;
  }
  if (token.reasoning && !in_reasoning) {
    token.bytes.insert(0, "<think>\n");
  } else if (!token.reasoning && in_reasoning && splits_reasoning_) {
    token.bytes.insert(0, "\n</think>\n\n");
  }
  splits_reasoning_ = splits_reasoning_ || token.reasoning;
  in_reasoning = token.reasoning || (in_reasoning && !splits_reasoning_);
}

void Stream::OnDone(const base::TransferEnd& transfer_end) {
  NoteChange();
  transfer = 0;
  if (end.kind != StreamEnd::Kind::kOpen) {
    return;
  }
  if (transfer_end.status == 0) {
    Fail(transfer_end.failure, true);
    end.unreachable = true;
    return;
  }
  if (!IsSuccess(transfer_end.status) || !other_.empty()) {
    Chunk chunk;
    const bool read = parser_.Parse(other_, chunk);
    if (IsSuccess(transfer_end.status) && read && !chunk.tokens.empty()) {
      TakeChunk(chunk);  // the server does not stream: all at once
      if (end.kind == StreamEnd::Kind::kOpen) {
        end.kind = StreamEnd::Kind::kStop;  // nothing more will come
      }
      return;
    }
    WireError error = read ? chunk.error : WireError();
    if (error.message.empty()) {
      error.message = other_.empty() ? "no body" : other_;
    }
    FailAs(error, IsSuccess(transfer_end.status) ? 0 : transfer_end.status,
           transfer_end.retry_after_s);
    return;
  }
  sse_.Finish(events_);
  for (const SseParser::Event& event : std::exchange(events_, {})) {
    OnEvent(event);
  }
  if (end.kind == StreamEnd::Kind::kOpen && done_marked_) {
    end.kind = StreamEnd::Kind::kStop;  // some servers tell no finish_reason
  } else if (end.kind == StreamEnd::Kind::kOpen) {
    Fail(transfer_end.failure.empty() ? "the stream ended in the middle"
                                      : "the stream broke off: " + transfer_end.failure,
         true);
  }
}

// A server's words for the user. The key goes first: a cut could leave a part of it.
std::string Stream::Words(const std::string& text) const {
  std::string words = base::WithoutKey(text, api_key_);
  if (words.size() > kMostWords) {
    words.resize(kMostWords);
    words.resize(kMostWords - base::IncompleteTail(words));
  }
  return words;
}

void Stream::Fail(std::string error, bool retry) {
  end.kind = StreamEnd::Kind::kFailed;
  end.error = std::move(error);
  end.retry = retry;
}

void Stream::FailAs(const WireError& error, int status, double retry_after_s) {
  const int code = status > 0 ? status : error.code;
  std::string words = Words(error.message);
  if (status > 0) {
    words = fmt::format("HTTP {}: {}", status, words);
  } else {
    words = "the server answered with an error: " + words;
  }
  Fail(std::move(words), code == 0 || base::MayPass(code));
  end.retry_after_s = retry_after_s;
  end.context_full = SaysContextFull(error);
  end.prompt_too_long = error.type == "exceed_context_size_error";  // llama-server's
  end.context_tokens = StatedContext(error.message);
}

}  // namespace hyper::remote
