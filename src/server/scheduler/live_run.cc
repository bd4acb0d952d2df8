#include "src/server/scheduler/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hyper/ask.h"
#include "hyper/method.h"
#include "src/report/winner.h"
#include "src/server/api/reply_wish.h"
#include "src/server/scheduler/plain_method.h"
#include "src/server/scheduler/waiting_line.h"

namespace hyper::server {
namespace {

ApiError ContextExceeded(const std::string& field, size_t tokens, int context) {
  return {400, "exceed_context_size_error", "context_length_exceeded", field,
          fmt::format("the prompt has {} tokens, but the context holds {}; shorten it or start the "
                      "server with more context",
                      tokens, context)};
}

// An error of the engine: a server that it decodes on is upstream of this one.
ApiError EngineError(const Error& error) {
  return error.code == ErrorCode::kUnavailable
             ? ApiError{502, "server_error", "upstream_failed", "", error.message}
             : FromError(error);
}

// Tokens of all paths, judges and probes; where the prompt is scored, that is no completion.
int64_t CompletionTokens(const Ledger& ledger, const ServedRun& request) {
  return request.prompt_logprobs ? ledger.generated : ledger.effective() - ledger.extra_routes;
}

// What a session may take: enough for every path to its end, so that runs beside each other never
// prune each other's paths. A pool leaves to plain runs what is `kept`. Where pools share the
// cells, one has its part and prunes within it.
Reservation MostOf(const ServedRun& request, size_t prompt_tokens, const Engine& engine, int pools,
                   const Reservation& kept) {
  const bool plain = request.method == kPlainMethod;
  Reservation most = ReservationOf(request.plan.options, engine, {plain ? request.choices : 0, 0});
  const auto prompt = static_cast<int64_t>(prompt_tokens);
  const int64_t path = request.plan.options.max_tokens;
  const int64_t rows = int64_t{most.lanes} * (plain ? request.routes : 1);
  const int scoring = request.prompt_logprobs ? 1 : 0;  // a lane, and a sequence beside it
  const int64_t part =
      plain ? most.cells : std::max((most.cells - kept.cells) / pools, prompt + path);
  most.lanes = plain ? std::min(most.lanes + scoring, engine.capabilities().max_lanes)
                     : std::min(most.lanes, engine.capabilities().max_lanes - kept.lanes);
  most.cells = std::min(prompt + rows * path + scoring * (prompt + 1), part);
  return most;
}

}  // namespace

LiveRun::LiveRun(std::string id, ServedRun request, std::shared_ptr<ReplyQueue> reply,
                 std::shared_ptr<RunLog> log, double submitted_s)
    : id_(std::move(id)),
      request_(std::move(request)),
      times_(submitted_s),
      waiting_bytes_(WaitingBytes(request_)),
      reply_(std::move(reply)),
      log_(std::move(log)) {}

std::optional<ApiError> LiveRun::MakeSession(Engine& engine, RequestPrompt rendered, int pools,
                                             const Reservation& kept) {
  Prompt& prompt = rendered.prompt;
  const int context = engine.capabilities().context_tokens;
  if (prompt.tokens.size() >= static_cast<size_t>(context)) {
    return ContextExceeded(request_.prompt_field, prompt.tokens.size(), context);
  }
  MethodOptions& options = request_.plan.options;
  options.max_tokens =
      std::min(options.max_tokens, context - static_cast<int>(prompt.tokens.size()));
  SessionSpec spec;
  spec.most = MostOf(request_, prompt.tokens.size(), engine, pools, kept);
  spec.prompt = std::move(prompt);
  spec.seed = {request_.seed, 0};
  spec.limits = request_.limits;
  spec.token_records = request_.token_records;
  spec.logit_bias = request_.logit_bias;
  std::unique_ptr<Method> method;  // the plan's, where there is none here
  if (plain()) {
    spec.score_tops = request_.prompt_logprobs && *request_.top_logprobs > 0;
    method = std::make_unique<PlainMethod>(
        request_.nothing_written ? 0 : request_.choices, request_.routes,
        [this](const Path& path) { return Feed(path, static_cast<int>(path.id)); },
        request_.prompt_logprobs ? [this](const PromptScores& scores) { TellPrompt(scores); }
                                 : PlainMethod::PromptObserver());
  } else {
    spec.extractor =
        request_.wish.json_schema.empty() ? ExtractorFor(request_.extract) : JsonExtractor();
    if (spec.prompt.form != nullptr && spec.prompt.form->read) {
      spec.extractor = CallExtractor(spec.prompt.form, std::move(spec.extractor));
    }
    if (!rendered.start.empty()) {  // the answer may begin there
      spec.extractor = [read = std::move(spec.extractor), start = std::move(rendered.start),
                        inside = rendered.start_in_reasoning](std::string_view text, bool finished,
                                                              bool /*reasoning_opened*/) {
        return read(start + std::string(text), finished, inside);
      };
    }
  }
  Result<std::unique_ptr<Session>> session =
      OpenSession(engine, request_.plan, std::move(spec), std::move(method));
  if (!session) {
    return FromError(session.error());
  }
  session_ = std::move(*session);
  return std::nullopt;
}

TextStream::Options LiveRun::StreamOptions() const {
  TextStream::Options options;
  options.starts_in_reasoning = session_->pool().prompt().reasoning_opened;
  options.stop = request_.stop;
  if (request_.messages.empty() || !request_.wish.tools.empty()) {
    options.starts_in_reasoning = false;
    options.tags.clear();  // raw completions are what the model wrote
  }
  return options;
}

bool LiveRun::Prepare(Engine& engine, int pools, const Reservation& kept) {
  engine_ = &engine;
  Result<RequestPrompt> prompt = RenderRequest(engine, request_);
  std::optional<ApiError> error;
  if (!prompt) {
    error = EngineError(prompt.error());
    error->param = error->status == 400 ? request_.wish_field : "";
  } else {
    error = MakeSession(engine, std::move(*prompt), pools, kept);
  }
  if (error) {
    Refuse(std::move(*error));
    return false;
  }
  for (int i = 0; i < request_.choices; ++i) {
    Choice& choice = choices_.emplace_back(StreamOptions());
    if (const auto& form = session_->pool().prompt().form; form != nullptr && form->read) {
      choice.calls.emplace(form->read, fmt::format("call_{}_{}", id_, request_.first_choice + i));
    }
  }
  return true;
}

void LiveRun::Accept() {
  const Prompt& ready = session_->pool().prompt();
  const std::string& question = ready.question.empty() ? ready.text : ready.question;
  const Json head = {{"record", "run"},
                     {"id", id_},
                     {"method", request_.method},
                     {"model", {{"name", engine_->model().name}, {"hash", engine_->model().hash}}},
                     {"seed", request_.seed},
                     {"question", question},
                     {"prompt", ready.text},
                     {"prompt_tokens", ready.tokens},
                     {"options", OptionsJson(session_->pool().options())}};
  log_->Append(DumpJson(head));
  ReplyEvent accepted;
  accepted.kind = ReplyEvent::Kind::kAccepted;
  accepted.choice = request_.first_choice;
  accepted.choices = request_.choices;
  accepted.content = request_.messages.empty() ? ready.text : "";
  reply_->Push(std::move(accepted));
  if (request_.fork) {
    session_->pool().Emit(NoticeRecord{request_.fork->notice});
  }
  if (request_.records) {
    ReplyEvent first;
    first.kind = ReplyEvent::Kind::kRecord;
    first.json = head;
    reply_->Push(std::move(first));
  }
}

void LiveRun::Refuse(ApiError error) {
  log_->Append(DumpJson({{"record", "error"}, {"message", error.message}}));
  log_->Close();
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::kError;
  event.error = std::move(error);
  reply_->Push(std::move(event));
}

void LiveRun::SharePrompt(PromptCache& cache) {
  if (!session_->started()) {
    return;
  }
  const Pool& pool = session_->pool();
  const std::vector<Token>& prompt = pool.prompt().tokens;
  if (!cached_tokens_) {
    cached_tokens_ = cache.Use(prompt);
  }
  if (prompt_kept_ || pool.running().empty()) {
    return;
  }
  const Path& path = pool.path(pool.running().front());
  if (path.kind == PathKind::kReasoning && path.length() > 0) {
    cache.Keep(path.lane, prompt);
    prompt_kept_ = true;
  }
}

int64_t LiveRun::used_tokens() const {
  return result_ ? static_cast<int64_t>(session_->pool().prompt().tokens.size()) +
                       CompletionTokens(result_->ledger, request_)
                 : 0;
}

Json LiveRun::Summary(const SessionResult& result) const {
  Json votes = Json::object();
  for (const auto& [rule, outcome] : result.votes) {
    votes[rule] = outcome.answer ? Json(*outcome.answer) : Json();
  }
  Json summary = {
      {"run", id_},
      {"method", request_.method},
      {"seed", request_.seed},
      {"partial", result.partial},
      {"partial_reason", result.partial_reason.empty() ? Json() : Json(result.partial_reason)}};
  if (!plain()) {
    summary["answer"] = result.answer ? Json(*result.answer) : Json();
    summary["vote_rule"] = result.vote_rule;
    summary["voting_paths"] = result.voting_paths;
    if (result.failed_paths > 0) {
      summary["failed_paths"] = result.failed_paths;
    }
    summary["votes"] = std::move(votes);
  }
  return summary;
}

std::function<void()> LiveRun::Finalize(RunMeters& meters, double now_s) {
  AfterStep(meters, now_s);
  const SessionResult& result = result_.emplace(session_->Result());
  if (!session_->status()) {
    Refuse(EngineError(session_->status().error()));
    return [] {};
  }
  if (plain()) {
    for (int i = 0; i < request_.choices; ++i) {
      FinishChoice(nullptr, i);  // those that a limit left without a path
    }
  } else {
    FinishChoice(WinningPath(session_->pool().paths(), result.answer), 0);
  }
  const ReportContext context{request_.method, engine_->model(), request_.seed, records_,
                              /*timing=*/true};
  Json report = {{"record", "result"}};
  report.update(ReportJson(context, *session_, result));
  Tell(std::move(report));
  log_->Close();
  ReplyEvent done;
  done.kind = ReplyEvent::Kind::kDone;
  done.usage.prompt_tokens = static_cast<int64_t>(session_->pool().prompt().tokens.size());
  done.usage.cached_tokens = cached_tokens_.value_or(0);
  done.usage.completion_tokens = CompletionTokens(result.ledger, request_);
  int64_t content_tokens = 0;
  for (const Choice& choice : choices_) {
    content_tokens += choice.consumed - choice.reasoning_tokens;
  }
  done.usage.reasoning_tokens = std::max<int64_t>(0, done.usage.completion_tokens - content_tokens);
  done.usage.ledger = result.ledger;
  done.json = Summary(result);
  return [reply = reply_, done = std::move(done)] { reply->Push(done); };
}

}  // namespace hyper::server
