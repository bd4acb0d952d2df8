#include "src/server/api/unserved_fields.h"

#include <string>
#include <string_view>
#include <vector>

#include "hyper/options.h"

namespace hyper::server {
namespace {

constexpr const char* kNoGrammar = "the engine has no grammars";
constexpr const char* kDistribution =
    "it would change the distribution that confidences are read from";
constexpr const char* kEnd = "a text ends at its end token or at a string of 'stop'";
constexpr const char* kMaxTokens = "'max_tokens' gives the limit here";
constexpr const char* kTemplate = "'chat_template_kwargs' reaches the chat template";
constexpr const char* kTextOnly = "only text is read and written here";

struct Unserved {
  const char* name;
  Json off;  // the value that changes nothing, beside null and what is empty
  const char* why;
};

// Of vLLM, SGLang, llama-server, Ollama and Transformers.
const std::vector<Unserved>& UnservedFields() {
  static const std::vector<Unserved> fields = {
      {"guided_json", {}, kNoGrammar},
      {"guided_regex", {}, kNoGrammar},
      {"guided_choice", {}, kNoGrammar},
      {"guided_grammar", {}, kNoGrammar},
      {"structured_outputs", {}, kNoGrammar},
      {"structural_tag", {}, kNoGrammar},
      {"grammar", {}, kNoGrammar},
      {"json_schema", {}, kNoGrammar},
      {"regex", {}, kNoGrammar},
      {"ebnf", {}, kNoGrammar},
      {"format", {}, kNoGrammar},
      {"repetition_penalty", 1, kDistribution},
      {"repeat_penalty", 1, kDistribution},
      {"no_repeat_ngram_size", 0, kDistribution},
      {"dry_multiplier", 0, kDistribution},
      {"typical_p", 1, kDistribution},
      {"tfs_z", 1, kDistribution},
      {"top_a", 0, kDistribution},
      {"top_n_sigma", -1, kDistribution},
      {"nsigma", 0, kDistribution},
      {"smoothing_factor", 0, kDistribution},
      {"smoothing_curve", 1, kDistribution},
      {"mirostat", 0, kDistribution},
      {"dynatemp_range", 0, kDistribution},
      {"xtc_probability", 0, kDistribution},
      {"samplers", {}, kDistribution},
      {"allowed_token_ids", {}, kDistribution},
      {"bad_words", {}, kDistribution},
      {"logits_processors", {}, kDistribution},
      {"custom_logit_processor", {}, kDistribution},
      {"use_beam_search", false, kDistribution},
      {"num_beams", 1, kDistribution},
      {"length_penalty", 1, kDistribution},
      {"lora", {}, "the model has no adapters here"},
      {"min_tokens", 0, kEnd},
      {"min_new_tokens", 0, kEnd},
      {"ignore_eos", false, kEnd},
      {"stop_token_ids", {}, kEnd},
      {"stop_regex", {}, kEnd},
      {"include_stop_str_in_output", false, kEnd},
      {"no_stop_trim", false, kEnd},
      {"skip_special_tokens", true, kEnd},
      {"n_predict", -1, kMaxTokens},
      {"t_max_predict_ms", 0, kMaxTokens},
      {"num_predict", -1, kMaxTokens},
      {"max_new_tokens", {}, kMaxTokens},
      {"truncate_prompt_tokens", {}, "a prompt is taken whole or not at all"},
      {"chat_template", {}, kTemplate},
      {"documents", {}, kTemplate},
      {"enable_thinking", {}, kTemplate},
      {"think", {}, kTemplate},
      {"thinking", {}, kTemplate},
      {"thinking_budget", {}, kTemplate},
      {"thinking_budget_tokens", {}, kTemplate},
      {"verbosity", "medium", kTemplate},
      {"modalities", Json::array({"text"}), kTextOnly},
      {"audio", {}, kTextOnly},
      {"web_search_options", {}, "nothing is looked up here"},
      {"options", {}, "the fields of the OpenAI API hold them here"}};
  return fields;
}

// The form that the answer is to have, under the name that the endpoint has for it.
void CheckFormat(FieldReader& fields, const char* name, const Json& format) {
  const auto type = format.is_object() ? format.find("type") : format.end();
  if (!format.is_object() || type == format.end() || !type->is_string()) {
    fields.Fail(name, fmt::format("'{}' takes an object with a type", name));
  } else if (*type != "text") {
    fields.Refuse(name, fmt::format("{}; only type \"text\" is served", kNoGrammar));
  }
}

// Functions, and the choice among them: none may be called, so with the choice "none" they may
// stand in a request.
void RefuseFunctions(FieldReader& fields, const char* list_name, const char* choice_name) {
  const Json* list = fields.Find(list_name);
  const Json* choice = fields.Find(choice_name);
  const bool none = choice != nullptr && *choice == "none";
  if (list != nullptr && !list->is_array()) {
    fields.Fail(list_name, fmt::format("'{}' takes an array", list_name));
  } else if (list != nullptr && !list->empty() && !none) {
    fields.Refuse(list_name,
                  fmt::format("functions are not called here; with '{}' \"none\" it is ignored",
                              choice_name));
  }
  if (choice != nullptr && !none && *choice != "auto") {
    fields.Refuse(choice_name, "functions are not called here; \"none\" and \"auto\" are taken");
  }
}

// An option of "hyper" that stands beside it would be ignored, and the run would be another one.
void RefuseOptionsOutside(FieldReader& fields) {
  const auto refuse = [&fields](const char* name) {
    if (fields.Find(name) != nullptr) {
      fields.Fail(name, fmt::format("'{0}' belongs inside \"hyper\": {{\"{0}\": ...}}", name));
    }
  };
  refuse("method");
  refuse("preset");
  MethodOptions defaults;
  for (const Option& option : OptionsOf(defaults)) {
    // Two of them are fields of OpenAI's; their `stop` is a list of texts.
    const std::string_view name = option.info().name;
    if (name != "temperature" && name != "stop") {
      refuse(option.info().name);
    }
  }
}

}  // namespace

void RefuseUnserved(FieldReader& fields) {
  if (const Json* format = fields.Find("response_format")) {
    CheckFormat(fields, "response_format", *format);
  }
  if (const Json* text = fields.Find("text")) {  // of /v1/responses
    if (!text->is_object()) {
      fields.Fail("text", "'text' takes an object");
    } else if (const Json* format = FieldReader(*text).Find("format")) {
      CheckFormat(fields, "text.format", *format);
    }
  }
  RefuseFunctions(fields, "tools", "tool_choice");
  RefuseFunctions(fields, "functions", "function_call");
  for (const Unserved& unserved : UnservedFields()) {
    const Json* value = fields.Find(unserved.name);
    const bool empty = value != nullptr && (value->is_string() || value->is_structured()) &&
                       (*value == "" || value->empty());
    if (value != nullptr && !empty && *value != unserved.off) {
      fields.Refuse(unserved.name, unserved.why);
    }
  }
  RefuseOptionsOutside(fields);
}

}  // namespace hyper::server
