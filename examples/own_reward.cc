// Your own reward: the best of 16 paths by the share of its equations that are right.
//   own_reward MODEL.gguf QUESTION
#include <hyper/ask.h>
#include <hyper/driver.h>
#include <hyper/llama_engine.h>

#include <cstdio>
#include <regex>
#include <string>

using hyper::Path;
using hyper::Pool;

// Share of the steps "a+b=c", "a-b=c" and "a*b=c" in `text` that are right; 0 without any.
double ShareOfRightSteps(const std::string& text) {
  static const std::regex step(R"((\d+)\s*([-+*])\s*(\d+)\s*=\s*(\d+))");
  double right = 0, all = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), step), end; at != end; ++at, ++all) {
    const double a = std::stod(at->str(1)), b = std::stod(at->str(3));
    const char sign = at->str(2)[0];
    right += std::stod(at->str(4)) == (sign == '+' ? a + b : sign == '-' ? a - b : a * b);
  }
  return all > 0 ? right / all : 0;
}

class BestBySteps : public hyper::Method {
 public:
  hyper::Status Start(Pool& pool) override {
    const hyper::Status status = hyper::OpenPaths(pool, 0, 16, /*warmup=*/false);
    return status ? pool.GrantAll(64) : status;
  }
  hyper::Status OnSettled(Pool& pool) override { return pool.GrantAll(64); }
  bool Done(const Pool& pool) const override { return pool.running().empty(); }
  double Weight(const Pool&, const Path& path) const override {
    return ShareOfRightSteps(path.text);
  }
  std::string VoteRule(const Pool&) const override { return "best"; }
};

int main(int argc, char** argv) {
  hyper::LlamaOptions model;
  model.model_path = argc == 3 ? argv[1] : "";
  auto engine = hyper::MakeLlamaEngine(model);
  hyper::AskOptions options;
  options.method = "bon";  // whose options and abilities it takes
  if (!engine) {
    return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  }
  auto ask = hyper::PrepareSession(**engine, argv[2], options, std::make_unique<BestBySteps>());
  if (!ask) {
    return std::fprintf(stderr, "%s\n", ask.error().message.c_str()), 1;
  }
  hyper::Driver driver(**engine);
  driver.Add(ask->get());
  if (!driver.RunAll()) {
    return 1;
  }
  for (const Path& path : (*ask)->pool().paths()) {
    std::printf("%.2f %s\n", ShareOfRightSteps(path.text), path.answer.c_str());
  }
  std::printf("%s\n", (*ask)->Result().answer.value_or("no answer").c_str());
}
