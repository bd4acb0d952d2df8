// One piece of a streamed completion, whatever dialect the server speaks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/remote/wire/token_table.h"

namespace hyper::remote {

struct ChunkAlternative {
  int32_t id = kNoWireId;
  std::string bytes;
  float logprob = 0.0F;
};

// One generated token as the server described it.
struct ChunkToken {
  int32_t id = kNoWireId;
  std::string bytes;  // what it adds to the text
  std::string name;   // as the server's log-probabilities call it; names it among alternatives
  float logprob = 0.0F;
  bool has_logprob = false;
  bool reasoning = false;             // a text that the server called reasoning
  std::vector<ChunkAlternative> top;  // in the server's order
};

// An error that a server described in JSON.
struct WireError {
  int code = 0;  // HTTP status it stands for; 0 where not told
  std::string type;
  std::string message;  // empty: no error
};

struct Chunk {
  std::vector<ChunkToken> tokens;
  std::string finish_reason;  // empty: goes on
  WireError error;
  int prompt_tokens = -1;  // of the usage report; -1 where there is none
  int cached_tokens = -1;
  int completion_tokens = -1;
};

// Parser of chunks; keeps its buffers between calls. Not thread-safe.
class ChunkParser {
 public:
  ChunkParser();
  ~ChunkParser();
  ChunkParser(const ChunkParser&) = delete;
  ChunkParser& operator=(const ChunkParser&) = delete;

  // Reads the data of an event (or a whole body that is not streamed) into `chunk`. Understood are
  // completions with log-probabilities as objects (llama-server) or as parallel lists (vLLM,
  // SGLang), chat completions, and the error bodies of all of them.
  // Returns false where `json` is no JSON object.
  bool Parse(std::string_view json, Chunk& chunk);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hyper::remote
