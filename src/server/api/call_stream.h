// A reply that may call functions, token by token, as what a client may be sent.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/engine.h"
#include "src/server/api/reply.h"

namespace hyper::server {

class CallStream {
 public:
  // What became certain; sent text is never taken back.
  struct Delta {
    std::string reasoning;
    std::string content;
    std::vector<CallPart> calls;
  };

  // `read`: of ReplyForm, not empty. `id`: begins the ids of all calls, which end with a number.
  CallStream(std::function<ReadReply(std::string_view, bool)> read, std::string id)
      : read_(std::move(read)), id_(std::move(id)) {}

  // Takes the bytes of one token. A long text is not read again for each of them.
  Delta Push(std::string_view bytes);
  // The text has ended.
  Delta Finish();

  // All that was given out: the deltas, joined; each call is one part.
  const ReadReply& sent() const { return sent_; }
  std::vector<CallPart> calls() const;

 private:
  Delta Look(bool whole);
  CallPart PartOf(size_t index) const;

  std::function<ReadReply(std::string_view, bool)> read_;
  std::string id_;
  std::string text_;
  size_t looked_ = 0;  // bytes of text_ that were read
  ReadReply sent_;
};

}  // namespace hyper::server
