#include "src/server/api/request_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "hyper/method.h"
#include "src/server/api/parse_fields.h"
#include "src/server/api/reply_wish.h"
#include "src/server/api/request_messages.h"
#include "src/server/api/request_options.h"
#include "src/server/api/unserved_fields.h"

namespace hyper::server {
namespace {

constexpr int kMostTopLogprobs = 20;
constexpr const char* kOutputLogprobs = "message.output_text.logprobs";
constexpr size_t kMostStops = 16;
constexpr int kLargest = 1 << 30;

void ReadSampling(FieldReader& fields, ServedRun& run) {
  SamplerSpec& sampler = run.plan.options.sampler;
  fields.TakeWithin("temperature", 0.0, 100.0, sampler.temperature);
  fields.TakeWithin("min_p", 0.0, 0.999999, sampler.min_p);
  int top_k = 0;
  if (fields.TakeWithin("top_k", -1, kLargest, top_k)) {
    sampler.top_k = std::max(top_k, 0);
  }
  double top_p = 1;
  if (fields.TakeWithin("top_p", 0.0, 1.0, top_p)) {
    if (top_p > 0) {
      sampler.top_p = top_p;
    } else {
      sampler.temperature = 0;  // nothing but the most probable token
    }
  }
  if (const Json* seed = fields.Find("seed")) {
    if (seed->is_number_integer()) {
      run.seed = seed->is_number_unsigned() ? seed->get<uint64_t>()
                                            : static_cast<uint64_t>(seed->get<int64_t>());
    } else {
      fields.Fail("seed", fmt::format("'seed' is {}; it takes an integer", Shown(*seed)));
    }
  }
  for (const char* penalty : {"presence_penalty", "frequency_penalty"}) {
    double value = 0;
    if (fields.TakeWithin(penalty, -2.0, 2.0, value) && value != 0) {
      fields.Refuse(
          penalty, "it would change the distribution that confidences are read from; leave it out");
    }
  }
}

void ReadStop(FieldReader& fields, ServedRun& run) {
  const Json* stop = fields.Find("stop");
  if (stop == nullptr) {
    return;
  }
  const Json list = stop->is_string() ? Json::array({*stop}) : *stop;
  bool good = list.is_array() && list.size() <= kMostStops;
  for (size_t i = 0; good && i < list.size(); ++i) {
    good = list[i].is_string() && !list[i].get_ref<const std::string&>().empty();
    if (good) {
      run.stop.push_back(list[i].get<std::string>());
    }
  }
  if (!good) {
    fields.Fail("stop",
                fmt::format("'stop' takes a string or at most {} strings, none empty", kMostStops));
  }
}

void ReadLogitBias(FieldReader& fields, const ServerLimits& limits, ServedRun& run) {
  const Json* bias = fields.Find("logit_bias");
  if (bias == nullptr) {
    return;
  }
  if (!bias->is_object()) {
    fields.Fail("logit_bias", "'logit_bias' takes an object from token numbers to -100 to 100");
    return;
  }
  for (const auto& [name, value] : bias->items()) {
    int token = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), token);
    const bool whole = error == std::errc() && end == name.data() + name.size();
    if (!whole || token < 0 || token >= limits.model.vocab_size || !value.is_number() ||
        !(std::abs(value.get<double>()) <= 100)) {
      fields.Fail("logit_bias",
                  fmt::format("'logit_bias' takes tokens 0 to {} with values from -100 to 100",
                              limits.model.vocab_size - 1));
      return;
    }
    run.logit_bias.emplace_back(token, value.get<float>());
  }
}

using FieldNames = std::vector<const char*>;

void ReadLength(FieldReader& fields, const ServerLimits& limits, ServedRun& run,
                const FieldNames& names) {
  for (const char* name : names) {
    fields.TakeWithin(name, 1, kLargest, run.plan.options.max_tokens);
  }
  run.plan.options.max_tokens = std::min(run.plan.options.max_tokens, limits.most_tokens);
  if (limits.most_time_s > 0) {
    const double asked = run.limits.time_s;
    run.limits.time_s = asked > 0 ? std::min(asked, limits.most_time_s) : limits.most_time_s;
  }
}

void ReadChatLogprobs(FieldReader& fields, ServedRun& run) {
  bool logprobs = false;
  int top = 0;
  fields.Take("logprobs", logprobs);
  if (fields.Find("top_logprobs") != nullptr) {
    fields.TakeWithin("top_logprobs", 0, kMostTopLogprobs, top);
    if (!logprobs) {
      fields.Fail("top_logprobs", "'top_logprobs' needs \"logprobs\": true");
    }
  }
  if (logprobs) {
    run.top_logprobs = top;
  }
}

