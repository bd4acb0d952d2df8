// Asks a model: the whole HyPER algorithm in one call.
//   ask MODEL.gguf QUESTION
#include <hyper/ask.h>
#include <hyper/llama_engine.h>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ask MODEL.gguf QUESTION\n");
    return 64;
  }
  hyper::LlamaOptions model;
  model.model_path = argv[1];
  hyper::Result<std::unique_ptr<hyper::Engine>> engine = hyper::MakeLlamaEngine(model);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().message.c_str());
    return 1;
  }
  hyper::AskOptions options;
  options.seed = 7;
  const hyper::Result<hyper::SessionResult> result = hyper::Ask(**engine, argv[2], options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", result->answer.value_or("no answer").c_str());
  for (const auto& [rule, vote] : result->votes) {
    std::printf("  %-20s %s\n", rule.c_str(), vote.answer.value_or("-").c_str());
  }
  std::printf("%d paths voted; %lld tokens generated, %lld effective\n", result->voting_paths,
              static_cast<long long>(result->ledger.generated),
              static_cast<long long>(result->ledger.effective()));
  return 0;
}
