#include "apps/hyper/commands/eval_rows.h"

#include <gtest/gtest.h>

namespace hyper::app {
namespace {

TEST(EngineTextTest, NamesWhereTheLayersAreUnlessThatIsTheDefault) {
  EngineFlags flags;
  EXPECT_EQ(EngineText(flags), "llama kv=f16");
  flags.llama.gpu_layers = -1;
  flags.llama.tensor_split = {3, 1};
  flags.llama.main_gpu = 1;
  flags.llama.rpc_servers = {"a:1", "b:2"};
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
  const auto plan = [](const char* method) { return *ResolveRun({method, "", {}, {}}, {}); };
  const std::vector<eval::StudyRow> rows = {
      {"sc", plan("sc"), {}}, {"mine", plan("sc"), {}}, {"hyper", plan("hyper"), {}}};
  EXPECT_EQ(*SharedRows(rows, {first, first, second}, store),
            std::vector<std::string>{"row 'mine' is the same as row 'sc' and is shown under that "
                                     "name"});
}

}  // namespace
}  // namespace hyper::app
