#include "src/core/binary_program.h"

#include <gtest/gtest.h>

namespace hyper {
namespace {

TEST(Maximise, AKnapsackByHand) {
  // Values 6, 5, 4 with weights 5, 4, 3 in a sack of 7: the last two.
  const BinaryProgram sack = {{6, 5, 4}, {{{0, 1, 2}, {-5, -4, -3}, -7}}};
  EXPECT_EQ(*Maximise(sack), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(*Maximise({{1, -1}, {}}), (std::vector<bool>{true, false}));
}

TEST(Maximise, NothingFulfilsTheRows) {
  const Result<std::vector<bool>> none = Maximise({{1, 1}, {{{0, 1}, {1, 1}, 3}}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInternal);
}

TEST(Maximise, TellsWhatToInstallWhereTheSolverIsMissing) {
  const Result<std::vector<bool>> none = Maximise({{1}, {}}, "libhyper_none.so");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(none.error().message,
            "the integer program of ETS needs the solver CBC, which cannot be loaded "
            "(libhyper_none.so: cannot open shared object file: No such file or directory); "
            "install it (Debian: coinor-libcbc3)");
}

}  // namespace
}  // namespace hyper
