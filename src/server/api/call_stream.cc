#include "src/server/api/call_stream.h"

#include <utility>

#include "src/base/utf8.h"

namespace hyper::server {
namespace {

// Takes what `now` has behind `sent`, which grows by it; nothing where it does not begin with it.
std::string TakeRest(const std::string& now, std::string& sent) {
  if (!now.starts_with(sent)) {
    return "";
  }
  std::string rest = now.substr(sent.size());
  sent = now;
  return rest;
}

}  // namespace

CallPart CallStream::PartOf(size_t index) const {
  return {static_cast<int>(index), id_ + "_" + std::to_string(index), sent_.calls[index].name, ""};
}

CallStream::Delta CallStream::Push(std::string_view bytes) {
  constexpr size_t kShare = 64;  // reading each 1/64 more costs what reading some 64 times does
  text_ += bytes;
  return text_.size() - looked_ < text_.size() / kShare ? Delta() : Look(/*whole=*/false);
}

CallStream::Delta CallStream::Finish() { return Look(/*whole=*/true); }

CallStream::Delta CallStream::Look(bool whole) {
  looked_ = text_.size();
  const ReadReply now =
      read_(std::string_view(text_).substr(0, text_.size() - base::IncompleteTail(text_)), whole);
  Delta delta;
  delta.reasoning = TakeRest(now.reasoning, sent_.reasoning);
  delta.content = TakeRest(now.content, sent_.content);
  for (size_t i = 0; i < now.calls.size(); ++i) {
    const bool begins = i == sent_.calls.size();
    if (begins) {
      sent_.calls.push_back({now.calls[i].name, ""});
    }
    CallPart part = begins ? PartOf(i) : CallPart{static_cast<int>(i), "", "", ""};
    part.arguments = TakeRest(now.calls[i].arguments, sent_.calls[i].arguments);
    if (begins || !part.arguments.empty()) {
      delta.calls.push_back(std::move(part));
    }
  }
  return delta;
}

std::vector<CallPart> CallStream::calls() const {
  std::vector<CallPart> calls;
  for (size_t i = 0; i < sent_.calls.size(); ++i) {
    calls.push_back(PartOf(i));
    calls.back().arguments = sent_.calls[i].arguments;
  }
  return calls;
}

}  // namespace hyper::server
