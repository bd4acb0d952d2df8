// Bad input of every kind ends the program with one line (value, reason, remedy), an exit code of
// its kind, nothing on stdout and no files left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hyper::test {
namespace {

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;  // after "hyper"; {} stands for the folder of the test
  int exit_code;
  std::vector<std::string> contains;  // parts of the line
};

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.name; }

std::string ModelBytes() { return ReadWholeFile(HYPER_MODEL); }

// `count` in `bytes` little-endian bytes.
std::string Number(uint64_t count, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(count >> (8 * i) & 0xFFU);
  }
  return text;
}

// GGUF version 3 without tensors and with one key of the given type and value.
std::string OneKeyFile(const std::string& key, uint32_t type, const std::string& value) {
  return "GGUF" + Number(3, 4) + Number(0, 8) + Number(1, 8) + Number(key.size(), 8) + key +
         Number(type, 4) + value;
}

// Files that the cases name.
void WriteFiles(const TemporaryFolder& folder) {
  const std::string model = ModelBytes();
  WriteFile(folder.File("empty.gguf"), "");
  WriteFile(folder.File("text.gguf"), "this is no model\n");
  WriteFile(folder.File("page.gguf"), "<!DOCTYPE html>\n<html><body>404</body></html>\n");
  WriteFile(folder.File("picture.gguf"), "\x89PNG\r\n\x1a\n" + std::string(40, '\0'));
  WriteFile(folder.File("half.gguf"), model.substr(0, model.size() / 2));
  WriteFile(folder.File("header.gguf"), model.substr(0, 1000));
  WriteFile(folder.File("empty-key.gguf"), OneKeyFile("", 0, "x"));
  WriteFile(folder.File("signed-alignment.gguf"),
            OneKeyFile("general.alignment", 5, Number(32, 4)));
  WriteFile(folder.File("zero-alignment.gguf"), OneKeyFile("general.alignment", 4, Number(0, 4)));
  WriteFile(folder.File("odd-alignment.gguf"), OneKeyFile("general.alignment", 4, Number(3, 4)));
  std::string greedy = model;
  const std::string key = "qwen3moe.expert_used_count";
  greedy.replace(greedy.find(key) + key.size() + 4, 4, Number(99, 4));
  WriteFile(folder.File("experts.gguf"), greedy);
  WriteFile(folder.File("blank.txt"), " \n\t\n");
  WriteFile(folder.File("models.toml"), "[a]\nengine = scripted\n[b]\nmodel = none.gguf\n");
  std::string long_question;
  for (int i = 0; i < 2000; ++i) {
    long_question += "12 + 34 - 5 + ";
  }
  WriteFile(folder.File("long.txt"), long_question);
}

