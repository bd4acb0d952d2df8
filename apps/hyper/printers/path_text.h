// What a path wrote, as text for people.
#pragma once

#include <string>
#include <string_view>

#include "hyper/path.h"
#include "hyper/pool.h"

namespace hyper::app {

// `text` with its line breaks kept, so that a terminal shows it and obeys none of it: each tab as
// four spaces, other control characters and broken bytes as OneLine writes them. Pure.
std::string PlainText(std::string_view text);

// The reasoning of a path down to its last lines and its answer whole, or all of it where `whole`;
// ends with a line break, empty where the path wrote nothing. `prompt` is the path's, as rendered:
// it may have opened the reasoning. Pure.
std::string PathText(std::string_view text, std::string_view prompt, bool whole);

// The text of one path while the pool runs: the one that leads, with a line where another takes
// over. The leader stays while it runs; where it is lost, the surest running path follows, and
// where it ends by itself its text is whole.
class LeaderText {
 public:
  // What is to be printed after a step. The same pools in the same order give the same text.
  std::string Next(const Pool& pool);
  // Whether everything that `path` wrote has been printed.
  bool shown(const Path& path) const { return leader_ == path.id && printed_ == path.text.size(); }
  bool started() const { return leader_ != kNoPath; }
  // Whether the leader goes on writing.
  bool writing(const Pool& pool) const { return started() && pool.path(leader_).running(); }

 private:
  std::string TakeOver(const Pool& pool);

  PathId leader_ = kNoPath;
  size_t printed_ = 0;  // bytes of the leader's text
};

}  // namespace hyper::app
