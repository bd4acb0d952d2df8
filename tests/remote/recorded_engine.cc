#include "tests/remote/recorded_engine.h"

#include <sstream>
#include <utility>

#include "src/engine/remote/wire/request.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;

Error Unsupported() { return {ErrorCode::kUnsupported, "recorded streams cannot do this"}; }

std::string BytesOf(const Json& entry) {
  std::string bytes;
  for (const Json& byte : entry["bytes"]) {
    bytes += static_cast<char>(byte.get<int>());
  }
  return bytes;
}

}  // namespace

RecordedEngine::RecordedEngine(const std::vector<Json>& exchanges) {
  capabilities_.max_top_count = 20;
  capabilities_.max_lanes = 64;
  capabilities_.max_rows = 64;
  capabilities_.context_tokens = 1024;
  for (const Json& exchange : exchanges) {
    if (exchange["path"] == "/apply-template") {
      prompt_.text = Json::parse(exchange["body"].get<std::string>())["prompt"];
      prompt_.reasoning_opened = prompt_.text.find("<think>") != std::string::npos;
    } else if (exchange["path"] == "/v1/completions" && exchange["request"]["stream"] == true) {
      ReadStream(exchange);
    }
  }
}

void RecordedEngine::ReadStream(const Json& exchange) {
  const Json& request = exchange["request"];
  if (prompt_.tokens.empty()) {
    prompt_.tokens = request["prompt"].get<std::vector<Token>>();
  }
  std::vector<SaidToken>& stream = streams_[request["seed"].get<uint32_t>()];
  std::istringstream lines(exchange["body"].get<std::string>());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data: {")) {
      continue;
    }
    const Json choice = Json::parse(line.substr(6))["choices"][0];
    if (choice["logprobs"].is_object()) {
      for (const Json& entry : choice["logprobs"]["content"]) {
        SaidToken said{entry["id"], entry["logprob"], {}};
        texts_[said.token] = BytesOf(entry);
        for (const Json& other : entry["top_logprobs"]) {
          said.top.push_back({other["id"], other["logprob"]});
        }
        stream.push_back(std::move(said));
      }
    }
    if (choice["finish_reason"] == "stop") {
      end_ = stream.back().token;
    }
  }
}

Result<std::vector<Token>> RecordedEngine::Tokenize(std::string_view /*text*/,
                                                    bool /*parse_special*/) {
  return Unsupported();
}

Result<Prompt> RecordedEngine::RenderChat(
    std::span<const ChatMessage> messages,
    std::span<const std::pair<std::string, std::string>> /*template_arguments*/) {
  prompt_.question = messages.back().content;
  return prompt_;
}

Result<LaneId> RecordedEngine::Insert(std::vector<Token> history, const LaneSpec& spec) {
  const auto stream =
      streams_.find(remote::RequestSeed(spec.path_key, static_cast<int>(history.size()), 0));
  if (stream == streams_.end()) {
    return Error{ErrorCode::kNotFound, "no stream was recorded for this lane"};
  }
  lanes_[next_lane_] = {std::move(history), &stream->second, 0, 0};
  return next_lane_++;
}

Result<LaneId> RecordedEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  return Insert({prompt.begin(), prompt.end()}, spec);
}

Result<LaneId> RecordedEngine::Fork(LaneId lane, int position, const LaneSpec& spec) {
  const std::vector<Token>& history = lanes_.at(lane).history;
  return Insert({history.begin(), history.begin() + position}, spec);
}

Status RecordedEngine::Extend(LaneId /*lane*/, std::span<const Token> /*tokens*/) {
  return Unsupported();
}

Result<uint64_t> RecordedEngine::Score(LaneId /*lane*/,
                                       std::span<const std::vector<Token>> /*continuations*/) {
  return Unsupported();
}

Status RecordedEngine::Grant(LaneId lane, int count) {
  lanes_.at(lane).granted += count;
  return {};
}

Status RecordedEngine::Revoke(LaneId lane) {
  lanes_.at(lane).granted = 0;
  return {};
}

void RecordedEngine::Decode(LaneId id, Lane& lane) {
  Event event;
  event.lane = id;
  if (lane.next == lane.stream->size()) {
    event.kind = EventKind::kFailed;
    event.error = {ErrorCode::kNotFound, "the recording ends here"};
    lane.granted = 0;
    events_.push_back(std::move(event));
    return;
  }
  const SaidToken& said = (*lane.stream)[lane.next++];
  event.position = static_cast<int>(lane.history.size());
  event.token = said.token;
  event.logprob = said.logprob;
  event.top = said.top;
  lane.history.push_back(said.token);
  --lane.granted;
  events_.push_back(std::move(event));
  Event after;
  after.lane = id;
  after.kind = said.token == end_ ? EventKind::kEnd : EventKind::kBoundary;
  if (said.token == end_ || lane.granted == 0) {
    lane.granted = 0;
    events_.push_back(std::move(after));
  }
}

Result<std::span<const Event>> RecordedEngine::Poll(double /*timeout_s*/) {
  events_.clear();
  for (auto& [id, lane] : lanes_) {
    if (lane.granted > 0) {
      Decode(id, lane);
    }
  }
  return std::span<const Event>(events_);
}

}  // namespace hyper::test
