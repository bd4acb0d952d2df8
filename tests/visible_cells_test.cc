// The jump over masked cells in ggml's attention, beside a look at every cell.
#include <gtest/gtest.h>
#include <vec.h>

#include <cstdint>
#include <random>
#include <vector>

namespace hyper {
namespace {

constexpr uint16_t kForbidden = 0xFC00;  // minus infinity as a half float

int64_t LookingAtEach(const std::vector<uint16_t>& mask, int64_t cell, int64_t end) {
  while (cell < end && mask[cell] == kForbidden) {
    ++cell;
  }
  return cell;
}

TEST(VisibleCellsTest, FindsWhatLookingAtEachFinds) {
  std::mt19937 random(1);
  // 0: seen. The others are biases (ALiBi), the greatest half, minus zero, NaN and minus infinity's
  // neighbours, all of them seen.
  const std::vector<uint16_t> seen = {0, 0xBC00, 0x7BFF, 0x8000, 0x7C01, 0xFBFF, 0xFC01, 0x7C00};
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint16_t> mask(random() % 150, kForbidden);
    const size_t few = mask.empty() ? 0 : random() % 4;
    for (size_t i = 0; i < few; ++i) {
      mask[random() % mask.size()] = seen[random() % seen.size()];
    }
    const auto size = static_cast<int64_t>(mask.size());
    const int64_t end = mask.empty() ? 0 : static_cast<int64_t>(random() % (size + 1));
    for (int64_t cell = 0; cell <= end; ++cell) {
      ASSERT_EQ(ggml_vec_find_unmasked_f16(mask.data(), cell, end), LookingAtEach(mask, cell, end))
          << "round " << round << ", cell " << cell << " of " << end;
    }
  }
}

}  // namespace
}  // namespace hyper
