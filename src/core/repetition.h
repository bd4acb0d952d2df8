// Loops: texts that repeat themselves and will not end by themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hyper {

// How a text repeats itself, and by how much: the last `bytes` of it.
struct Repetition {
  enum class Kind {
    kPeriod,    // the same bytes over and over
    kCounting,  // the same words; every number grows by a fixed step
    kStale,     // nearly every phrase was written several times before, in whatever order
  };
  Kind kind = Kind::kPeriod;
  size_t bytes = 0;
  size_t period_bytes = 0;  // of one repeat; 0 for kStale
};

// Tokens between two looks at a path: one look costs about as much as reading 8 KB, so that the
// cost per token does not grow with the path.
inline constexpr int kRepetitionInterval = 64;

// Looks at the end of `text` for a loop. Source: design choice; the limits are those that recorded
// loops of small models pass and texts, code and tables of numbers do not.
//   kPeriod    1,000 bytes or more (about 250 tokens) that are 4 repeats or more; 400 bytes or more
//              that are 8 repeats or more of a text with a letter in it
//   kCounting  the same length, 32 repeats or more: a table whose rows follow from the two before
//   kStale     256 words or more, 98 % of which end a phrase of 6 words that was written 3 times
//              before
// Only the last 8,192 bytes are read: longer periods than 2,048 bytes are not found. Depends on the
// bytes alone, not on how they were split into tokens. Pure; O(1), as what is read is bounded.
std::optional<Repetition> FindRepetition(std::string_view text);

// "repeats its last 1,240 bytes every 62 bytes" and the like. Pure.
std::string RepetitionText(const Repetition& repetition);

}  // namespace hyper
