#include "apps/hyper/commands/cluster_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

namespace hyper::app {
namespace {

constexpr int kRounds = 4;  // questions of each place that are counted

struct Lane {
  size_t place = 0;
  int tokens = 0;  // still to come
  double rows = 1;
};

struct Server {
  std::vector<Lane> active;
  std::deque<Lane> waiting;
  bool busy = false;
};

// A question in work.
struct Place {
  const ClusterQuestion* question = nullptr;
  size_t left = 0;  // paths of this phase
  bool warming = false;
  double begin_ms = 0;
};

class Simulation {
 public:
  Simulation(std::span<const ForwardTime> measured, std::span<const ClusterQuestion> questions,
             const Cluster& cluster)
      : measured_(measured),
        questions_(questions),
        cluster_(cluster),
        servers_(static_cast<size_t>(cluster.replicas)),
        places_(static_cast<size_t>(cluster.questions)) {}

  ClusterLoad Run() {
    for (size_t place = 0; place < places_.size(); ++place) {
      Begin(place);
    }
    const int64_t settled = cluster_.questions;
    while (finished_ < settled) {
      Step();
    }
    const double begin_ms = now_ms_;
    tokens_ = 0;
    row_sum_ = 0;
    forwards_ = 0;
    waited_ms_ = 0;
    const int64_t end = settled + int64_t{kRounds} * cluster_.questions;
    while (finished_ < end) {
      Step();
    }
    const double counted = static_cast<double>(finished_ - settled);
    const double seconds = (now_ms_ - begin_ms) / 1000;
    ClusterLoad load;
    load.tokens_per_s = static_cast<double>(tokens_) / seconds;
    load.questions_per_hour = 3600 * counted / seconds;
    load.seconds = waited_ms_ / counted / 1000;
    load.rows = row_sum_ / static_cast<double>(forwards_);
    load.controller_share = load.tokens_per_s * cluster_.controller_us / 1e6;
    if (load.controller_share > 1) {
      load.tokens_per_s /= load.controller_share;
      load.questions_per_hour /= load.controller_share;
      load.seconds *= load.controller_share;
      load.controller_share = 1;
    }
    return load;
  }

 private:
  using End = std::pair<double, size_t>;  // time and server

  void Begin(size_t index) {
    Place& place = places_[index];
    place.question = &questions_[begun_++ % questions_.size()];
    place.begin_ms = now_ms_;
    place.warming = !place.question->warmup.empty();
    Add(index, place.warming ? place.question->warmup : place.question->paths);
  }

  void Add(size_t index, const std::vector<int>& paths) {
    places_[index].left = paths.size();
    for (const int tokens : paths) {
      const auto load = [](const Server& server) {
        return server.active.size() + server.waiting.size();
      };
      const auto least = std::min_element(
          servers_.begin(), servers_.end(),
          [&load](const Server& one, const Server& other) { return load(one) < load(other); });
      least->waiting.push_back({index, tokens, places_[index].question->rows});
    }
    for (size_t server = 0; server < servers_.size(); ++server) {
      Start(server);
    }
  }

  // Begins a forward where none runs and there is something to decode.
  void Start(size_t index) {
    Server& server = servers_[index];
    if (server.busy) {
      return;
    }
    while (!server.waiting.empty() && static_cast<int>(server.active.size()) < cluster_.lanes) {
      server.active.push_back(server.waiting.front());
      server.waiting.pop_front();
    }
    if (server.active.empty()) {
      return;
    }
    double rows = 0;
    for (const Lane& lane : server.active) {
      rows += lane.rows;
    }
    server.busy = true;
    row_sum_ += rows;
    ++forwards_;
    ends_.emplace(now_ms_ + ForwardMs(measured_, rows), index);
  }

  // The next forward to end: a token for each of its lanes.
  void Step() {
    const auto [end, index] = ends_.top();
    ends_.pop();
    now_ms_ = end;
    Server& server = servers_[index];
    server.busy = false;
    tokens_ += static_cast<int64_t>(server.active.size());
    std::vector<size_t> ended;
    std::erase_if(server.active, [&ended](Lane& lane) {
      if (--lane.tokens > 0) {
        return false;
      }
      ended.push_back(lane.place);
      return true;
    });
    for (const size_t place : ended) {
      if (--places_[place].left == 0) {
        EndPhase(place);
      }
    }
    Start(index);
  }

  void EndPhase(size_t index) {
    Place& place = places_[index];
    if (std::exchange(place.warming, false) && !place.question->paths.empty()) {
      Add(index, place.question->paths);
      return;
    }
    ++finished_;
    waited_ms_ += now_ms_ - place.begin_ms;
    Begin(index);
  }

  std::span<const ForwardTime> measured_;
  std::span<const ClusterQuestion> questions_;
  Cluster cluster_;
  std::vector<Server> servers_;
  std::vector<Place> places_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  double now_ms_ = 0;
  size_t begun_ = 0;
  int64_t finished_ = 0;
  int64_t tokens_ = 0;
  int64_t forwards_ = 0;
  double row_sum_ = 0;
  double waited_ms_ = 0;
};

}  // namespace

double ForwardMs(std::span<const ForwardTime> measured, double rows) {
  if (rows <= measured.front().rows) {
    return measured.front().ms;
  }
  if (measured.size() == 1) {
    return measured.front().ms * rows / measured.front().rows;
  }
  const auto above = std::find_if(measured.begin() + 1, measured.end() - 1,
                                  [rows](const ForwardTime& time) { return time.rows >= rows; });
  const ForwardTime& from = *(above - 1);
  return from.ms + (above->ms - from.ms) * (rows - from.rows) / (above->rows - from.rows);
}

ClusterLoad SimulateCluster(std::span<const ForwardTime> measured,
                            std::span<const ClusterQuestion> questions, const Cluster& cluster) {
  return Simulation(measured, questions, cluster).Run();
}

}  // namespace hyper::app
