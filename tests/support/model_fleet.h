// Test support: models that come and go, each a scripted engine that writes its own name.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hyper/fake_engine.h"
#include "src/server/models/model_host.h"
#include "tests/support/patience.h"

namespace hyper::server {

class ModelFleet {
 public:
  using Load = std::function<std::optional<Error>()>;

  std::vector<ServedModel> Models(const std::vector<std::string>& names) {
    std::vector<ServedModel> models;
    for (const std::string& name : names) {
      ServerLimits limits;
      limits.model_name = name;
      limits.preset = "short";
      models.push_back({limits, {}, [this, name] { return Make(name); }});
    }
    return models;
  }
  // From now on that is asked first when a model is to be loaded; what it gives is the error.
  void BeforeLoad(const std::string& name, Load load) {
    const std::lock_guard lock(mutex_);
    before_[name] = std::move(load);
  }
  // From now on that is called before an engine of the model is gone.
  void BeforeUnload(const std::string& name, std::function<void()> unload) {
    const std::lock_guard lock(mutex_);
    before_unload_[name] = std::move(unload);
  }
  // "+NAME" for each engine that was made and "-NAME" for each that is gone, in their order.
  std::string events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  class Noted : public FakeEngine {
   public:
    Noted(FakeOptions options, const std::string& name, std::function<void()> gone)
        : FakeEngine(std::move(options)), model_(FakeEngine::model()), gone_(std::move(gone)) {
      model_.hash = "hash of " + name;
    }
    ~Noted() override { gone_(); }
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;
    const ModelInfo& model() const override { return model_; }

   private:
    ModelInfo model_;
    std::function<void()> gone_;
  };

  Result<std::unique_ptr<Engine>> Make(const std::string& name) {
    Load before;
    {
      const std::lock_guard lock(mutex_);
      before = before_[name];
    }
    if (before) {
      if (std::optional<Error> error = before()) {
        return *std::move(error);
      }
    }
    FakeOptions options;
    options.capabilities.max_lanes = 24;
    options.capabilities.context_tokens = 1 << 20;
    options.logits = [name](const FakeStep& step, std::span<float> logits) {
      std::string prompt(step.history.begin(), step.history.begin() + step.prompt_tokens);
      const size_t at = step.history.size() - static_cast<size_t>(step.prompt_tokens);
      const bool endless = prompt.find("endless") != std::string::npos;
      for (size_t c = 'a'; endless && c <= 'z'; ++c) {
        logits[c] = 20.0F;
      }
      if (!endless) {
        logits[at < name.size() ? static_cast<size_t>(name[at]) : FakeEngine::kEnd] = 20.0F;
      }
    };
    Note("+" + name);
    return std::unique_ptr<Engine>(
        std::make_unique<Noted>(std::move(options), name, [this, name] { Unload(name); }));
  }
  void Unload(const std::string& name) {
    std::function<void()> before;
    {
      const std::lock_guard lock(mutex_);
      before = before_unload_[name];
    }
    if (before) {
      before();
    }
    Note("-" + name);
  }
  void Note(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_ += (events_.empty() ? "" : " ") + event;
  }

  mutable std::mutex mutex_;
  std::map<std::string, Load> before_;
  std::map<std::string, std::function<void()>> before_unload_;
  std::string events_;
};

// Waits for something that another thread does.
inline void AwaitThat(const std::function<bool()>& is_so) {
  for (int i = 0; i < 4000 * test::Patience(); ++i) {
    if (is_so()) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << "it did not come";
}

// The states of all models, such as "loaded unloaded".
inline std::string StatesOf(const ModelHost& host) {
  std::string states;
  for (const ModelStatus& model : host.Statuses()) {
    states += (states.empty() ? "" : " ") + std::string(model.state_name());
  }
  return states;
}

}  // namespace hyper::server
