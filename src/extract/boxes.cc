#include "src/extract/boxes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// The spellings of a box command, the damaged ones last: "\b" and "\f" read as escapes.
constexpr std::array<std::string_view, 6> kCommands = {"\\boxed", "\\fbox", "\\framebox",
                                                       "boxed",   "\boxed", "\fbox"};

constexpr std::string_view kOpenTag = "<|begin_of_box|>";
constexpr std::string_view kCloseTag = "<|end_of_box|>";

// A brace or tag that is still open; `command` is where its box command or tag starts, kNone for
// other braces, and `brace` the last byte before its content.
struct OpenBrace {
  size_t command = kNone;
  size_t brace = 0;
  bool tag = false;
};

// Reads braces one after another and notes the boxes among them.
class BoxReader {
 public:
  explicit BoxReader(std::string_view text) : text_(text) {}

  Boxes Read() {
    size_t last_filled = 0;  // place of the last byte that is no white space
    for (size_t i = 0; i < text_.size();) {
      if (text_[i] == '\n' && IsBlankLine(i)) {
        // LaTeX has no paragraph inside a box: what is open was left open. A box that has nothing
        // in it yet may still be filled, and one whose brace comes next is closed.
        const size_t next = SkipSpace(text_, i);
        const bool filled = !open_.empty() && last_filled > open_.back().brace;
        if (filled && At(text_, next) != '}') {
          GiveUp();
        }
        i = next;
        continue;
      }
      if (!IsSpace(text_[i])) {
        last_filled = i;
      }
      i = Step(i);
    }
    const auto open = std::find_if(open_.begin(), open_.end(), IsBox);
    if (open != open_.end()) {
      boxes_.cut = open->command;
    }
    GiveUp();
    return std::move(boxes_);
  }

 private:
  static bool IsBox(const OpenBrace& brace) { return brace.command != kNone; }

  // Reads what stands at `at`; returns the place after it.
  size_t Step(size_t at) {
    if (text_[at] == '<' && StandsAt(text_, at, kOpenTag)) {
      ++open_tags_;
      open_.push_back({at, at + kOpenTag.size() - 1, true});
      return at + kOpenTag.size();
    }
    if (text_[at] == '<' && open_tags_ > 0 && StandsAt(text_, at, kCloseTag)) {
      while (!open_.back().tag) {
        open_.pop_back();
      }
      CloseTop(at, at + kCloseTag.size());
      return at + kCloseTag.size();
    }
    const size_t brace = BraceOfBox(at);
    if (brace != kNone && At(text_, brace) == '{') {
      open_.push_back({at, brace});
      return brace + 1;
    }
    if (brace != kNone) {
      return ReadUnbraced(at, brace);
    }
    if (text_[at] == '\\') {
      return std::min(text_.size(), at + (IsLetter(At(text_, at + 1)) ? 1 : 2));
    }
    if (text_[at] == '{') {
      open_.push_back({kNone, at});
    }
    if (text_[at] == '}') {
      Close(at);
    }
    return at + 1;
  }

  // Whether a box command starts at `at`: the place of its argument, else kNone.
  size_t BraceOfBox(size_t at) const {
    const char first = text_[at];
    if (first != '\\' && first != 'b' && first != '\b' && first != '\f') {
      return kNone;
    }
    for (std::string_view command : kCommands) {
      if (!StandsAt(text_, at, command)) {
        continue;
      }
      const bool bare = IsLetter(command.front());
      if (bare && at > 0 && IsLetter(text_[at - 1])) {
        return kNone;
      }
      size_t brace = at + command.size();
      if (IsLetter(At(text_, brace))) {
        return kNone;
      }
      if (command == "\\framebox" && At(text_, brace) == '[') {
        constexpr size_t kLongestWidth = 32;
        const size_t close = text_.substr(brace, kLongestWidth).find(']');
        if (close != kNone) {
          brace += close + 1;
        }
      }
      if (!bare) {
        while (At(text_, brace) == ' ') {
          ++brace;
        }
      }
      return bare && At(text_, brace) != '{' ? kNone : brace;
    }
    return kNone;
  }

