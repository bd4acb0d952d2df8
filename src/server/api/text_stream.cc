#include "src/server/api/text_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/utf8.h"

namespace hyper::server {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Length of the longest suffix of `text` that is a beginning, but not all, of `word`.
size_t BegunLength(std::string_view text, std::string_view word) {
  for (size_t length = std::min(text.size(), word.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == word.substr(0, length)) {
      return length;
    }
  }
  return 0;
}

struct Found {
  size_t at = std::string_view::npos;
  size_t size = 0;
  const TagPair* pair = nullptr;
  bool opens = false;
};

void Earlier(std::string_view text, std::string_view word, const TagPair& pair, bool opens,
             Found& best) {
  const size_t at = text.find(word);
  if (at < best.at || (at == best.at && at != std::string_view::npos && word.size() > best.size)) {
    best = {at, word.size(), &pair, opens};
  }
}

// The first tag of any pair in `text`.
Found FirstTag(std::string_view text, const std::vector<TagPair>& tags) {
  Found best;
  for (const TagPair& pair : tags) {
    Earlier(text, pair.open, pair, true, best);
    Earlier(text, pair.close, pair, false, best);
  }
  return best;
}

size_t BegunTag(std::string_view text, const std::vector<TagPair>& tags) {
  size_t longest = 0;
  for (const TagPair& pair : tags) {
    longest = std::max({longest, BegunLength(text, pair.open), BegunLength(text, pair.close)});
  }
  return longest;
}

}  // namespace

TextStream::TextStream(Options options) : options_(std::move(options)), pair_(nullptr) {
  if (options_.starts_in_reasoning) {
    state_ = State::kReasoning;
    had_reasoning_ = true;
    trim_ = true;
  }
}

TextStream::Delta TextStream::Push(std::string_view bytes) {
  if (!stopped_) {
    partial_ += bytes;
    const size_t whole = partial_.size() - base::IncompleteTail(partial_);
    buffer_ += base::ValidUtf8(std::string_view(partial_).substr(0, whole));
    partial_.erase(0, whole);
    Sort(/*final=*/false);
  }
  return std::exchange(delta_, {});
}

TextStream::Delta TextStream::Finish() {
  if (!stopped_) {
    Sort(/*final=*/true);
    FindStop(/*final=*/true);
  }
  return std::exchange(delta_, {});
}

void TextStream::Sort(bool final) {
  bool more = true;
  while (more && !stopped_ && !buffer_.empty()) {
    switch (state_) {
      case State::kStart:
        more = SortStart(final);
        break;
      case State::kReasoning:
        more = SortReasoning(final);
        break;
      case State::kNested:
        more = SortNested(final);
        break;
      case State::kContent:
        more = SortContent(final);
        break;
    }
  }
}

// At the start of the text, or behind a block of reasoning: a tag may follow, white space aside.
bool TextStream::SortStart(bool final) {
  const size_t begin = buffer_.find_first_not_of(kSpace);
  const std::string_view rest =
      begin == std::string::npos ? std::string_view() : std::string_view(buffer_).substr(begin);
  const Found tag = FirstTag(rest, options_.tags);
  if (!rest.empty() && tag.at == 0) {
    if (tag.opens) {
      state_ = State::kReasoning;
      pair_ = tag.pair;
      depth_ = 0;
      had_reasoning_ = true;
    }
    trim_ = true;  // a closing tag here closes nothing and is left out
    buffer_.erase(0, begin + tag.size);
    return true;
  }
  if (!final && (rest.empty() || BegunTag(rest, options_.tags) == rest.size())) {
    return false;
  }
  buffer_.erase(0, trim_ ? buffer_.size() - rest.size() : 0);
  trim_ = false;
  state_ = State::kContent;
  return !buffer_.empty();
}

bool TextStream::SortReasoning(bool final) {
  if (trim_) {
    buffer_.erase(0, std::min(buffer_.find_first_not_of(kSpace), buffer_.size()));
    trim_ = buffer_.empty();
    if (buffer_.empty()) {
      return false;
    }
  }
  Found tag;
  for (const TagPair& pair : options_.tags) {
    if (pair_ == nullptr || pair_ == &pair) {
      Earlier(buffer_, pair.close, pair, false, tag);
      Earlier(buffer_, pair.open, pair, true, tag);
    }
  }
  const std::string_view text(buffer_);
  if (tag.at != std::string::npos && tag.opens) {
    // A tag at the very start is the template's, written again.
    const bool repeated = pair_ == nullptr && reasoning_.empty() && tag.at == 0;
    pair_ = tag.pair;
    depth_ += repeated ? 0 : 1;
    trim_ = repeated;
    if (!repeated) {
      GiveReasoning(text.substr(0, tag.at + tag.size));
    }
    buffer_.erase(0, tag.at + tag.size);
    return true;
  }
  if (tag.at != std::string::npos && depth_ > 0) {
    GiveReasoning(text.substr(0, text.substr(0, tag.at).find_last_not_of(kSpace) + 1));
    buffer_.erase(0, text.substr(0, tag.at).find_last_not_of(kSpace) + 1);
    state_ = State::kNested;
    opened_ = depth_ + 1;
    scanned_ = 0;
    return true;
  }
  if (tag.at != std::string::npos) {
    EndBlock(tag.at, tag.at + tag.size);
    return true;
  }
  // White space at the end of a block is left out, so it waits for what follows.
  size_t sure = text.size() - (final ? 0 : BegunTag(text, options_.tags));
  sure = text.substr(0, sure).find_last_not_of(kSpace) + 1;
  GiveReasoning(text.substr(0, sure));
  buffer_.erase(0, sure);
  return false;
}

