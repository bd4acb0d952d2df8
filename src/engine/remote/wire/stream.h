// One streamed completion: bytes in, chunks out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/engine.h"
#include "src/base/http/loop.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/sse.h"

namespace hyper::remote {

// What ended a stream.
struct StreamEnd {
  enum class Kind {
    kOpen,    // it goes on
    kStop,    // the model ended its text
    kLength,  // the tokens asked for are made
    kFailed,  // see `error`; trying again may help where `retry`
  };
  Kind kind = Kind::kOpen;
  bool retry = false;
  bool unreachable = false;      // the server itself, not just this request
  bool context_full = false;     // the server says that the request does not fit
  bool prompt_too_long = false;  // already its prompt
  int context_tokens = 0;        // that the server states; 0: it does not
  double retry_after_s = -1;     // as the server asked; negative: it did not
  std::string error;
};

// Receives one transfer. After each Wait of the loop its owner takes the tokens and looks at `end`.
class Stream : public base::TransferSink {
 public:
  // Of a lane; adds it to `changed_lanes` whenever something arrives that its owner has not looked
  // at. Both must outlive the stream. `api_key` is cut out of the server's words.
  Stream(ChunkParser& parser, LaneId lane, std::vector<LaneId>& changed_lanes,
         std::string api_key = "")
      : parser_(parser), lane_(lane), changed_lanes_(changed_lanes), api_key_(std::move(api_key)) {}

  void OnData(int status, std::string_view bytes) override;
  void OnDone(const base::TransferEnd& end) override;

  base::TransferId transfer = 0;
  int replica = 0;
  int asked_tokens = 0;  // of the request
  int tokens_seen = 0;
  double last_progress = 0;  // when the request was sent or the last token came
  bool paused = false;
  bool charged = false;            // its prompt
  bool in_reasoning = false;       // the text is inside a block of reasoning
  std::vector<ChunkToken> tokens;  // arrived, not yet taken
  StreamEnd end;
  int cached_tokens = -1;  // of the prompt, where the server tells
  bool changed = false;    // something arrived since the owner looked; it sets this back

 private:
  void NoteChange();
  void OnEvent(const SseParser::Event& event);
  void TakeChunk(Chunk& chunk);
  void MarkReasoning(ChunkToken& token);
  std::string Words(const std::string& text) const;
  void Fail(std::string error, bool retry);
  void FailAs(const WireError& error, int status, double retry_after_s);

  ChunkParser& parser_;
  LaneId lane_;
  std::vector<LaneId>& changed_lanes_;
  std::string api_key_;
  SseParser sse_;
  std::vector<SseParser::Event> events_;
  std::string other_;  // a body that is no stream: an error, or a whole completion
  bool done_marked_ = false;
  bool splits_reasoning_ = false;  // the server takes the tags out
  bool any_event_ = false;
};

}  // namespace hyper::remote
