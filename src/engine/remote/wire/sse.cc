#include "src/engine/remote/wire/sse.h"

#include <algorithm>
#include <utility>

namespace hyper::remote {

namespace {

// Place of the first CR or LF; npos: none. A search for one character goes by vectors, one for
// either of two byte by byte.
size_t LineEnd(std::string_view bytes) {
  const size_t line_feed = bytes.find('\n');
  const size_t carriage_return = bytes.substr(0, line_feed).find('\r');
  return std::min(line_feed, carriage_return);
}

}  // namespace

bool SseParser::Feed(std::string_view bytes, std::vector<Event>& events) {
  while (!bytes.empty() && !broken_) {
    if (after_cr_ && bytes[0] == '\n') {  // the second half of CR LF
      bytes.remove_prefix(1);
      after_cr_ = false;
      continue;
    }
    after_cr_ = false;
    const size_t end = LineEnd(bytes);
    line_.append(bytes.substr(0, end));
    if (line_.size() + event_.data.size() > limit_) {
      broken_ = true;
    } else if (end == std::string_view::npos) {
      return true;
    } else {
      after_cr_ = bytes[end] == '\r';
      bytes.remove_prefix(end + 1);
      EndLine(events);
    }
  }
  return !broken_;
}

void SseParser::Finish(std::vector<Event>& events) {
  if (!line_.empty()) {
    EndLine(events);
  }
  Dispatch(events);
}

void SseParser::EndLine(std::vector<Event>& events) {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) {
    line.remove_prefix(3);
  }
  if (line.empty()) {
    Dispatch(events);
  } else if (line[0] != ':') {
    const size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) {
      value.remove_prefix(1);
    }
    if (field == "data" || field == "error") {  // older llama-servers send errors as "error: {...}"
      if (std::exchange(has_data_, true)) {
        event_.data += '\n';
      }
      event_.data += value;
    }
    if (field == "event") {
      event_.name = value;
    } else if (field == "error") {
      event_.name = field;
    }
  }
  line_.clear();
}

void SseParser::Dispatch(std::vector<Event>& events) {
  if (has_data_) {
    events.push_back(std::move(event_));
  }
  event_ = {};
  has_data_ = false;
}

}  // namespace hyper::remote
