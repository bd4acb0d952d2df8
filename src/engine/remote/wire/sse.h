// Server-sent events out of a byte stream that may be cut anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hyper::remote {

// Incremental parser of text/event-stream: lines end in LF, CR LF or CR; comments are skipped; the
// data lines of an event are joined by LF; a byte order mark at the start is skipped.
class SseParser {
 public:
  // One event: its name ("" or "message" for most) and its data.
  struct Event {
    std::string name;
    std::string data;
  };

  // `limit` bytes that one event may have; a longer one is an error of the server.
  explicit SseParser(size_t limit = size_t{16} << 20U) : limit_(limit) {}

  // Takes the next bytes and appends the events that they complete.
  // Returns false where an event is longer than the limit; nothing more is taken then.
  bool Feed(std::string_view bytes, std::vector<Event>& events);
  // The stream ended: an event without its final blank line counts too.
  void Finish(std::vector<Event>& events);

 private:
  void EndLine(std::vector<Event>& events);
  void Dispatch(std::vector<Event>& events);

  size_t limit_;
  std::string line_;
  Event event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
  bool broken_ = false;
};

}  // namespace hyper::remote
