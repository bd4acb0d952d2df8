// Greedy texts of SmolLM2-135M-Instruct by plain llama.cpp calls: one sequence, one context, one
// token a forward, the most probable token each time. Nothing of HyPER is linked.
// smollm2_test runs it beside HyPER, on the same backend: other kernels round apart, and a model of
// this size says something else then.
//   smollm2_golden MODEL.gguf BACKEND.so
#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int kTokens = 48;
constexpr int kContext = 512;
constexpr const char* kSystem = "You are a helpful assistant.";
constexpr const char* kQuestions[] = {
    "What is the capital of France?",
    "Name three colours of the rainbow.",
    "Write one sentence about the sea.",
};

struct Free {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
};

std::string Render(const llama_model* model, const char* question) {
  const llama_chat_message messages[] = {{"system", kSystem}, {"user", question}};
  std::string text(4096, '\0');
  const int32_t size =
      llama_chat_apply_template(llama_model_chat_template(model, nullptr), messages, 2, true,
                                text.data(), static_cast<int32_t>(text.size()));
  text.resize(static_cast<size_t>(std::max(size, 0)));
  return text;
}

std::vector<llama_token> Tokens(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> tokens(text.size() + 8);
  const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()),
                                       tokens.data(), static_cast<int32_t>(tokens.size()),
                                       /*add_special=*/false, /*parse_special=*/true);
  tokens.resize(static_cast<size_t>(std::max(count, 0)));
  return tokens;
}

std::string Piece(const llama_vocab* vocab, llama_token token) {
  std::string text(256, '\0');
  const int32_t size =
      llama_token_to_piece(vocab, token, text.data(), static_cast<int32_t>(text.size()), 0, true);
  text.resize(static_cast<size_t>(std::max(size, 0)));
  return text;
}

// The greedy continuation, an end token included, and by how much each token was ahead of the next
// most probable one (logits).
nlohmann::json Continue(llama_context* context, const llama_vocab* vocab,
                        std::vector<llama_token> prompt) {
  llama_memory_clear(llama_get_memory(context), true);
  nlohmann::json tokens = nlohmann::json::array();
  std::string text;
  nlohmann::json margins = nlohmann::json::array();
  std::vector<llama_token> next = std::move(prompt);
  for (int i = 0; i < kTokens; ++i) {
    if (llama_decode(context,
                     llama_batch_get_one(next.data(), static_cast<int32_t>(next.size()))) != 0) {
      return nullptr;
    }
    const float* const logits = llama_get_logits_ith(context, -1);
    std::vector<float> row(logits, logits + llama_vocab_n_tokens(vocab));
    const auto best =
        static_cast<llama_token>(std::max_element(row.begin(), row.end()) - row.begin());
    std::nth_element(row.begin(), row.begin() + 1, row.end(), std::greater<>());
    margins.push_back(row[0] - row[1]);
    tokens.push_back(best);
    if (llama_vocab_is_eog(vocab, best)) {
      break;
    }
    text += Piece(vocab, best);
    next = {best};
  }
  return {{"tokens", tokens}, {"text", text}, {"margins", margins}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: smollm2_golden MODEL.gguf BACKEND.so\n");
    return 64;
  }
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr) {  // none is linked
    ggml_backend_load(argv[2]);
  }
  const std::unique_ptr<llama_model, Free> model(
      llama_model_load_from_file(argv[1], llama_model_default_params()));
  if (model == nullptr) {
    std::fprintf(stderr, "smollm2_golden: %s cannot be loaded\n", argv[1]);
    return 65;
  }
  llama_context_params params = llama_context_default_params();
  params.n_ctx = kContext;
  params.n_threads = 1;
  params.n_threads_batch = 1;
  const std::unique_ptr<llama_context, Free> context(llama_init_from_model(model.get(), params));
  if (context == nullptr) {
    return 70;
  }
  const llama_vocab* const vocab = llama_model_get_vocab(model.get());
  nlohmann::ordered_json golden;
  golden["system"] = kSystem;
  for (const char* const question : kQuestions) {
    const std::string prompt = Render(model.get(), question);
    nlohmann::ordered_json run;
    run["question"] = question;
    run["prompt"] = prompt;
    run.update(Continue(context.get(), vocab, Tokens(vocab, prompt)));
    golden["runs"].push_back(run);
  }
  std::printf("%s\n", golden.dump(1).c_str());
  return 0;
}
