// The threads that serve connections.
#pragma once

#include <cpp-httplib/httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hyper::server {

// A thread for each connection while there are fewer than so many; as many more connections may
// wait. httplib's own pool starts all its threads, and ends the program where the machine refuses
// one; grown on demand it counts a thread as idle until it wakes, and lets connections that come
// together wait behind the streams of others.
//
// Thread rule: enqueue() and shutdown() from one thread.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}
  ~ConnectionThreads() override { shutdown(); }

  // False, and httplib closes the connection, where it can neither be served nor wait.
  bool enqueue(std::function<void()> serve) override;
  // Waits until all are served, those too that wait.
  void shutdown() override;

 private:
  using Threads = std::list<std::thread>;

  void Work(Threads::iterator self, std::function<void()> serve);

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // by mutex_, as all below
  Threads working_;
  Threads done_;  // to be joined
};

}  // namespace hyper::server