// /v1/responses asks for them by an entry of `include`, or by a number of alternatives.
void ReadResponsesLogprobs(FieldReader& fields, ServedRun& run) {
  bool wanted = false;
  if (const Json* include = fields.Find("include")) {
    const auto is_text = [](const Json& entry) { return entry.is_string(); };
    if (!include->is_array() || !std::all_of(include->begin(), include->end(), is_text)) {
      fields.Fail("include", "'include' takes an array of names");
      return;
    }
    wanted = std::find(include->begin(), include->end(), kOutputLogprobs) != include->end();
  }
  int top = 0;
  fields.TakeWithin("top_logprobs", 0, kMostTopLogprobs, top);
  if (wanted || top > 0) {
    run.top_logprobs = top;
  }
}

// What /v1/responses asks of the text.
void ReadText(FieldReader& fields, ServedRun& run) {
  const Json* text = fields.Find("text");
  if (text == nullptr) {
    return;
  }
  if (!text->is_object()) {
    fields.Fail("text", "'text' takes an object");
    return;
  }
  for (const auto& [name, value] : text->items()) {
    if (name == "format" && !value.is_null()) {
      ReadResponseFormat(fields, "text.format", value, run);
    } else if (!value.is_null() && value != "" && value != "medium") {
      fields.Refuse(("text." + name).c_str(), "'chat_template_kwargs' reaches the chat template");
    }
  }
}

// What no request may ask for, and what pools cannot give; `logprobs_field` asks for them there.
void CheckRun(FieldReader& fields, const ServerLimits& limits, ServedRun& run,
              const char* logprobs_field = "logprobs") {
  if (run.top_logprobs) {
    run.plan.options.entropy_count = std::max(run.plan.options.entropy_count, *run.top_logprobs);
  }
  if (fields.error()) {
    return;
  }
  if (run.method == kPlainMethod) {
    return;
  }
  if (run.nothing_written) {
    fields.Refuse("max_tokens", fmt::format("method {} answers; 0 works with {}:plain", run.method,
                                            limits.model_name));
  }
  if (run.choices > 1) {
    fields.Refuse("n", fmt::format("method {} gives one choice; 'n' works with {}:plain",
                                   run.method, limits.model_name));
  }
  if (run.top_logprobs) {
    fields.Refuse(logprobs_field,
                  fmt::format("the answer of method {} is a vote; logprobs work with {}:plain",
                              run.method, limits.model_name));
  }
  const Status valid = Validate(run.plan.options);
  if (!valid) {
    fields.Fail("hyper", valid.error().message);
    return;
  }
  const int paths = std::max(WarmupCount(run.plan.options), PoolWidth(run.plan.options));
  if (limits.most_width > 0 && paths > limits.most_width) {
    fields.Fail("hyper.width",
                fmt::format("'hyper.width' {} needs {} paths at once; your key allows {}",
                            run.plan.options.width, paths, limits.most_width));
  }
  if (paths > limits.most_lanes) {
    fields.Fail("hyper.width", fmt::format("'hyper.width' {} needs {} paths at once; this server "
                                           "holds {} (hyper serve --lanes)",
                                           run.plan.options.width, paths, limits.most_lanes));
  }
}

// /v1/completions also takes max_tokens 0, and gives the prompt's log-probabilities, with echo.
void ReadEcho(FieldReader& fields, ApiRequest& api, ServedRun& run) {
  fields.Take("echo", api.echo);
  int logprobs = 0;
  if (fields.TakeWithin("logprobs", 0, kMostTopLogprobs, logprobs)) {
    run.top_logprobs = logprobs;
    run.prompt_logprobs = api.echo;
    if (api.echo && api.stream) {
      fields.Refuse("stream", "the log-probabilities of a prompt come in one piece");
    }
  }
  int most = 1;
  run.nothing_written = fields.TakeWithin("max_tokens", 0, kLargest, most) && most == 0;
  if (run.nothing_written && !api.echo) {
    fields.Fail("max_tokens", "'max_tokens' 0 asks for nothing; with \"echo\" it gives the prompt");
  }
}

// A reply is held in memory until it is whole; each log-probability takes some 500 bytes of it.
void BoundLogprobs(FieldReader& fields, const char* name, const std::vector<ServedRun>& runs) {
  constexpr int64_t kMost = 1 << 20;
  int64_t values = 0;
  for (const ServedRun& run : runs) {
    // A prompt has at most a token for each byte.
    const auto prompt = static_cast<int64_t>(run.prompt_text.size() + run.prompt_tokens.size());
    const int64_t tokens = (run.nothing_written ? 0 : run.plan.options.max_tokens) +
                           (run.prompt_logprobs ? prompt : 0);
    values += run.top_logprobs ? run.choices * tokens * (1 + int64_t{*run.top_logprobs}) : 0;
  }
  if (values > kMost) {
    fields.Fail(name, fmt::format("'{}' asks for up to {} log-probabilities in one reply, which "
                                  "holds {}; use fewer choices, tokens or alternatives",
                                  name, values, kMost));
  }
}

