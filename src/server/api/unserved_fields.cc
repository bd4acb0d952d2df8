#include "src/server/api/unserved_fields.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/options.h"
#include "src/decode/ask_options.h"
#include "src/report/nearest.h"

namespace hyper::server {
namespace {

constexpr const char* kForm =
    "'response_format' of a chat gives the form of a reply, in /v1/responses 'text.format'";
constexpr const char* kDistribution =
    "it would change the distribution that confidences are read from; leave it out";
constexpr const char* kEnd = "a text ends at its end token or at a string of 'stop'";
constexpr const char* kMaxTokens =
    "'max_tokens' gives the limit, in /v1/responses 'max_output_tokens'";
constexpr const char* kTemplate = "'chat_template_kwargs' reaches the chat template";
constexpr const char* kReasoning = "reasoning is sent as 'reasoning_content' beside the content";
constexpr const char* kLogprobs = "'logprobs' gives those of the reply";
constexpr const char* kTokens = "token numbers are not sent";
constexpr const char* kTextOnly = "only text is read and written here";

struct Unserved {
  const char* name;
  std::vector<Json> off;  // values that change nothing, beside null and what is empty
  const char* why;
};

// Of the OpenAI API, vLLM, SGLang, llama-server, Ollama, Transformers and the clients of these. One
// that is not listed is refused all the same (RefuseUnknown): the list has the reasons, and the
// values that clients send although they change nothing.
const std::vector<Unserved>& UnservedFields() {
  static const std::vector<Unserved> fields = {
      {"response_format", {Json::object({{"type", "text"}})}, kForm},
      {"text", {}, kForm},
      {"guided_json", {}, kForm},
      {"guided_regex", {}, kForm},
      {"guided_choice", {}, kForm},
      {"guided_grammar", {}, kForm},
      {"structured_outputs", {}, kForm},
      {"structural_tag", {}, kForm},
      {"grammar", {}, kForm},
      {"grammar_type", {}, kForm},
      {"grammar_string", {}, kForm},
      {"json_schema", {}, kForm},
      {"regex", {}, kForm},
      {"ebnf", {}, kForm},
      {"format", {}, kForm},
      {"repetition_penalty", {1}, kDistribution},
      {"repeat_penalty", {1}, kDistribution},
      {"encoder_repetition_penalty", {1}, kDistribution},
      {"no_repeat_ngram_size", {0}, kDistribution},
      {"dry_multiplier", {0}, kDistribution},
      {"typical", {1}, kDistribution},
      {"typical_p", {1}, kDistribution},
      {"typ_p", {1}, kDistribution},
      {"tfs", {1}, kDistribution},
      {"tfs_z", {1}, kDistribution},
      {"top_a", {0}, kDistribution},
      {"top_n_sigma", {-1, 0}, kDistribution},
      {"nsigma", {0}, kDistribution},
      {"epsilon_cutoff", {0}, kDistribution},
      {"eta_cutoff", {0}, kDistribution},
      {"smoothing_factor", {0}, kDistribution},
      {"mirostat", {0}, kDistribution},
      {"mirostat_mode", {0}, kDistribution},
      {"dynamic_temperature", {false}, kDistribution},
      {"dynatemp_range", {0}, kDistribution},
      {"xtc_probability", {0}, kDistribution},
      {"penalty_alpha", {0}, kDistribution},
      {"guidance_scale", {1}, kDistribution},
      {"cfg_scale", {1}, kDistribution},
      {"negative_prompt", {}, kDistribution},
      {"samplers", {}, kDistribution},
      {"allowed_token_ids", {}, kDistribution},
      {"bad_words", {}, kDistribution},
      {"logits_processors", {}, kDistribution},
      {"custom_logit_processor", {}, kDistribution},
      {"do_sample", {true}, "'temperature' 0 decodes without sampling"},
      {"use_beam_search", {false}, kDistribution},
      {"num_beams", {1}, kDistribution},
      {"length_penalty", {1}, kDistribution},
      {"best_of", {1}, "all choices are returned; 'n' gives their number"},
      {"lora", {}, "the model has no adapters here"},
      {"min_tokens", {0}, kEnd},
      {"min_new_tokens", {0}, kEnd},
      {"min_length", {0}, kEnd},
      {"ignore_eos", {false}, kEnd},
      {"ban_eos_token", {false}, kEnd},
      {"stop_token_ids", {}, kEnd},
      {"stop_regex", {}, kEnd},
      {"include_stop_str_in_output", {false}, kEnd},
      {"no_stop_trim", {false}, kEnd},
      {"skip_special_tokens", {true}, kEnd},
      {"spaces_between_special_tokens", {true}, kEnd},
      {"n_predict", {-1}, kMaxTokens},
      {"t_max_predict_ms", {0}, kMaxTokens},
      {"num_predict", {-1}, kMaxTokens},
      {"max_length", {}, kMaxTokens},
      {"max_tokens", {}, kMaxTokens},
      {"max_completion_tokens", {}, kMaxTokens},
      {"max_output_tokens", {}, kMaxTokens},
      {"max_new_tokens", {}, kMaxTokens},
      {"truncate_prompt_tokens", {}, "a prompt is taken whole or not at all"},
      {"echo", {false}, "only /v1/completions repeats the prompt"},
      {"chat_template", {}, kTemplate},
      {"documents", {}, kTemplate},
      {"enable_thinking", {}, kTemplate},
      {"think", {}, kTemplate},
      {"thinking", {}, kTemplate},
      {"thinking_budget", {}, kTemplate},
      {"thinking_budget_tokens", {}, kTemplate},
      {"verbosity", {"medium"}, kTemplate},
      {"include_reasoning", {true}, kReasoning},
      {"separate_reasoning", {true}, kReasoning},
      {"stream_reasoning", {true}, kReasoning},
      {"reasoning_format", {"auto", "deepseek"}, kReasoning},
      {"n_probs", {0}, kLogprobs},
      {"prompt_logprobs", {0, false}, kLogprobs},
      {"return_logprob", {false}, kLogprobs},
      {"post_sampling_probs", {false}, kLogprobs},
      {"return_tokens", {false}, kTokens},
      {"return_token_ids", {false}, kTokens},
      {"return_tokens_as_token_ids", {false}, kTokens},
      {"parallel_tool_calls", {true, false}, "only chats call functions"},
      {"background", {false}, "a reply comes with its request"},
      {"modalities", {Json::array({"text"})}, kTextOnly},
      {"audio", {}, kTextOnly},
      {"web_search_options", {}, "nothing is looked up here"},
      {"options", {}, "the fields of the OpenAI API hold them here"},
      {"extra_body", {}, "its fields belong into the request itself"}};
  return fields;
}

// Fields that change no text, whatever they hold.
constexpr const char* kHarmless[] = {
    // Who asks, and where it is noted.
    "user", "metadata", "store", "safety_identifier", "client_metadata", "id", "request_id",
    "chat_id", "session_id", "message_id", "parent_id", "trace",
    // Who serves it, when, and what may be reused. A too long prompt is an error in any case.
    "service_tier", "priority", "provider", "models", "usage", "keep_alive", "ttl", "draft_model",
    "prediction", "id_slot", "slot_id", "n_keep", "cache_prompt", "cache_salt", "prompt_cache_key",
    "prompt_cache_retention", "prompt_cache_options", "background_options", "n_cache_reuse",
    "kv_transfer_params", "backend_sampling", "truncation", "t_max_prompt_ms",
    // What else is told.
    "timings_per_token", "return_progress", "verbose",
    // Of calls, where nothing may be called.
    "max_tool_calls", "parse_tool_calls",
    // Of samplers that are refused themselves.
    "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers",
    "dynatemp_exponent", "dynatemp_low", "dynatemp_high", "mirostat_tau", "mirostat_eta",
    "repeat_last_n", "penalty_last_n", "repetition_penalty_range", "smoothing_curve",
    "xtc_threshold", "early_stopping"};

bool IsEmpty(const Json& value) {
  return value.is_null() ||
         ((value.is_string() || value.is_structured()) && (value == "" || value.empty()));
}

// Functions, and the choice among them, where none may be called: with the choice "none" they may
// stand in a request.
void RefuseFunctions(FieldReader& fields, const char* list_name, const char* choice_name) {
  const Json* list = fields.Find(list_name);
  const Json* choice = fields.Find(choice_name);
  const bool none = choice != nullptr && *choice == "none";
  if (list != nullptr && !list->is_array()) {
    fields.Fail(list_name, fmt::format("'{}' takes an array", list_name));
  } else if (list != nullptr && !list->empty() && !none) {
    fields.Refuse(list_name,
                  fmt::format("a chat calls those of 'tools'; with '{}' \"none\" it is ignored",
                              choice_name));
  }
  if (choice != nullptr && !none && *choice != "auto") {
    fields.Refuse(choice_name, "a chat calls those of 'tools'; \"none\" and \"auto\" are taken");
  }
}

// An option of "hyper" that stands beside it would be ignored, and the run would be another one.
void RefuseOptionsOutside(FieldReader& fields) {
  std::set<std::string, std::less<>> options = {
      "method", "preset", "events", "progress", "route", "keep-reasoning", "keep-running"};
  MethodOptions of_method;
  AskOptions of_question;
  for (const std::vector<Option>& list : {OptionsOf(of_method), OptionsOf(of_question)}) {
    for (const Option& option : list) {
      options.insert(option.info().name);
    }
  }
  for (const auto& [name, value] : fields.object().items()) {
    std::string option = name;
    std::replace(option.begin(), option.end(), '_', '-');
    // Some are fields of OpenAI's, too.
    if (!value.is_null() && fields.names().count(name) == 0 && options.count(option) > 0) {
      fields.Fail(name,
                  fmt::format("'{}' belongs inside \"hyper\": {{\"{}\": ...}}", name, option));
    }
  }
}

// What the endpoint does not read and no list has may change the text as well.
void RefuseUnknown(FieldReader& fields, const std::vector<std::string>& served) {
  for (const auto& [name, value] : fields.object().items()) {
    const bool harmless =
        std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless);
    if (!harmless && !IsEmpty(value) && fields.names().count(name) == 0) {
      const std::string shown = ShownText(name);
      fields.Fail(
          ApiError{400, "invalid_request_error", "unknown_parameter", shown,
                   fmt::format("'{}' is not known here, and might change the text; leave it out{}",
                               shown, DidYouMean(name, served))});
    }
  }
}

}  // namespace

std::span<const char* const> HarmlessFields() { return kHarmless; }

void RefuseUnserved(FieldReader& fields) {
  const std::vector<std::string> served(fields.names().begin(), fields.names().end());
  if (fields.names().count("tools") == 0) {
    RefuseFunctions(fields, "tools", "tool_choice");
  }
  RefuseFunctions(fields, "functions", "function_call");
  for (const Unserved& unserved : UnservedFields()) {
    if (fields.names().count(unserved.name) > 0) {
      continue;  // this endpoint has read it
    }
    const Json* value = fields.Find(unserved.name);
    const std::vector<Json>& off = unserved.off;
    if (value != nullptr && !IsEmpty(*value) &&
        std::find(off.begin(), off.end(), *value) == off.end()) {
      fields.Refuse(unserved.name, unserved.why);
    }
  }
  RefuseOptionsOutside(fields);
  RefuseUnknown(fields, served);
}

}  // namespace hyper::server