std::vector<BadInput> Cases() {
  const std::string question = "What is 1 + 1?";
  const auto model = [&question](const std::string& file) {
    return std::vector<std::string>{"run", "--model", file, question};
  };
  const auto scripted = [&question](std::vector<std::string> more) {
    std::vector<std::string> all{"run", "--engine", "scripted", question};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  return {
      {"NoCommand", {"walk"}, 64, {"'walk'", "--help"}},
      {"ModelMissing", model("{}/none.gguf"), 66, {"none.gguf"}},
      {"ModelIsFolder", model("{}"), 64, {"{}", "folder"}},
      {"ModelEmpty", model("{}/empty.gguf"), 65, {"empty.gguf", "is empty"}},
      {"ModelNotGguf", model("{}/text.gguf"), 65, {"text.gguf", "GGUF"}},
      {"ModelIsPage", model("{}/page.gguf"), 65, {"page.gguf", "GGUF"}},
      {"ModelIsPicture", model("{}/picture.gguf"), 65, {"picture.gguf", "GGUF"}},
      {"ModelUsesMoreExpertsThanItHas", model("{}/experts.gguf"), 65, {"99", "16 experts"}},
      {"PlanOfSuchAModel",
       {"run", "--plan", "--model", "{}/experts.gguf"},
       65,
       {"99", "16 experts"}},
      {"ModelHalf", model("{}/half.gguf"), 65, {"half.gguf"}},
      {"ModelCutInHeader", model("{}/header.gguf"), 65, {"header.gguf"}},
      {"ModelEmptyKey", model("{}/empty-key.gguf"), 65, {"empty-key.gguf"}},
      {"ModelSignedAlignment", model("{}/signed-alignment.gguf"), 65, {"alignment"}},
      {"ModelZeroAlignment", model("{}/zero-alignment.gguf"), 65, {"alignment"}},
      {"ModelOddAlignment", model("{}/odd-alignment.gguf"), 65, {"alignment"}},
      {"ModelLineBreakInName", model("{}/no\nmodel.gguf"), 66, {"no\\nmodel.gguf"}},
      {"ModelNonAsciiName", model("{}/mod\xC3\xA8le.gguf"), 66, {"mod\xC3\xA8le.gguf"}},
      {"ChoicesOfNoChoice", scripted({"--choices", "A-C"}), 64, {"A-C", "--answer-kind choice"}},
      {"EffortWord", scripted({"--effort", "x"}), 64, {"--effort is 'x'; it takes low, medium"}},
      {"ProbeOfNoUrl", {"probe", "nothere"}, 64, {"'nothere' is no URL"}},
      {"PlanOfNoBench",
       {"plan", "--cluster", "2", "--bench", "{}/none.json", "--runs", "x"},
       66,
       {"none.json"}},
      {"PlanOfAnotherFile",
       {"plan", "--cluster", "2", "--bench", "{}/empty-key.gguf", "--runs", "x"},
       65,
       {"holds no JSON objects"}},
      {"PlanOfTooMany",
       {"plan", "--cluster", "65", "--bench", "x", "--runs", "x"},
       64,
       {"--cluster", "1 to 64"}},
      {"GradeOfNoFile", {"grade", "{}/none.db"}, 66, {"none.db does not exist"}},
      {"NoQuestion", {"run", "--engine", "scripted"}, 64, {"question", "--file"}},
      {"EmptyQuestion", {"run", "--engine", "scripted", ""}, 64, {"question is empty"}},
      {"EmptyInput", {"run", "--engine", "scripted", "-"}, 64, {"question is empty"}},
      {"BlankFile", {"run", "--engine", "scripted", "--file", "{}/blank.txt"}, 64, {"empty"}},
      {"FileMissing", {"run", "--engine", "scripted", "--file", "{}/none.txt"}, 66, {"none.txt"}},
      {"FileIsFolder", {"run", "--engine", "scripted", "--file", "{}"}, 66, {"folder"}},
      {"QuestionTwice", scripted({"--file", "{}/long.txt"}), 64, {"both", "give one"}},
      {"QuestionTooLong",
       {"run", "--file", "{}/long.txt"},
       64,
       {"tokens", "1024", "shorten the question"}},
      {"QuestionTooLongScripted",
       {"run", "--engine", "scripted", "--ctx", "10", question},
       64,
       {"93 tokens", "holds 10", "--ctx"}},
      {"WidthZero", scripted({"--width", "0"}), 64, {"--width is 0", "1 to 4096"}},
      {"WidthNegative", scripted({"--width", "-3"}), 64, {"--width is -3", "1 to 4096"}},
      {"WidthWord", scripted({"--width", "many"}), 64, {"--width is 'many'", "1 to 4096"}},
      {"WidthTooLarge", scripted({"--width", "99999999999"}), 64, {"99999999999", "1 to 4096"}},
      {"WidthAboveEngine", {"run", "--width", "4096", question}, 64, {"--width 4096", "lower"}},
      {"ContextTooLarge", {"run", "--ctx", "100000000", question}, 71, {"100000000", "bytes"}},
      {"ContextNegative", scripted({"--ctx", "-1"}), 64, {"--ctx is -1", "KV cells"}},
      {"KvUnknown", {"run", "--kv", "piles", question}, 64, {"'piles'", "streams"}},
      {"KvStreamsStrict",
       {"run", "--kv", "streams", question},
       64,
       {"--kv streams", "--determinism fast"}},
      {"KvTwice", {"run", "--kv", "auto,unified", question}, 64, {"'auto,unified'", "streams"}},
      {"KvTypeTwice", {"run", "--kv-type", "f16,f32", question}, 64, {"'f16,f32'", "q8_0"}},
      {"KvTypeUnknown", {"run", "--kv-type", "q3", question}, 64, {"'q3'", "q8_0"}},
      {"MainGpuNegative", {"run", "--main-gpu", "-1", question}, 64, {"--main-gpu is -1"}},
      {"TensorSplitWord", {"run", "--tensor-split", "3,x", question}, 64, {"tensor-split", "3,1"}},
      {"TensorSplitNegative", {"run", "--tensor-split", "3,-1", question}, 64, {"3,-1"}},
      {"RpcNoPort", {"run", "--rpc", "10.0.0.2", question}, 64, {"10.0.0.2", "host:port"}},
      {"RpcPort", {"eval", "--rpc", "a:1,b:70000"}, 64, {"b:70000", "1 to 65535"}},
      {"OpenToAll", {"serve", "--host", "0.0.0.0"}, 64, {"--api-key-file", "--without-key"}},
      {"OpenAsAsked",
       {"serve", "--host", "0.0.0.0", "--without-key", "--model", "none.gguf"},
       66,
       {"none.gguf"}},
      {"ModelsAndModel",
       {"serve", "--models", "{}/models.toml", "--model", "x.gguf"},
       64,
       {"models.toml", "--model is for one model", "their sections"}},
      {"ModelsAndName",
       {"serve", "--models", "{}/models.toml", "--name", "x"},
       64,
       {"models.toml", "--name is for one model", "leave it out"}},
      {"MostModelsOfOne", {"serve", "--most-models", "2"}, 64, {"--most-models", "--models FILE"}},
      {"IdleUnloadOfOne", {"serve", "--idle-unload", "1m"}, 64, {"--idle-unload", "--models FILE"}},
      {"LoadWaitOfOne", {"serve", "--load-wait", "1m"}, 64, {"--load-wait", "--models FILE"}},
      {"ModelsMissing",
       {"serve", "--models", "{}/models.toml"},
       66,
       {"models.toml:3: [b]", "none.gguf"}},
      {"ModelsEmpty", {"serve", "--models", "{}/empty.gguf"}, 64, {"empty.gguf", "[NAME]"}},
      {"RpcTwice", {"serve", "--rpc", "a:1,a:1"}, 64, {"a:1", "twice"}},
      {"RpcEndsInComma", {"bench", "--rpc", "a:1,"}, 64, {"\"\"", "host:port"}},
      {"RpcScripted", scripted({"--rpc", "a:1"}), 64, {"--engine scripted", "leave it out"}},
      // Nothing listens on port 1; a llama.cpp without RPC does not even look.
      {"RpcCannot", {"run", "--rpc", "127.0.0.1:1", question}, 69, {"--rpc", HYPER_RPC_REASON}},
      {"ThreadsNegative", scripted({"--threads", "-2"}), 64, {"--threads is -2"}},
      {"MethodUnknown", scripted({"--method", "magic"}), 64, {"'magic'", "hyper", "sc"}},
      {"PresetUnknown", scripted({"--preset", "long"}), 64, {"'long'", "paper", "short"}},
      {"EngineUnknown", {"run", "--engine", "steam", question}, 64, {"'steam'", "llama"}},
      {"DeterminismUnknown", scripted({"--determinism", "maybe"}), 64, {"'maybe'", "strict"}},
      {"TemperatureNan", scripted({"--temperature", "nan"}), 64, {"--temperature is nan"}},
      {"TemperatureInfinite", scripted({"--temperature", "inf"}), 64, {"--temperature is inf"}},
      {"TopPZero", scripted({"--top-p", "0"}), 64, {"--top-p is 0", "above 0"}},
      {"ThresholdUnknown", scripted({"--threshold", "best"}), 64, {"'best'", "top:n"}},
      {"BoolWord", scripted({"--two-pass", "perhaps"}), 64, {"'perhaps'", "true, false"}},
      {"FlagUnknown", scripted({"--wdith", "3"}), 64, {"--wdith", "--help"}},
      {"FlagWithoutValue", scripted({"--width"}), 64, {"--width", "--help"}},
      {"SeedNegative", scripted({"--seed", "-1"}), 64, {"--seed is '-1'"}},
      {"TimeZero", scripted({"--time", "0s"}), 64, {"--time is '0s'", "30s"}},
      {"TimeWord", scripted({"--time", "soon"}), 64, {"--time is 'soon'", "30s"}},
      {"BudgetZero", scripted({"--budget-tokens", "0"}), 64, {"--budget-tokens is 0"}},
      {"AnswerKind", scripted({"--answer-kind", "poem"}), 64, {"'poem'", "integer"}},
      {"Choices", scripted({"--choices", "?"}), 64, {"'?'", "A-D"}},
      {"TimingAlone", scripted({"--timing"}), 64, {"--timing", "--json"}},
      {"LiveUnknown", scripted({"--live", "maybe"}), 64, {"'maybe'", "always"}},
      {"TraceInNoFolder",
       scripted({"--trace", "{}/none/trace.jsonl"}),
       74,
       {"none/trace.jsonl", "No such file", "writable folder"}},
      {"TraceIsFolder", scripted({"--trace", "{}"}), 74, {"{}", "folder"}},
      {"BenchRuns", {"bench", "--runs", "0"}, 64, {"--runs is 0", "1 to 1000"}},
      {"ExtractKind", {"extract", "--kind", "poem"}, 64, {"'poem'", "choice"}},
      {"ExtractOptions", {"extract", "--options", "J-A"}, 64, {"'J-A'", "A-J"}},
      {"ExtractReasoning", {"extract", "--reasoning", "maybe"}, 64, {"'maybe'", "ignored"}},
      {"ExtractFlag", {"extract", "--kinds", "math"}, 64, {"--kinds", "--help"}},
      {"ExtractFile", {"extract", "{}/none.txt"}, 66, {"none.txt", "check path"}},
      {"ExtractFolder", {"extract", "{}"}, 66, {"folder", "text file"}},
      {"BenchModel", {"bench", "--model", "{}/none.gguf"}, 66, {"none.gguf"}},
  };
}

std::string Expand(std::string text, const std::string& folder) {
  const size_t at = text.find("{}");
  return at == std::string::npos ? text : text.replace(at, 2, folder);
}

class CliBadInput : public testing::TestWithParam<BadInput> {};

TEST_P(CliBadInput, EndsInOneLineThatSaysWhatToDo) {
  const TemporaryFolder folder;
  WriteFiles(folder);
  const std::string root = folder.File(".").substr(0, folder.File(".").size() - 2);
  const std::vector<std::string> before = NamesIn(root);
  std::vector<std::string> arguments{HYPER_PROGRAM};
  for (const std::string& argument : GetParam().arguments) {
    arguments.push_back(Expand(argument, root));
  }
  const ProcessResult result = RunProcess(arguments);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.err.rfind("hyper", 0), 0U) << result.err;
  for (const std::string& part : GetParam().contains) {
    EXPECT_NE(result.err.find(Expand(part, root)), std::string::npos)
        << "expected " << part << " in: " << result.err;
  }
  EXPECT_EQ(NamesIn(root), before);
}

INSTANTIATE_TEST_SUITE_P(All, CliBadInput, testing::ValuesIn(Cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hyper::test
