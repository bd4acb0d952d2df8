// The records of one run as lines of JSON, for any number of readers, each at a place of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hyper::server {

// Thread rule: one thread writes, any may read.
class RunLog {
 public:
  // Beyond `most_bytes` the oldest lines go.
  explicit RunLog(size_t most_bytes) : most_bytes_(most_bytes) {}

  struct Page {
    std::vector<std::string> lines;
    size_t next = 0;      // where to read on
    bool closed = false;  // nothing comes after `next`
  };

  void Append(std::string line) {
    const std::lock_guard lock(mutex_);
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    while (bytes_ > most_bytes_ && lines_.size() > 1) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
      ++first_;
    }
    changed_.notify_all();
  }
  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Lines from number `from` on, at most `count`; waits for the first of them.
  Page Read(size_t from, size_t count, std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout,
                      [this, from] { return closed_ || first_ + lines_.size() > from; });
    Page page;
    page.next = from < first_ ? first_ : from;
    while (page.next < first_ + lines_.size() && page.lines.size() < count) {
      page.lines.push_back(lines_[page.next - first_]);
      ++page.next;
    }
    page.closed = closed_ && page.next >= first_ + lines_.size();
    return page;
  }

 private:
  const size_t most_bytes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::string> lines_;  // by mutex_, as all below
  size_t first_ = 0;               // number of lines_.front()
  size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace hyper::server