// Ends the block of reasoning: it goes up to `end`, and the text goes on at `next`.
void TextStream::EndBlock(size_t end, size_t next) {
  const std::string_view text = std::string_view(buffer_).substr(0, end);
  GiveReasoning(text.substr(0, text.find_last_not_of(kSpace) + 1));
  buffer_.erase(0, next);
  state_ = State::kStart;
  trim_ = true;
}

bool TextStream::SortNested(bool final) {
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(scanned_);
    Found tag;
    Earlier(rest, pair_->open, *pair_, true, tag);
    Earlier(rest, pair_->close, *pair_, false, tag);
    if (tag.at == std::string::npos) {
      if (final) {
        break;
      }
      scanned_ = buffer_.size() -
                 std::max(BegunLength(rest, pair_->open), BegunLength(rest, pair_->close));
      return false;
    }
    if (!tag.opens && depth_ == 0) {
      EndBlock(scanned_ + tag.at, scanned_ + tag.at + tag.size);
      return true;
    }
    depth_ += tag.opens ? 1 : -1;
    scanned_ += tag.at + tag.size;
  }
  const size_t end = EndOfNested();
  EndBlock(end, end + pair_->close.size());
  return true;
}

// Where the block ends whose text has ended in kNested: as for a whole text, which also knows that
// an opening tag was too many.
size_t TextStream::EndOfNested() const {
  std::string text;
  for (int i = 0; i < opened_; ++i) {
    text += pair_->open;
  }
  const size_t before = text.size();
  text += buffer_;
  const ReasoningSplit split = SplitReasoning(text, options_.tags, false);
  const size_t inside = split.reasoning.empty() ? before : split.reasoning[0].end;
  return text.find(pair_->close, std::max(inside, before)) - before;
}

bool TextStream::SortContent(bool final) {
  const std::string_view text(buffer_);
  const Found tag = FirstTag(text, options_.tags);
  if (tag.at == std::string::npos) {
    const size_t sure = text.size() - (final ? 0 : BegunTag(text, options_.tags));
    GiveContent(text.substr(0, sure));
    buffer_.erase(0, sure);
    return false;
  }
  const bool line_start =
      tag.at > 0 ? text[tag.at - 1] == '\n' : content_.empty() || content_.back() == '\n';
  // A tag that is spoken of; or one that closes what the text began with. That was given out as
  // content, and a stream takes nothing back; the tag still tells a reader where it ends.
  if (tag.opens ? !line_start : !had_reasoning_) {
    GiveContent(text.substr(0, tag.at + tag.size));
    buffer_.erase(0, tag.at + tag.size);
    return true;
  }
  GiveContent(text.substr(0, tag.at));
  if (stopped_) {
    return false;
  }
  buffer_.erase(0, tag.at + tag.size);
  if (tag.opens) {
    state_ = State::kReasoning;
    pair_ = tag.pair;
    depth_ = 0;
    trim_ = true;
    had_reasoning_ = true;
  }
  return true;
}

void TextStream::GiveReasoning(std::string_view text) {
  delta_.reasoning += text;
  reasoning_ += text;
}

void TextStream::GiveContent(std::string_view text) {
  held_ += text;
  FindStop(/*final=*/false);
}

// Gives out the held content that can be no part of a stop string any more.
void TextStream::FindStop(bool final) {
  size_t cut = std::string::npos;
  size_t begun = 0;
  for (const std::string& stop : options_.stop) {
    cut = std::min(cut, held_.find(stop));
    begun = std::max(begun, BegunLength(held_, stop));
  }
  const bool found = cut != std::string::npos;
  stopped_ = stopped_ || found;
  const size_t sure = found ? cut : held_.size() - (final ? 0 : begun);
  const std::string_view text = std::string_view(held_).substr(0, sure);
  delta_.content += text;
  content_ += text;
  held_.erase(0, found ? held_.size() : sure);
}

}  // namespace hyper::server
