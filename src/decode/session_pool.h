// The pool as driver and session see it: the one implementation of Pool, with what a method must
// not touch: events of the engine, KV shortages, the ledger.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hyper/pool.h"
#include "src/core/confidence.h"
#include "src/decode/cell_account.h"

namespace hyper {

class SessionPool final : public Pool {
 public:
  // `engine` must outlive the pool.
  SessionPool(Engine& engine, Config config);
  ~SessionPool() override;
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  const Config& config() const override { return config_; }
  Engine& engine() const override { return engine_; }
  const std::vector<Path>& paths() const override { return paths_; }
  const std::vector<PathId>& running() const override { return running_; }
  bool settled() const override { return pending_ == 0; }
  int64_t cells() const override { return cells_.cells(); }
  bool may_expand() const override { return may_expand_; }
  std::optional<double> threshold() const override { return threshold_; }
  const Ledger& ledger() const override { return ledger_; }
  Result<PathId> Open(uint64_t index, bool warmup) override;
  Result<PathId> Fork(PathId parent, int step, int child) override;
  Result<PathId> ForkAt(PathId parent, const ForkPoint& at, int step, int child) override;
  Result<PathId> OpenJudge(std::span<const Token> prompt, uint64_t number) override;
  Result<PathId> Probe(PathId path, std::span<const Token> question, int tokens) override;
  Status Extend(PathId path, std::span<const Token> tokens) override;
  Result<uint64_t> Score(PathId path, std::span<const std::vector<Token>> continuations) override;
  void Await(int64_t value_tokens) override;
  void Arrived() override { --pending_; }
  Status GrantAll(int count) override;
  Status Grant(PathId path, int count) override;
  Status Pause(PathId path) override;
  Status SetRoutes(PathId path, int routes) override;
  void Finish(PathId path, PathStatus status, const std::string& reason,
              PathId kept = kNoPath) override;
  void Discard(PathId path, const std::string& reason, PathId kept) override;
  void EndForCells(PathId path, bool last, const std::string& reason) override;
  void SetThreshold(std::optional<double> threshold) override { threshold_ = threshold; }
  void BeginPhase() override;
  void Emit(Record record) override { records_.push_back(std::move(record)); }
  std::vector<Record> TakeRecords() { return std::exchange(records_, {}); }

  // Applies one engine event to the path that owns its lane; returns that path, or kNoPath for a
  // lane that has been closed meanwhile.
  PathId Apply(const Event& event);
  // An event of the last poll said that the engine has no cells.
  bool stalled() const { return stalled_; }
  void ClearStall() { stalled_ = false; }
  // KV cells are short. Ends every refinement and forbids expansion, for good where the engine has
  // fewer cells than the reservation says (`stalled`).
  void StopExpansion(bool stalled);
  // The same again. Prunes the least confident path, or ends the last one; judges only where no
  // other path runs.
  void PruneForCells(const std::string& reason);
  // See Session::Widen.
  void Widen(int lanes);
  // Whom its lanes decode for (LaneSpec::owner); call before the first one is opened.
  void SetOwner(uint32_t owner) { owner_ = owner; }
  // Frees the cells of all lanes until Resume. Grants that come meanwhile wait for it.
  void Park();
  Status Resume();
  // The vote is decided: ends all running paths, whose answers are not read, so that they do not
  // vote.
  void EndDecided(StopRecord stop);
  // Rows of one token of every running path: paths and their extra routes.
  int Rows() const;
  Ledger& mutable_ledger() { return ledger_; }

 private:
  Path& Mutable(PathId id) { return paths_[static_cast<size_t>(id)]; }
  ConfidenceWindow EmptyWindow() const;
  ConfidenceWindow& WindowOf(PathId id) { return windows_[static_cast<size_t>(id)]; }
  LaneSpec SpecFor(uint64_t key, PathKind kind) const;
  // The first `position` tokens of a path, as one that runs.
  Path Beginning(const Path& from, int position) const;
  Result<LaneId> LaneAt(const Path& from, int position, const LaneSpec& spec);
  Result<PathId> ForkAs(PathKind kind, PathId parent, int step, int child);
  PathId Insert(Path path, ConfidenceWindow window);
  void ReadAnswer(Path& path);
  void Take(Path& path, const Event& event);
  void Append(Path& path, const Event& event);
  void EndLoop(Path& path);
  void Charge(const Path& path, const Event& event);
  void EndLane(Path& path, PathStatus status, const std::string& reason);
  void RecordEnd(const Path& path);
  // Prunes until every running path can have `count` tokens of the reservation; returns how many
  // each gets: fewer where only one path is left.
  int MakeRoom(int count);
  void RecordShortage(ShortageStep step, int routes, PathId path);
  void NotePeaks();

  Engine& engine_;
  Config config_;
  std::vector<Path> paths_;
  std::vector<ConfidenceWindow> windows_;  // by path
  std::vector<PathId> running_;
  std::vector<std::pair<LaneId, PathId>> lanes_;  // open lanes, sorted by lane
  CellAccount cells_;
  std::optional<double> threshold_;
  int pending_ = 0;       // running paths with a grant left, and what else is due
  bool stalled_ = false;  // an event of the last poll said so
  bool decided_ = false;
  bool parked_ = false;
  uint32_t owner_ = 0;
  bool may_expand_ = true;
  bool warmup_over_ = false;
  bool may_resume_ = true;      // expansion that stopped may go on once there are cells again
  std::vector<int> tokens_at_;  // of this phase: tokens generated at each position
  Ledger ledger_;
  std::vector<Record> records_;
};

}  // namespace hyper
