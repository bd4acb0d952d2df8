// Replies in the shapes of the OpenAI API: one object, or a stream of server-sent events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/server/api/reply.h"
#include "src/server/api/request_json.h"

namespace hyper::server {

// Makes the bytes of a reply out of the events of its runs. One object serves one request: either
// Stream for every event and nothing else, or Collect for every event and Body at the end.
class ReplyFormat {
 public:
  ReplyFormat(const ApiRequest& request, std::string id, int64_t created_s);
  virtual ~ReplyFormat() = default;

  // What the event adds to a stream; empty: nothing.
  virtual std::string Stream(const ReplyEvent& event) = 0;
  virtual void Collect(const ReplyEvent& event) = 0;
  virtual Json Body() const = 0;

  // All runs have ended.
  bool complete() const { return done_ >= runs_; }

 protected:
  // Adds up what the runs cost; called once for each kDone.
  void NoteDone(const ReplyEvent& event);
  Json UsageJson() const;  // as chat and completions show it

  std::string model_;
  std::string id_;
  int64_t created_s_;
  bool include_usage_;
  bool echo_;
  Usage usage_;
  Json ledgers_ = Json::array();
  Json summaries_ = Json::array();

 private:
  int runs_;
  int done_ = 0;
};

// The shape of an endpoint. Pure.
std::unique_ptr<ReplyFormat> MakeChatFormat(const ApiRequest& request, const std::string& id,
                                            int64_t created_s);
std::unique_ptr<ReplyFormat> MakeCompletionFormat(const ApiRequest& request, const std::string& id,
                                                  int64_t created_s);
std::unique_ptr<ReplyFormat> MakeResponsesFormat(const ApiRequest& request, const std::string& id,
                                                 int64_t created_s);

// Tokens with their log-probabilities and alternatives, as chat and responses show them. Pure.
Json TokensJson(const std::vector<TokenLogprobs>& logprobs);

// A server-sent event; `name` empty: the default one. Pure.
std::string ServerSentEvent(const std::string& name, const Json& data);

// A record as a hyper.* event. Pure.
std::string RecordEvent(const Json& record);

}  // namespace hyper::server
