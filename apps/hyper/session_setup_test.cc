#include "apps/hyper/session_setup.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/support/gguf_bytes.h"
#include "tests/support/temporary_folder.h"

namespace hyper::app {
namespace {

// A model file without tensors that recommends top-k 20 and temperature 0.6.
void WriteModel(const std::string& path) {
  constexpr uint32_t kUint32 = 4;
  constexpr uint32_t kFloat32 = 6;
  std::ofstream(path, std::ios::binary)
      << test::GgufHead(0, 2) << test::GgufEntry("general.sampling.top_k", kUint32, uint32_t{20})
      << test::GgufEntry("general.sampling.temp", kFloat32, 0.6F);
}

TEST(TakeModelDefaults, FlagsWinOverTheModelAndTheModelOverThePreset) {
  const test::TemporaryFolder folder;
  EngineFlags engine;
  engine.model = folder.File("model.gguf");
  WriteModel(engine.model);
  OptionFlags flags;
  flags.SetDefault("temperature", "0.8");
  TakeModelDefaults(engine, flags);
  const Result<MethodOptions> options = ResolveOptions(flags, "paper", "hyper");
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_DOUBLE_EQ(options->sampler.temperature, 0.8);
  EXPECT_EQ(options->sampler.top_k, 20);
  EXPECT_DOUBLE_EQ(options->sampler.top_p, Preset("paper")->sampler.top_p);
}

TEST(TakeModelDefaults, ChangesNothingWithoutAModelFile) {
  for (const char* name : {"scripted", "http://127.0.0.1:1/v1", "llama"}) {
    EngineFlags engine;
    engine.engine = name;
    engine.model = "no-such-file.gguf";
    OptionFlags flags;
    TakeModelDefaults(engine, flags);
    const Result<MethodOptions> options = ResolveOptions(flags, "paper", "hyper");
    EXPECT_EQ(options->sampler.top_k, Preset("paper")->sampler.top_k) << name;
  }
}

}  // namespace
}  // namespace hyper::app
