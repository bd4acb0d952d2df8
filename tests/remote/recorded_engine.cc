#include "tests/remote/recorded_engine.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "src/engine/remote/wire/request.h"

namespace hyper::test {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // alternatives that tie stay in the server's order

Error Unsupported() { return {ErrorCode::kUnsupported, "recorded streams cannot do this"}; }

std::string BytesOf(const OrderedJson& entry) {
  std::string bytes;
  for (const OrderedJson& byte : entry["bytes"]) {
    bytes += static_cast<char>(byte.get<int>());
  }
  return bytes;
}

// K of the refined tokens that a request asks for.
int RoutesOf(const Json& request) {
  return request.contains("vllm_xargs") ? request["vllm_xargs"]["hyper_k"].get<int>() : 1;
}

}  // namespace

RecordedEngine::RecordedEngine(const std::vector<Json>& exchanges) {
  capabilities_.routing = true;
  capabilities_.max_top_count = 20;
  capabilities_.max_lanes = 64;
  capabilities_.max_rows = 1024;
  capabilities_.context_tokens = 1024;
  for (const Json& exchange : exchanges) {
    if (exchange["path"] == "/apply-template" || exchange["path"] == "/detokenize") {
      prompt_.text = Json::parse(exchange["body"].get<std::string>())["prompt"];
      prompt_.reasoning_opened = prompt_.text.find("<think>") != std::string::npos;
    } else if (exchange["path"] == "/v1/completions" && exchange["request"]["stream"] == true) {
      ReadStream(exchange);
    }
  }
}

// llama-server: each token has its number and bytes.
void RecordedEngine::ReadNumbered(const OrderedJson& logprobs, std::vector<SaidToken>& stream) {
  for (const OrderedJson& entry : logprobs["content"]) {
    SaidToken said{entry["id"], entry["logprob"], {}};
    texts_[said.token] = BytesOf(entry);
    for (const OrderedJson& other : entry["top_logprobs"]) {
      said.top.push_back({other["id"], other["logprob"]});
    }
    stream.push_back(std::move(said));
  }
}

// vLLM: alternatives have only names, the chosen token first.
void RecordedEngine::ReadNamed(const OrderedJson& logprobs, std::vector<SaidToken>& stream) {
  for (size_t i = 0; i < logprobs["tokens"].size(); ++i) {
    SaidToken said{Named(logprobs["tokens"][i]), logprobs["token_logprobs"][i], {}};
    for (const auto& [name, logprob] : logprobs["top_logprobs"][i].items()) {
      said.top.push_back({Named(name), logprob});
    }
    std::stable_sort(said.top.begin(), said.top.end(), [](const auto& one, const auto& other) {
      return one.logprob > other.logprob;
    });
    said.top.resize(std::min(said.top.size(), size_t{20}));
    stream.push_back(std::move(said));
  }
}

Token RecordedEngine::Named(const std::string& name) {
  const auto [found, added] = names_.emplace(name, static_cast<Token>(names_.size()));
  if (added) {
    texts_[found->second] = name;
  }
  return found->second;
}

void RecordedEngine::ReadStream(const Json& exchange) {
  const Json& request = exchange["request"];
  if (prompt_.tokens.empty()) {
    prompt_.tokens = request["prompt"].get<std::vector<Token>>();
  }
  std::vector<SaidToken> stream;
  std::istringstream lines(exchange["body"].get<std::string>());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data: {")) {
      continue;
    }
    const OrderedJson choice = OrderedJson::parse(line.substr(6))["choices"][0];
    const OrderedJson& logprobs = choice["logprobs"];
    if (logprobs.contains("content")) {
      ReadNumbered(logprobs, stream);
    } else if (logprobs.is_object()) {
      ReadNamed(logprobs, stream);
    }
    if (choice["finish_reason"] == "stop") {
      end_ = stream.back().token;
    }
  }
  streams_.try_emplace({request["seed"].get<uint32_t>(), RoutesOf(request)}, std::move(stream));
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

LaneId RecordedEngine::Insert(std::vector<Token> history, const LaneSpec& spec) {
  lanes_[next_lane_] = {std::move(history), spec.path_key};
  return next_lane_++;
}

Result<LaneId> RecordedEngine::Open(std::span<const Token> prompt, const LaneSpec& spec) {
  return Insert({prompt.begin(), prompt.end()}, spec);
}

Result<LaneId> RecordedEngine::Fork(LaneId lane, int position, const LaneSpec& spec) {
  const std::vector<Token>& history = lanes_.at(lane).history;
  return Insert({history.begin(), history.begin() + position}, spec);
}

Status RecordedEngine::Route(LaneId lane, const std::optional<RouteSpec>& spec) {
  const int routes = spec ? spec->routes : 1;
  if (routes > 1 || lanes_.at(lane).routes > 1) {
    lanes_.at(lane).stream = nullptr;  // what it holds was made the other way
  }
  lanes_.at(lane).routes = routes;
  return {};
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

// The lane's next token: of its stream, or of the one that was recorded for what comes behind it.
const RecordedEngine::SaidToken* RecordedEngine::NextOf(Lane& lane) const {
  if (lane.stream == nullptr || lane.next == lane.stream->size()) {
    const int length = static_cast<int>(lane.history.size());
    const auto found = streams_.find({remote::RequestSeed(lane.key, length, 0), lane.routes});
    lane.stream = found == streams_.end() ? nullptr : &found->second;
    lane.next = 0;
  }
  const bool empty = lane.stream == nullptr || lane.stream->empty();
  return empty ? nullptr : &(*lane.stream)[lane.next++];
}

void RecordedEngine::Decode(LaneId id, Lane& lane) {
  Event event;
  event.lane = id;
  const SaidToken* next = NextOf(lane);
  if (next == nullptr) {
    event.kind = EventKind::kFailed;
    event.error = {ErrorCode::kNotFound, "the recording ends here"};
    lane.granted = 0;
    events_.push_back(std::move(event));
    return;
  }
  const SaidToken& said = *next;
  event.routes = lane.routes;
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
