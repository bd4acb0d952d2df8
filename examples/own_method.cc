// Your own method: paths come four at a time until one answer has three quarters of them.
//   own_method MODEL.gguf QUESTION
#include <hyper/ask.h>
#include <hyper/driver.h>
#include <hyper/llama_engine.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

using hyper::Pool;

class UntilSure : public hyper::Method {
 public:
  hyper::Status Start(Pool& pool) override { return OpenFour(pool); }
  // Every grant is used up: running paths continue, and when all have ended, four more start.
  hyper::Status OnSettled(Pool& pool) override {
    return pool.running().empty() ? OpenFour(pool) : pool.GrantAll(kGrant);
  }
  bool Done(const Pool& pool) const override {
    const size_t opened = pool.paths().size();
    std::map<std::string, size_t> votes;
    size_t most = 0;
    for (const hyper::Path& path : pool.paths()) {
      most = std::max(most, path.answer.empty() ? 0 : ++votes[path.answer]);
    }
    return pool.running().empty() && (4 * most >= 3 * opened || opened >= kMostPaths);
  }
  std::string VoteRule(const Pool&) const override { return "majority"; }

 private:
  static constexpr int kGrant = 64;
  static constexpr size_t kMostPaths = 32;

  static hyper::Status OpenFour(Pool& pool) {
    const hyper::Status status = hyper::OpenPaths(pool, pool.paths().size(), 4, /*warmup=*/false);
    return status ? pool.GrantAll(kGrant) : status;
  }
};

int main(int argc, char** argv) {
  hyper::LlamaOptions model;
  model.model_path = argc == 3 ? argv[1] : "";
  auto engine = hyper::MakeLlamaEngine(model);
  hyper::AskOptions options;
  options.method = "sc";  // whose options and abilities it takes
  if (!engine) {
    return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  }
  auto ask = hyper::PrepareSession(**engine, argv[2], options, std::make_unique<UntilSure>());
  if (!ask) {
    return std::fprintf(stderr, "%s\n", ask.error().message.c_str()), 1;
  }
  hyper::Driver driver(**engine);
  driver.Add(ask->get());
  if (!driver.RunAll()) {
    return 1;
  }
  std::printf("%s after %zu paths\n", (*ask)->Result().answer.value_or("no answer").c_str(),
              (*ask)->pool().paths().size());
}
