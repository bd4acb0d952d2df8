#include "src/engine/llama/kv/cell_ledger.h"

#include <cassert>

namespace hyper::llama {

CellLedger::CellLedger(int sequences) : last_(sequences, -1) {}

int CellLedger::Length(int sequence) const {
  return last_[sequence] < 0 ? 0 : segments_[last_[sequence]].end;
}

int CellLedger::Common(int a, int b) const {
  int x = last_[a];
  int y = last_[b];
  while (x != y && x >= 0 && y >= 0) {
    int& later = segments_[x].begin >= segments_[y].begin ? x : y;
    later = segments_[later].parent;
  }
  return x == y && x >= 0 ? segments_[x].end : 0;
}

void CellLedger::Append(int sequence, int count) {
  if (count == 0) {
    return;
  }
  used_ += count;
  const int last = last_[sequence];
  if (last >= 0 && segments_[last].references == 1) {
    segments_[last].end += count;
    return;
  }
  const int begin = Length(sequence);
  // The sequence's reference to `last` becomes the new segment's.
  last_[sequence] = NewSegment({last, begin, begin + count, 1});
}

void CellLedger::Share(int from, int to, int count) {
  assert(last_[to] < 0 && count >= 0 && count <= Length(from));
  if (count == 0) {
    return;
  }
  int segment = last_[from];
  while (segments_[segment].begin >= count) {
    segment = segments_[segment].parent;
  }
  if (segments_[segment].end > count) {
    segment = Split(segment, count);
  }
  ++segments_[segment].references;
  last_[to] = segment;
}

int CellLedger::Truncate(int sequence, int length) {
  const int before = Length(sequence);
  const int old = last_[sequence];
  if (length >= before) {
    return before;
  }
  int kept = old;
  while (kept >= 0 && segments_[kept].begin >= length) {
    kept = segments_[kept].parent;
  }
  if (kept >= 0 && segments_[kept].end > length) {
    kept = Split(kept, length);
  }
  if (kept >= 0) {
    ++segments_[kept].references;
  }
  last_[sequence] = kept;
  return Unreference(old, before);
}

int CellLedger::NewSegment(const Segment& segment) {
  if (free_segments_.empty()) {
    segments_.push_back(segment);
    return static_cast<int>(segments_.size()) - 1;
  }
  const int index = free_segments_.back();
  free_segments_.pop_back();
  segments_[index] = segment;
  return index;
}

int CellLedger::Split(int segment, int position) {
  const int upper = NewSegment({segments_[segment].parent, segments_[segment].begin, position, 1});
  segments_[segment].parent = upper;
  segments_[segment].begin = position;
  return upper;
}

int CellLedger::Unreference(int segment, int otherwise) {
  int lowest = otherwise;
  while (segment >= 0 && --segments_[segment].references == 0) {
    used_ -= segments_[segment].end - segments_[segment].begin;
    lowest = segments_[segment].begin;
    free_segments_.push_back(segment);
    segment = segments_[segment].parent;
  }
  return lowest;
}

}  // namespace hyper::llama
