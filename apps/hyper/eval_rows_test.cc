#include "apps/hyper/eval_rows.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

TEST(ResolveRowTest, AWidthForTheStudyLeavesCotOnePath) {
  OptionFlags flags;
  flags.SetDefault("width", "8");
  EXPECT_EQ(ResolveRow(flags, "short", {"sc", "sc", {}})->width, 8);
  EXPECT_EQ(ResolveRow(flags, "short", {"cot", "cot", {}})->width, 1);
  EXPECT_EQ(ResolveRow(flags, "short", {"three", "cot", {{"width", "3"}}})->width, 3);
  flags.SetDefault("includes-warmup", "true");
  flags.SetDefault("warmup", "2");
  EXPECT_EQ(ResolveRow(flags, "short", {"cot", "cot", {}})->width, 1);
}

TEST(EngineTextTest, NamesWhereTheLayersAreUnlessThatIsTheDefault) {
  EngineFlags flags;
  EXPECT_EQ(EngineText(flags), "llama kv=f16");
  flags.gpu_layers = "-1";
  flags.tensor_split = "3,1";
  flags.main_gpu = "1";
  flags.rpc = "a:1,b:2";
  EXPECT_EQ(EngineText(flags),
            "llama kv=f16 gpu-layers=-1 tensor-split=3,1 main-gpu=1 rpc=a:1,b:2");
  flags.engine = "scripted";
  EXPECT_EQ(EngineText(flags), "scripted kv=f16");
}

TEST(SharedRowsTest, RowsUnderAnotherNameAreNamedWithBoth) {
  Store store = std::move(*Store::Open(":memory:", DatabaseMode::kCreate));
  StoredRun run;
  run.label = "sc";
  const int64_t first = *store.AddRun(run);
  run.method = "hyper";
  run.label = "hyper";
  const int64_t second = *store.AddRun(run);
  const std::vector<eval::MethodRow> rows = {
      {"sc", "sc", {}, {}}, {"mine", "sc", {}, {}}, {"hyper", "hyper", {}, {}}};
  EXPECT_EQ(*SharedRows(rows, {first, first, second}, store),
            std::vector<std::string>{"row 'mine' is the same as row 'sc' and stands under that "
                                     "name"});
}

}  // namespace
}  // namespace hyper::app
