// Test support: a made-up language model behind the OpenAI API, in the dialect of llama-server or
// of vLLM. Its tokens are bytes, as the fake engine's are: id = ASCII code, 0 ends the text.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "hyper/types.h"
#include "tests/support/scripted_server.h"

namespace hyper::test {

class ScriptedModel {
 public:
  using Json = nlohmann::json;
  enum class Dialect { kLlamaServer, kVllm };
  // Fills the logits [128] of the token after `history`; they come in as zeros. `key` is what
  // `key_of_seed` makes of the request's seed.
  using Logits =
      std::function<void(uint64_t key, std::span<const Token> history, std::span<float> logits)>;

  explicit ScriptedModel(Logits model) : logits(std::move(model)) {}

  // Answers one request.
  void Handle(const HttpMessage& request, ServerConnection& connection);
  ScriptedServer::Handler handler() {
    return [this](const HttpMessage& request, ServerConnection& connection) {
      Handle(request, connection);
    };
  }

  Logits logits;
  Dialect dialect = Dialect::kLlamaServer;
  // Chats: whether endpoints render them, what opens the assistant's turn
  // (the template argument "opener" replaces it), and whether and how a
  // message of the assistant at the end is continued. kDropsReasoning: as kFlag, but reasoning that
  // such a message has closed is left out of the prompt.
  enum class Prefill { kNone, kFlag, kTrailing, kDropsReasoning };
  bool renders = true;
  bool completions = true;  // false: chats only
  bool chats = true;
  std::string opener;
  Prefill prefill = Prefill::kNone;
  int slots = 64;
  int context = 4096;
  int delay_ms = 0;  // before each token
  Json routing;      // answer of vLLM's add-on to /hyper/capabilities; null: there is none
  std::function<uint64_t(uint32_t seed)> key_of_seed = [](uint32_t seed) { return seed; };
  // Faults: asked before each streamed completion, with its number; true: it has answered itself.
  std::function<bool(int number, const Json& body, ServerConnection&)> fault;
  // Changes an event before it is sent, given its number in the stream.
  std::function<void(int event, Json& chunk)> edit;

  std::atomic<int> streams{0};  // begun
  std::atomic<int> open{0};     // now
  std::atomic<int> open_peak{0};
  std::atomic<int> aborted{0};      // the client left before the end
  std::atomic<int> tokens{0};       // sent in streams
  std::atomic<int> posts{0};        // completions of any kind
  std::atomic<int> last_prompt{0};  // tokens of the newest streamed prompt

 private:
  Json Complete(const Json& body);
  Json CompletionOfChat(const Json& body) const;
  void Stream(const Json& body, ServerConnection& connection);
};

// The prompt of a request's body as byte tokens, whether it came as text, ids or both.
std::vector<Token> PromptOf(const nlohmann::json& body);

}  // namespace hyper::test
