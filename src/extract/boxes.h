// Finds \boxed{...}, \fbox{...} and \framebox{...} by matching braces, and the box tags of GLM
// models.
#pragma once

#include <cstddef>
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
//   cut         where the box starts that is still open at the end of the text, npos if none is
struct Boxes {
  std::vector<Box> closed;
  std::vector<Box> unclosed;
  size_t cut = std::string_view::npos;
};

// Also read: "boxed{" without its backslash, and a command whose backslash-letter pair some JSON
// reader turned into a control character. One pass; O(text length).
Boxes FindBoxes(std::string_view text);

// Where a box begins that the end of `text` cuts off: one that is open, a command without its
// argument, or, unless the text is `finished`, the beginning of a command ("\boxe"). npos if none.
size_t CutBox(std::string_view text, bool finished);

}  // namespace hyper::extract
