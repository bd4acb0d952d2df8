#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "hyper/ask.h"
#include "hyper/driver.h"
#include "hyper/hyper.h"
#include "hyper/llama_engine.h"
#include "src/capi/engine_handle.h"
#include "src/capi/engine_options.h"
#include "src/report/json.h"
#include "src/report/options_json.h"

namespace hyper {
namespace {

hyper_status CodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return HYPER_INVALID_ARGUMENT;
    case ErrorCode::kNotFound:
      return HYPER_NOT_FOUND;
    case ErrorCode::kUnsupported:
      return HYPER_UNSUPPORTED;
    case ErrorCode::kResourceExhausted:
      return HYPER_RESOURCE_EXHAUSTED;
    case ErrorCode::kUnavailable:
      return HYPER_UNAVAILABLE;
    case ErrorCode::kDataLoss:
      return HYPER_DATA_LOSS;
    case ErrorCode::kCancelled:
      return HYPER_CANCELLED;
    case ErrorCode::kInternal:
      break;
  }
  return HYPER_INTERNAL;
}

// A copy that hyper_free frees; null where memory ran out.
char* CopyText(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) {
    std::memcpy(copy, text.c_str(), text.size() + 1);
  }
  return copy;
}

std::string TextOr(const char* text, const char* absent) { return text == nullptr ? absent : text; }

hyper_status Report(const Error& error, char** out) {
  if (out != nullptr) {
    *out = CopyText(error.message);
  }
  return CodeOf(error.code);
}

// Runs `body`, which returns a Status, and turns whatever it ends with into a code and a message.
template <class Body>
hyper_status Guarded(char** error, Body&& body) {
  if (error != nullptr) {
    *error = nullptr;
  }
  try {
    const Status status = body();
    return status ? HYPER_OK : Report(status.error(), error);
  } catch (const std::bad_alloc&) {
    return Report({ErrorCode::kResourceExhausted, "memory ran out"}, error);
  } catch (const std::exception& failure) {
    return Report({ErrorCode::kInternal, failure.what()}, error);
  } catch (...) {
    return Report({ErrorCode::kInternal, "a callback threw something unknown"}, error);
  }
}

// Hands records to the caller as they come, and keeps those that the report reads.
class RecordSink {
 public:
  RecordSink(hyper_record_callback on_record, void* context)
      : on_record_(on_record), context_(context) {}

  // False: the caller wants to stop. Records after that one are not handed over.
  bool Take(std::vector<Record> records) {
    for (Record& record : records) {
      if (on_record_ != nullptr && !stopped_) {
        stopped_ = on_record_(DumpJson(RecordJson(record)).c_str(), context_) != 0;
      }
      if (std::holds_alternative<DecisionRecord>(record) ||
          std::holds_alternative<StopRecord>(record)) {
        reported_.push_back(std::move(record));
      }
    }
    return !stopped_;
  }

  const std::vector<Record>& reported() const { return reported_; }

 private:
  hyper_record_callback on_record_;
  void* context_;
  bool stopped_ = false;
  std::vector<Record> reported_;
};

Result<std::string> Answer(Engine& engine, const char* question, const char* options_json,
                           RecordSink& sink) {
  const Result<AskRequest> request = ParseAskOptions(TextOr(options_json, ""));
  if (!request) {
    return request.error();
  }
  const Result<std::unique_ptr<Session>> prepared =
      PrepareSession(engine, question, request->options);
  if (!prepared) {
    return prepared.error();
  }
  Session& session = **prepared;
  Driver driver(engine);
  driver.Add(&session);
  while (!driver.idle()) {
    const Status status = driver.Step(/*timeout_s=*/1.0);
    const bool go_on = sink.Take(session.TakeRecords());
    if (!status) {
      return status.error();
    }
    if (!go_on) {
      session.Stop("the caller stopped it");
    }
  }
  if (!session.status()) {
    return session.status().error();
  }
  return DumpJson(ReportJson({request->options.method, engine.model(), request->options.seed,
                              sink.reported(), request->timing},
                             session, session.Result()));
}

}  // namespace
}  // namespace hyper

const char* hyper_version() { return HYPER_VERSION; }

hyper_status hyper_engine_open(const char* model_path, const char* options_json,
                               hyper_engine** engine, char** error) {
  return hyper::Guarded(error, [&]() -> hyper::Status {
    if (engine == nullptr || model_path == nullptr) {
      return hyper::InvalidArgument("model_path and engine must not be null");
    }
    *engine = nullptr;
    hyper::Result<hyper::LlamaOptions> options =
        hyper::ParseEngineOptions(hyper::TextOr(options_json, ""), model_path);
    if (!options) {
      return options.error();
    }
    hyper::Result<std::unique_ptr<hyper::Engine>> made = hyper::MakeLlamaEngine(*options);
    if (!made) {
      return made.error();
    }
    *engine = new hyper_engine{std::move(*made)};
    return {};
  });
}

void hyper_engine_close(hyper_engine* engine) { delete engine; }

hyper_status hyper_ask(hyper_engine* engine, const char* question, const char* options_json,
                       hyper_record_callback on_record, void* context, char** result_json,
                       char** error) {
  return hyper::Guarded(error, [&]() -> hyper::Status {
    if (engine == nullptr || question == nullptr || result_json == nullptr) {
      return hyper::InvalidArgument("engine, question and result_json must not be null");
    }
    *result_json = nullptr;
    hyper::RecordSink sink(on_record, context);
    hyper::Result<std::string> result =
        hyper::Answer(*engine->engine, question, options_json, sink);
    if (!result) {
      return result.error();
    }
    *result_json = hyper::CopyText(*result);
    if (*result_json == nullptr) {
      return hyper::Error{hyper::ErrorCode::kResourceExhausted, "memory ran out"};
    }
    return {};
  });
}

void hyper_free(char* text) { std::free(text); }
