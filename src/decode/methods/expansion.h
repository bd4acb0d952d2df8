// What the controller's actions do to the pool (Sec. 3.1.2): lines 9 to 18 of Algorithm 1.
#pragma once

#include <string>
#include <vector>

#include "hyper/pool.h"
#include "hyper/records.h"

namespace hyper {

class Expansion {
 public:
  explicit Expansion(const MethodOptions& options) : options_(options) {}

  // How long a path is as a rule, in tokens; 0: not known.
  void SetUsualLength(double tokens) { usual_length_ = tokens; }

  // Applies decision.action and notes in the decision what it did: acted, paths_after, lanes_after,
  // and why it did less than it should. Branch makes at most `most_paths` (S_max) of the pool.
  Status Apply(Pool& pool, DecisionRecord& decision, int most_paths);

  // Ends an expansion of MultiToken: keeps of each family the continuation with the highest mean
  // confidence since the expansion, and discards the others. Nothing where none is open.
  void Merge(Pool& pool);
  bool open() const { return !families_.empty(); }
  // Tokens until Merge is due; as good as never where no expansion is open.
  int TokensToMerge() const;

 private:
  struct Family {  // a MultiToken root with its continuations, itself the first
    std::vector<PathId> members;
    int start = 0;  // generated tokens at the expansion
  };

  Status Refine(Pool& pool, DecisionRecord& decision) const;
  // Forks each root into r_t paths, the most confident roots first, while `free` lanes last. Roots
  // that have fewer than `cost` tokens left are not forked. `what` names the forks in the note.
  std::vector<Family> Fork(Pool& pool, DecisionRecord& decision, int free, int cost,
                           const char* what) const;
  std::vector<PathId> Roots(const Pool& pool, DecisionRecord& decision, int cost) const;
  void MergeFamily(Pool& pool, const Family& family) const;

  MethodOptions options_;
  double usual_length_ = 0;
  std::vector<Family> families_;
};

}  // namespace hyper
