// Finds \boxed{...}, \fbox{...} and \framebox{...} by matching braces.
#pragma once

#include <string_view>
#include <vector>

namespace hyper::extract {

struct Box {
  std::string_view outer;  // with the command and both braces
  std::string_view inner;  // between the braces
};

// The boxes of a text.
//   closed    outermost ones, in order
//   unclosed  from the command to the end of the line or formula, for those that no brace closes
//             within their paragraph; the braces that `inner` opens are closed in it
struct Boxes {
  std::vector<Box> closed;
  std::vector<Box> unclosed;
};

// Also read: "boxed{" without its backslash, and a command whose backslash-letter pair some JSON
// reader turned into a control character. One pass; O(text length).
Boxes FindBoxes(std::string_view text);

}  // namespace hyper::extract
