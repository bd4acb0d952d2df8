#include "src/server/http/connection_threads.h"

#include <system_error>
#include <utility>

namespace hyper::server {

bool ConnectionThreads::enqueue(std::function<void()> serve) {
  Threads done;
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
    if (working_.size() < most_) {
      const auto self = working_.emplace(working_.end());
      try {
        // The thread touches `self` under the mutex alone, so it is whole by then.
        *self = std::thread([this, self, serve] { Work(self, serve); });
        taken = true;
      } catch (const std::system_error&) {  // no more threads: it waits for one
        working_.erase(self);
      }
    }
    if (!taken && !working_.empty() && waiting_.size() < most_) {
      waiting_.push_back(std::move(serve));
      taken = true;
    }
  }
  for (std::thread& thread : done) {
    thread.join();
  }
  return taken;
}

void ConnectionThreads::Work(Threads::iterator self, std::function<void()> serve) {
  while (true) {
    serve();
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      done_.splice(done_.end(), working_, self);
      changed_.notify_one();
      return;
    }
    serve = std::move(waiting_.front());
    waiting_.pop_front();
  }
}

void ConnectionThreads::shutdown() {
  Threads done;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return working_.empty(); });
    done.swap(done_);
  }
  for (std::thread& thread : done) {
    thread.join();
  }
}

}  // namespace hyper::server