// Fields that chat and completions share, once the prompt is read.
void ReadCommon(FieldReader& fields, const ServerLimits& limits, ApiRequest& api, ServedRun& run) {
  ReadModel(fields, limits, api, run);
  ReadHyper(fields, limits, run);
  ReadSampling(fields, run);
  ReadStop(fields, run);
  ReadLogitBias(fields, limits, run);
  fields.TakeWithin("n", 1, limits.most_choices, run.choices);
  fields.Take("stream", api.stream);
  if (const Json* options = fields.Find("stream_options")) {
    if (!options->is_object()) {
      fields.Fail("stream_options", "'stream_options' takes an object");
      return;
    }
    FieldReader reader(*options);
    reader.Take("include_usage", api.include_usage);
    if (reader.error()) {
      fields.Fail("stream_options.include_usage", reader.error()->message);
    }
  }
}

}  // namespace

ParsedRequest ParseChatRequest(const std::string& body, const ServerLimits& limits) {
  return ParseFields<ApiRequest>(body, [&limits](FieldReader& fields, ApiRequest& api) {
    ServedRun run;
    ReadMessages(fields, "messages", KeepsReasoning(fields), run);
    ReadTemplateArguments(fields, run.template_arguments);
    ReadCommon(fields, limits, api, run);
    ReadChatLogprobs(fields, run);
    if (const Json* format = fields.Find("response_format")) {
      ReadResponseFormat(fields, "response_format", *format, run);
    }
    ReadTools(fields, run);
    ReadLength(fields, limits, run, {"max_tokens", "max_completion_tokens"});
    CheckRun(fields, limits, run);
    api.runs.push_back(std::move(run));
    BoundLogprobs(fields, "logprobs", api.runs);
    RefuseUnserved(fields);
  });
}

ParsedRequest ParseCompletionRequest(const std::string& body, const ServerLimits& limits) {
  return ParseFields<ApiRequest>(body, [&limits](FieldReader& fields, ApiRequest& api) {
    ServedRun run;
    run.prompt_field = "prompt";
    ReadCommon(fields, limits, api, run);
    if (fields.Find("suffix") != nullptr) {
      fields.Refuse("suffix", "text is only continued");
    }
    int best_of = run.choices;
    if (fields.TakeWithin("best_of", 1, kLargest, best_of) && best_of != run.choices) {
      fields.Refuse("best_of", "all choices are returned; it takes what 'n' is");
    }
    ReadEcho(fields, api, run);
    ReadLength(fields, limits, run, run.nothing_written ? FieldNames() : FieldNames{"max_tokens"});
    CheckRun(fields, limits, run);
    ReadPrompts(fields, limits.model.vocab_size, limits.most_prompts, run, api.runs);
    const size_t paths = api.runs.size() * static_cast<size_t>(run.choices);
    if (limits.most_width > 0 && paths > static_cast<size_t>(limits.most_width)) {
      fields.Fail("prompt", fmt::format("'prompt' and 'n' ask for {} texts; your key allows {}",
                                        paths, limits.most_width));
    }
    for (size_t i = 0; i < api.runs.size(); ++i) {
      api.runs[i].first_choice = static_cast<int>(i) * run.choices;
    }
    BoundLogprobs(fields, "logprobs", api.runs);
    RefuseUnserved(fields);
  });
}

ParsedRequest ParseResponsesRequest(const std::string& body, const ServerLimits& limits) {
  return ParseFields<ApiRequest>(body, [&limits](FieldReader& fields, ApiRequest& api) {
    ServedRun run;
    run.prompt_field = "input";
    ReadInput(fields, KeepsReasoning(fields), run);
    ReadTemplateArguments(fields, run.template_arguments);
    ReadCommon(fields, limits, api, run);
    if (run.choices > 1) {
      fields.Refuse("n", "/v1/responses gives one output");
    }
    for (const char* kept : {"previous_response_id", "conversation", "prompt"}) {
      if (fields.Find(kept) != nullptr) {
        fields.Refuse(kept, "nothing is kept here; send the whole conversation as 'input'");
      }
    }
    ReadResponsesLogprobs(fields, run);
    ReadText(fields, run);
    ReadLength(fields, limits, run, {"max_output_tokens"});
    const char* logprobs = fields.Find("include") != nullptr ? "include" : "top_logprobs";
    CheckRun(fields, limits, run, logprobs);
    api.runs.push_back(std::move(run));
    BoundLogprobs(fields, logprobs, api.runs);
    RefuseUnserved(fields);
  });
}

}  // namespace hyper::server
