// What a server streams, on any bytes and in pieces of any size: the same events come out, and no
// number that is none reaches a statistic.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "src/engine/remote/wire/chunk.h"
#include "src/engine/remote/wire/sse.h"

namespace {

using hyper::fuzz::Require;
using hyper::remote::Chunk;
using hyper::remote::ChunkParser;
using hyper::remote::SseParser;

std::vector<SseParser::Event> EventsOf(std::string_view bytes, size_t piece) {
  SseParser parser(/*limit=*/4096);
  std::vector<SseParser::Event> events;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!parser.Feed(bytes.substr(at, piece), events)) {
      return events;
    }
  }
  parser.Finish(events);
  return events;
}

void CheckChunk(const Chunk& chunk) {
  for (const hyper::remote::ChunkToken& token : chunk.tokens) {
    Require(!token.has_logprob || std::isfinite(token.logprob));
    for (const hyper::remote::ChunkAlternative& other : token.top) {
      Require(std::isfinite(other.logprob));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::vector<char> copy(data + 1, data + size);
  const std::string_view bytes(copy.data(), copy.size());
  const std::vector<SseParser::Event> whole = EventsOf(bytes, bytes.size() + 1);
  const std::vector<SseParser::Event> pieces = EventsOf(bytes, 1 + data[0] % 16);
  Require(whole.size() == pieces.size());
  ChunkParser parser;
  Chunk chunk;
  for (size_t i = 0; i < whole.size(); ++i) {
    Require(whole[i].name == pieces[i].name && whole[i].data == pieces[i].data);
    if (parser.Parse(whole[i].data, chunk)) {
      CheckChunk(chunk);
    }
  }
  if (parser.Parse(bytes, chunk)) {
    CheckChunk(chunk);
  }
  return 0;
}