  // "\boxed 5": the argument is the run up to a blank or the end of the formula.
  size_t ReadUnbraced(size_t command, size_t at) {
    size_t end = at;
    while (end < text_.size() && !IsSpace(text_[end]) && text_[end] != '$' && text_[end] != '\\' &&
           text_[end] != '}' && text_[end] != '{') {
      ++end;
    }
    if (end > at) {
      boxes_.closed.push_back({Slice(text_, command, end), Slice(text_, at, end)});
    }
    return std::max(end, command + 1);
  }

  void Close(size_t at) {
    if (!open_.empty() && !open_.back().tag) {
      CloseTop(at, at + 1);
    }
  }

  // Closes what was opened last; its content ends at `inner_end`, its closing mark at `end`.
  void CloseTop(size_t inner_end, size_t end) {
    const OpenBrace top = open_.back();
    open_.pop_back();
    if (top.tag) {
      --open_tags_;
    }
    if (!IsBox(top)) {
      return;
    }
    // Boxes inside this one are part of its content.
    while (!boxes_.closed.empty() &&
           boxes_.closed.back().outer.data() > text_.data() + top.command) {
      boxes_.closed.pop_back();
    }
    boxes_.closed.push_back(
        {Slice(text_, top.command, end), Slice(text_, top.brace + 1, inner_end)});
  }

  void GiveUp() {
    const auto box = std::find_if(open_.rbegin(), open_.rend(), IsBox);
    if (box != open_.rend()) {
      const size_t end = EndOfUnclosed(box->brace + 1);
      if (end != kNone) {
        boxes_.unclosed.push_back(
            {Slice(text_, box->command, end), Slice(text_, box->brace + 1, end)});
      }
    }
    open_.clear();
    open_tags_ = 0;
  }

  // Where the content of a box without its closing brace ends: with its line or formula. kNone if
  // the content leaves a bracket of its own open: then it was cut off.
  size_t EndOfUnclosed(size_t begin) const {
    int depth = 0;
    int brackets = 0;
    size_t i = begin;
    for (; i < text_.size() && text_[i] != '\n' && text_[i] != '$'; ++i) {
      if (text_[i] == '{') {
        ++depth;
      }
      if (text_[i] == '}') {
        --depth;
      }
      if (text_[i] == '(' || text_[i] == '[') {
        ++brackets;
      }
      if (text_[i] == ')' || text_[i] == ']') {
        --brackets;
      }
      if (text_[i] != '\\') {
        continue;
      }
      const char next = At(text_, i + 1);
      if (next == ')' || next == ']') {
        break;
      }
      ++i;
    }
    return depth > 0 || brackets > 0 ? kNone : std::min(i, text_.size());
  }

  bool IsBlankLine(size_t at) const {
    size_t next = at + 1;
    while (next < text_.size() &&
           (text_[next] == ' ' || text_[next] == '\t' || text_[next] == '\r')) {
      ++next;
    }
    return At(text_, next) == '\n';
  }

  std::string_view text_;
  std::vector<OpenBrace> open_;
  size_t open_tags_ = 0;
  Boxes boxes_;
};

}  // namespace

Boxes FindBoxes(std::string_view text) { return BoxReader(text).Read(); }

size_t CutBox(std::string_view text, bool finished) {
  if (const size_t cut = FindBoxes(text).cut; cut != kNone) {
    return cut;
  }
  constexpr size_t kLongest = 17;  // longer than any beginning of a command or tag
  const size_t from = text.size() > kLongest ? text.size() - kLongest : 0;
  const size_t begin = text.find_last_of("\\<");
  if (begin == kNone || begin < from) {
    return kNone;
  }
  const std::string_view end = TrimSpace(text.substr(begin));
  for (std::string_view command : {kCommands[0], kCommands[1], kCommands[2], kOpenTag}) {
    const bool begun = !finished && command.starts_with(end);
    if (begun || end == command) {
      return begin;
    }
  }
  return kNone;
}

}  // namespace hyper::extract
