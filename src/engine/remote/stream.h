// One streamed completion: bytes in, chunks out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/engine.h"
#include "src/engine/remote/chunk.h"
#include "src/engine/remote/http_loop.h"
#include "src/engine/remote/sse.h"

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
  bool unreachable = false;   // the server itself, not just this request
  bool context_full = false;  // the server says that the prompt does not fit
  double retry_after_s = -1;  // as the server asked; negative: it did not
  std::string error;
};

// Receives one transfer. After each Wait of the loop its owner takes the tokens and looks at `end`.
class Stream : public TransferSink {
 public:
  // Of a lane; adds it to `changed_lanes` whenever something arrives that its owner has not looked
  // at. Both must outlive the stream.
  Stream(ChunkParser& parser, LaneId lane, std::vector<LaneId>& changed_lanes)
      : parser_(parser), lane_(lane), changed_lanes_(changed_lanes) {}

  void OnData(int status, std::string_view bytes) override;
  void OnDone(const TransferEnd& end) override;

  TransferId transfer = 0;
  int replica = 0;
  int asked_tokens = 0;  // of the request
  int tokens_seen = 0;
  double last_progress = 0;  // when the request was sent or the last token came
  bool paused = false;
  std::vector<ChunkToken> tokens;  // arrived, not yet taken
  StreamEnd end;
  int cached_tokens = -1;  // of the prompt, where the server tells
  bool changed = false;    // something arrived since the owner looked; it sets this back

 private:
  void NoteChange();
  void OnEvent(const SseParser::Event& event);
  void TakeChunk(Chunk& chunk);
  void Fail(std::string error, bool retry);
  void FailAs(const WireError& error, int status, double retry_after_s);

  ChunkParser& parser_;
  LaneId lane_;
  std::vector<LaneId>& changed_lanes_;
  SseParser sse_;
  std::vector<SseParser::Event> events_;
  std::string other_;  // a body that is no stream: an error, or a whole completion
  bool done_marked_ = false;
  bool any_event_ = false;
};

}  // namespace hyper::remote
