// The KV cells that the open lanes of a session hold, shared prefixes once.
#pragma once

#include <cstdint>
#include <vector>

#include "hyper/records.h"

namespace hyper {

class CellAccount {
 public:
  // The prompt of all reasoning paths, shared by them.
  explicit CellAccount(int64_t prompt_tokens) : prompt_tokens_(prompt_tokens) {}

  // A path was opened; paths come in order of their ids.
  //   parent     kNoPath: opened on a prompt      inherited  generated tokens shared with the
  //   parent judge_prompt  tokens of a judge's own prompt; -1: a reasoning path
  void Open(PathId parent, int inherited, int judge_prompt);
  // `count` tokens more.
  void Grow(PathId path, int count);
  // The path has ended; it goes on to hold what its open forks share with it.
  void Close(PathId path);

  int64_t cells() const { return own_cells_ + (reasoning_ > 0 ? prompt_tokens_ : 0); }

 private:
  struct Holding {
    PathId parent = kNoPath;
    int inherited = 0;
    int judge_prompt = -1;
    bool open = true;
    int tokens = 0;  // held, counted from the path's first one, inherited ones included
    std::vector<PathId> forks;
  };
  Holding& Of(PathId path) { return holdings_[static_cast<size_t>(path)]; }

  int64_t prompt_tokens_;
  int reasoning_ = 0;      // open reasoning paths
  int64_t own_cells_ = 0;  // of all holdings without what they share, and judges' prompts
  std::vector<Holding> holdings_;
};

}  // namespace hyper
