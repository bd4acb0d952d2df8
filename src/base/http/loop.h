// Many HTTP transfers in one thread: libcurl's multi interface over epoll.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hyper/result.h"
#include "src/base/clock.h"

namespace hyper::base {

// What all requests of a loop have in common.
struct HttpSettings {
  std::string api_key;                    // sent as a bearer token; never part of a message
  std::vector<std::string> headers = {};  // "Name: value"
  std::string ca_file = {};               // of certificates; empty: the system's
  double connect_timeout_s = 10;          // 0: none
};

// The file of certificates to go by: `given`, else the first of `places` that exists; empty where
// none does, which leaves it to libcurl.
std::string CertificateFile(const std::string& given, std::span<const char* const> places);

struct HttpRequest {
  std::string url;
  bool post = false;
  std::string body = {};          // JSON
  double timeout_s = 0;           // of the whole transfer; 0: none
  double stall_s = 0;             // without any byte; 0: no limit
  int64_t first_byte = 0;         // only the rest of a file, from here on
  bool follow_redirects = false;  // a few
};

// How a transfer ended.
struct TransferEnd {
  int status = 0;             // of HTTP; 0 where no answer came
  std::string failure;        // libcurl's words; empty: the answer is complete
  double retry_after_s = -1;  // as the server asked; negative: it did not
};

// Where a transfer's bytes go. Neither call may start or cancel transfers.
class TransferSink {
 public:
  virtual ~TransferSink() = default;
  virtual void OnData(int status, std::string_view bytes) = 0;
  virtual void OnDone(const TransferEnd& end) = 0;
};

// 0 is no transfer; numbers are not reused.
using TransferId = uint64_t;

// Thread rule: one thread makes all calls; sinks are called from within Wait and SetPaused.
class HttpLoop {
 public:
  // `clock` must outlive the loop; libcurl's own timers go by the computer's clock, whatever it is.
  explicit HttpLoop(HttpSettings settings, Clock& clock = SteadyClock());
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  // Starts a transfer; `sink` must outlive it. Errors: kInternal.
  Result<TransferId> Start(const HttpRequest& request, TransferSink* sink);
  // Ends a transfer; its connection is closed and its sink not called again.
  void Cancel(TransferId id);
  // A paused transfer takes no bytes off the network.
  void SetPaused(TransferId id, bool paused);
  // Waits at most `timeout_s` on the clock for something to happen and hands it to the sinks.
  Status Wait(double timeout_s);

  // `words` for the user: the API key, which a server may repeat, is cut out.
  std::string WithoutKey(std::string words) const;

  Clock& clock() const { return clock_; }
  int active() const { return static_cast<int>(transfers_.size()); }

 private:
  struct Transfer;
  struct Callbacks;

  Status Apply(const HttpRequest& request, Transfer& transfer);
  void Collect();

  HttpSettings settings_;
  Clock& clock_;
  void* multi_ = nullptr;        // CURLM
  void* header_list_ = nullptr;  // curl_slist
  int epoll_ = -1;
  int timer_ = -1;  // timerfd: when libcurl wants to be called at the latest
  TransferId next_ = 1;
  std::unordered_map<TransferId, std::unique_ptr<Transfer>> transfers_;
};

}  // namespace hyper::base
