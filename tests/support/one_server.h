// Test support: a scripted server and an engine on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hyper/remote_engine.h"
#include "src/base/clock.h"
#include "src/engine/remote/remote_engine.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_clock.h"
#include "tests/support/scripted_model.h"

namespace hyper::test {

// The alphabet, again and again; never ends.
inline void WriteAlphabet(uint64_t /*key*/, std::span<const Token> history,
                          std::span<float> logits) {
  const Token last = history.empty() ? 0 : history.back();
  const Token next = last >= 'a' && last < 'z' ? last + 1 : 'a';
  logits[static_cast<size_t>(next)] = 40.0F;
}

// Without a time limit: on a scripted clock, a server that is slow in earnest would pass any.
inline RemoteOptions Quick() {
  RemoteOptions options;
  options.retries = 2;
  options.timeout_s = 0;
  return options;
}

// A server with a model of the alphabet, and an engine on it that goes by a scripted clock.
class OneServer : public ::testing::Test {
 protected:
  void Connect(RemoteOptions options = Quick()) {
    server_ = std::make_unique<ScriptedServer>(model_.handler());
    options.urls = {server_->url()};
    Result<std::unique_ptr<Engine>> engine = remote::MakeEngine(options, clock_);
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    engine_ = std::move(*engine);
  }

  // A lane behind the prompt "q: ".
  LaneId Open(uint64_t key = 1) {
    LaneSpec spec;
    spec.path_key = key;
    const std::vector<Token> prompt = *engine_->Tokenize("q: ", false);
    return *engine_->Open(prompt, spec);
  }

  // Polls until the lane is at its boundary, has ended or failed; its text.
  std::string Read(LaneId lane, int tokens) {
    EXPECT_TRUE(engine_->Grant(lane, tokens).ok());
    std::string text;
    const double deadline = base::SteadyClock().Now() + 60 * Patience();
    while (base::SteadyClock().Now() < deadline) {
      const Result<std::span<const Event>> events = engine_->Poll(0.05);
      EXPECT_TRUE(events.has_value());
      for (const std::string& notice : engine_->TakeNotices()) {
        notices_ += notice + "\n";
      }
      for (const Event& event : *events) {
        if (event.lane != lane) {
          continue;
        }
        last_ = event;
        if (event.kind == EventKind::kToken) {
          text += engine_->TokenText(event.token);
          recomputed_ += event.recomputed_tokens;
          with_list_ += event.top.empty() ? 0 : 1;
        } else {
          last_.top = {};
          return text;
        }
      }
    }
    ADD_FAILURE() << "nothing came";
    return text;
  }

  ScriptedClock clock_;
  ScriptedModel model_{WriteAlphabet};
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Engine> engine_;
  std::string notices_;
  Event last_;
  int recomputed_ = 0;
  int with_list_ = 0;
};

inline void SendText(ServerConnection& connection, const std::string& text) {
  connection.Send("data: " + nlohmann::json{{"choices", {{{"text", text}}}}}.dump() + "\n\n");
}

}  // namespace hyper::test
