#include "src/engine/llama/gpu_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "src/engine/llama/model.h"
#include "tests/support/llama_fixture.h"

namespace hyper::llama {
namespace {

TEST(RequestedPlacement, AutoIsNoneWithoutAGpuAndOpenWithOne) {
  LlamaOptions options;
  EXPECT_EQ(RequestedPlacement(options, /*has_gpu=*/false).layers, 0);
  EXPECT_EQ(RequestedPlacement(options, /*has_gpu=*/true).layers, kFitGpuLayers);
}

TEST(RequestedPlacement, ANumberIsTakenAsItIs) {
  LlamaOptions options;
  for (const int layers : {-1, 0, 7}) {
    options.gpu_layers = layers;
    EXPECT_EQ(RequestedPlacement(options, false).layers, layers);
    EXPECT_EQ(RequestedPlacement(options, true).layers, layers);
  }
}

TEST(RequestedPlacement, ServersGetAllLayersUnlessTheirNumberIsGiven) {
  LlamaOptions options;
  options.rpc_servers = {"a:1"};
  EXPECT_EQ(RequestedPlacement(options, false).layers, -1);
  options.gpu_layers = 0;
  EXPECT_EQ(RequestedPlacement(options, true).layers, -1);
  options.gpu_layers = 3;
  EXPECT_EQ(RequestedPlacement(options, true).layers, 3);
}

TEST(RequestedPlacement, AGivenSplitIsKeptAndCoversTheModel) {
  LlamaOptions options;
  options.tensor_split = {3, 1};
  const Placement placement = RequestedPlacement(options, true);
  EXPECT_EQ(placement.layers, -1);
  ASSERT_GE(placement.split.size(), llama_max_devices());
  EXPECT_EQ(placement.split[0], 3);
  EXPECT_EQ(placement.split[1], 1);
  EXPECT_EQ(RequestedPlacement(options, false).layers, 0);
}

TEST(LayersOnDevices, CountsTheOutputAsOne) {
  EXPECT_EQ(LayersOnDevices({.layers = 0, .split = {}, .kept = {}}, 28), 0);
  EXPECT_EQ(LayersOnDevices({.layers = 5, .split = {}, .kept = {}}, 28), 5);
  EXPECT_EQ(LayersOnDevices({.layers = 99, .split = {}, .kept = {}}, 28), 29);
  EXPECT_EQ(LayersOnDevices({.layers = -1, .split = {}, .kept = {}}, 28), 29);
}

TEST(Fitted, LeavesAGivenNumberAlone) {
  const Placement placement = Fitted({.layers = 4, .split = {}, .kept = {}}, "none.gguf",
                                     llama_model_default_params(), llama_context_default_params());
  EXPECT_EQ(placement.layers, 4);
}

TEST(GpuLayers, AreThoseOfAGpuAndNoneWithoutOne) {
  if (BundledModel().empty()) {
    GTEST_SKIP() << "the bundled model is not here";
  }
  const Result<LoadedModel> loaded = LoadModel(BundledOptions());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  // The model has a few megabytes: it fits wherever a GPU is.
  EXPECT_EQ(loaded->info.gpu_layers, HasGpu() ? llama_model_n_layer(loaded->model.get()) + 1 : 0);
  EXPECT_EQ(loaded->ordered_cells, !HasGpu());
}

TEST(GpuLayersOption, TakesTheWordAutoForItsLowestValue) {
  LlamaOptions options;
  for (Option& option : OptionsOf(options)) {
    if (std::string(option.info().name) != "gpu-layers") {
      continue;
    }
    EXPECT_EQ(option.Text(), "auto");
    EXPECT_EQ(std::get<std::string>(option.value()), "auto");
    EXPECT_TRUE(option.Set("-1").ok());
    EXPECT_EQ(options.gpu_layers, -1);
    EXPECT_EQ(option.Text(), "-1");
    EXPECT_FALSE(option.Set("-3").ok());
    const Status status = option.Set("all");
    EXPECT_NE(status.error().message.find("auto, -1 for all, or 0 to 65536"), std::string::npos);
    EXPECT_EQ(options.gpu_layers, -1);
    EXPECT_TRUE(option.Set("auto").ok());
    EXPECT_EQ(options.gpu_layers, kFitGpuLayers);
  }
}

}  // namespace
}  // namespace hyper::llama
