// Your own method as a plugin: windows of paths until all answers of one window agree (ESC).
//   hyper run --plugin ./libown_plugin.so --method my-esc QUESTION
#include <hyper/plugin.h>

#include <algorithm>
#include <set>
#include <string>

using hyper::Pool;

class EarlyStop : public hyper::Method {
 public:
  explicit EarlyStop(const hyper::MethodOptions& options) : options_(options) {}

  hyper::Status Start(Pool& pool) override { return OpenWindow(pool); }
  hyper::Status OnSettled(Pool& pool) override {
    return pool.running().empty() ? OpenWindow(pool) : pool.GrantAll(options_.interval);
  }
  bool Done(const Pool& pool) const override {
    return pool.running().empty() && (Agreed(pool) || Opened(pool) >= options_.width);
  }

 private:
  static int Opened(const Pool& pool) { return static_cast<int>(pool.paths().size()); }

  hyper::Status OpenWindow(Pool& pool) {
    first_ = Opened(pool);
    if (first_ > 0) {
      pool.BeginPhase();  // these paths come after the others, not beside them
    }
    const int count = std::min(options_.esc_window, options_.width - first_);
    const hyper::Status status =
        hyper::OpenPaths(pool, static_cast<uint64_t>(first_), count, /*warmup=*/false);
    return status ? pool.GrantAll(options_.interval) : status;
  }
  bool Agreed(const Pool& pool) const {
    std::set<std::string> answers;
    for (int path = first_; path < Opened(pool); ++path) {
      answers.insert(pool.path(path).answer);
    }
    return answers.size() == 1 && !answers.begin()->empty();
  }

  hyper::MethodOptions options_;
  int first_ = 0;  // path of the newest window
};

HYPER_PLUGIN(registry) {
  hyper::MethodSpec spec;
  spec.name = "my-esc";
  spec.description = "windows of paths until all answers of one window agree";
  spec.base = "esc";
  spec.make = [](const hyper::MethodOptions& options) {
    return std::make_unique<EarlyStop>(options);
  };
  return registry.Add(spec);
}
