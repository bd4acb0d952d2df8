// Bytes of a path, token by token, as what a client may be sent: whole UTF-8 characters, reasoning
// apart from content, and content cut exactly where a stop string begins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/extract.h"

namespace hyper::server {

class TextStream {
 public:
  struct Options {
    std::vector<TagPair> tags = DefaultThinkTags();
    bool starts_in_reasoning = false;  // the prompt ended with an opening tag
    std::vector<std::string> stop;     // none empty; looked for in the content only
  };
  // What became certain; sent text is never taken back.
  struct Delta {
    std::string reasoning;
    std::string content;
  };

  explicit TextStream(Options options);

  // Takes the bytes of one token, which may be a part of a character. Text that may yet turn out to
  // be a tag, a stop string or a part of a character is held back.
  Delta Push(std::string_view bytes);
  // The text has ended: gives out what was held back; a cut character is left out.
  Delta Finish();

  // A stop string was found; what is pushed afterwards is ignored.
  bool stopped() const { return stopped_; }
  bool in_reasoning() const { return state_ == State::kReasoning || state_ == State::kNested; }
  // At the start, or behind a block of reasoning: whether what was pushed last is content is open.
  bool undecided() const { return state_ == State::kStart; }
  // Bytes that are content as far as is known, those held back included.
  size_t content_bytes() const {
    const bool content = state_ == State::kContent;
    return content_.size() + held_.size() + (content ? buffer_.size() + partial_.size() : 0);
  }
  // All that was given out: the deltas, joined.
  const std::string& content() const { return content_; }
  const std::string& reasoning() const { return reasoning_; }

 private:
  // kNested: behind a closing tag that ends the block unless the opening tag inside it was meant as
  // one; what follows is held back until another closing tag, or the end, tells.
  enum class State { kStart, kReasoning, kNested, kContent };

  void Sort(bool final);       // moves buffer_ on as far as its meaning is certain
  bool SortStart(bool final);  // false: more bytes are needed
  bool SortReasoning(bool final);
  bool SortNested(bool final);
  void EndBlock(size_t end, size_t next);  // places in buffer_
  size_t EndOfNested() const;
  bool SortContent(bool final);
  void GiveReasoning(std::string_view text);
  void GiveContent(std::string_view text);
  void FindStop(bool final);

  Options options_;
  State state_ = State::kStart;
  int depth_ = 0;        // nested opening tags inside the reasoning
  int opened_ = 0;       // kNested: all that were open at its beginning, the block's own among them
  size_t scanned_ = 0;   // kNested: bytes of buffer_ that were looked at
  const TagPair* pair_;  // of the open block; null: opened by the template, any pair
  bool trim_ = false;    // white space before the next text is left out
  bool had_reasoning_ = false;
  bool stopped_ = false;
  std::string partial_;  // bytes of an unfinished character
  std::string buffer_;   // text whose place is not certain yet
  std::string held_;     // content that may begin a stop string
  Delta delta_;
  std::string content_;
  std::string reasoning_;
};

}  // namespace hyper::server
