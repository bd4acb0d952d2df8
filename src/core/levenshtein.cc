#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/core/pool_stats.h"

namespace hyper {
namespace {

constexpr size_t kWordBits = 64;

// For each distinct token of a pattern, the positions where it stands, a bit each.
class PositionMasks {
 public:
  PositionMasks(std::span<const Token> pattern, size_t blocks)
      : tokens_(pattern.begin(), pattern.end()), blocks_(blocks) {
    std::sort(tokens_.begin(), tokens_.end());
    tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
    // One more row, all zero: the tokens that the pattern lacks.
    masks_.resize((tokens_.size() + 1) * blocks_);
    for (size_t i = 0; i < pattern.size(); ++i) {
      masks_[Row(pattern[i]) * blocks_ + i / kWordBits] |= uint64_t{1} << (i % kWordBits);
    }
  }

  // The masks of `token`, one word per block.
  const uint64_t* Find(Token token) const { return masks_.data() + Row(token) * blocks_; }

 private:
  size_t Row(Token token) const {
    const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), token);
    const bool present = found != tokens_.end() && *found == token;
    return present ? static_cast<size_t>(found - tokens_.begin()) : tokens_.size();
  }

  std::vector<Token> tokens_;
  size_t blocks_;
  std::vector<uint64_t> masks_;
};

// Vertical differences of one block of the distance matrix: bit i says that row i is one above
// (plus) or one below (minus) row i - 1.
struct Column {
  uint64_t plus = ~uint64_t{0};
  uint64_t minus = 0;
};

// Moves a block one column on. `carry` is the horizontal difference (-1, 0, 1) that enters above
// the block; returns the one at the row of `out_bit` (Hyyro's formulation of Myers' recurrence).
int Advance(Column& column, uint64_t equal, int carry, uint64_t out_bit) {
  const uint64_t carry_minus = carry < 0 ? 1 : 0;
  const uint64_t carry_plus = carry > 0 ? 1 : 0;
  const uint64_t vertical = equal | column.minus;
  equal |= carry_minus;
  const uint64_t diagonal = (((equal & column.plus) + column.plus) ^ column.plus) | equal;
  uint64_t plus = column.minus | ~(diagonal | column.plus);
  uint64_t minus = column.plus & diagonal;
  const int out = (plus & out_bit) != 0 ? 1 : (minus & out_bit) != 0 ? -1 : 0;
  plus = plus << 1 | carry_plus;
  minus = minus << 1 | carry_minus;
  column.plus = minus | ~(vertical | plus);
  column.minus = plus & vertical;
  return out;
}

}  // namespace

size_t Levenshtein(std::span<const Token> a, std::span<const Token> b) {
  // The shorter one is the pattern: fewer blocks.
  if (a.size() > b.size()) {
    std::swap(a, b);
  }
  if (a.empty()) {
    return b.size();
  }
  const size_t blocks = (a.size() + kWordBits - 1) / kWordBits;
  const PositionMasks masks(a, blocks);
  std::vector<Column> columns(blocks);
  const uint64_t last_row = uint64_t{1} << ((a.size() - 1) % kWordBits);
  constexpr uint64_t kTopBit = uint64_t{1} << (kWordBits - 1);
  size_t distance = a.size();
  for (Token token : b) {
    const uint64_t* equal = masks.Find(token);
    int carry = 1;  // the matrix's first row counts up
    for (size_t block = 0; block < blocks; ++block) {
      const bool last = block + 1 == blocks;
      carry = Advance(columns[block], equal[block], carry, last ? last_row : kTopBit);
    }
    distance += static_cast<size_t>(carry);  // -1 wraps and subtracts
  }
  return distance;
}

}  // namespace hyper
