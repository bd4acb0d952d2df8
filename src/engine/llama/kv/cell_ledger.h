// Which KV cells sequences share: a tree of segments, so that a cell used by many counts once.
// Pure bookkeeping; KvPool keeps llama.cpp's memory in step with it.
#pragma once

#include <cstdint>
#include <vector>

namespace hyper::llama {

class CellLedger {
 public:
  explicit CellLedger(int sequences);

  // Cells of a sequence: positions [0, length).
  int Length(int sequence) const;
  // How many cells two sequences have in common, from the first one on.
  int Common(int a, int b) const;
  // Adds `count` cells of its own to a sequence.
  void Append(int sequence, int count);
  // Gives the empty sequence `to` the first `count` cells of `from`; 0 <= count <= Length(from).
  void Share(int from, int to, int count);
  // Drops a sequence's cells from position `length` on. Returns the first position from which on
  // they belonged to no other sequence (Length before the call where all did).
  int Truncate(int sequence, int length);

  // Cells in use, each counted once.
  int64_t used() const { return used_; }

 private:
  // A run of cells [begin, end) after those of `parent`; references are sequences that end here
  // and segments that follow.
  struct Segment {
    int parent = -1;
    int begin = 0;
    int end = 0;
    int references = 0;
  };

  int NewSegment(const Segment& segment);
  // Cuts a segment at `position`; the returned upper part has no reference but the lower part's.
  int Split(int segment, int position);
  // Drops a reference to a segment, and the segment with its last one. Returns the lowest freed
  // position, or `otherwise` where nothing was freed.
  int Unreference(int segment, int otherwise);

  std::vector<Segment> segments_;
  std::vector<int> free_segments_;
  std::vector<int> last_;  // [sequences] last segment of each; -1: no cells
  int64_t used_ = 0;
};

}  // namespace hyper::llama
