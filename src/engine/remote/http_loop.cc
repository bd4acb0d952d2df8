#include "src/engine/remote/http_loop.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <utility>

#include "src/engine/remote/endpoint.h"

namespace hyper::remote {
namespace {

constexpr size_t kEventsAtOnce = 512;
constexpr double kMillisecond = 1e-3;

CURLM* Multi(void* multi) { return static_cast<CURLM*>(multi); }

// Why a transfer failed, in libcurl's words; the detail where there is one.
std::string FailureWords(CURLcode code, const char* detail) {
  return detail[0] != '\0' ? std::string(detail) : std::string(curl_easy_strerror(code));
}

}  // namespace

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct HttpLoop::Transfer {
  TransferId id = 0;
  CURL* easy = nullptr;
  TransferSink* sink = nullptr;
  std::string body;
  std::array<char, CURL_ERROR_SIZE> error{};
  int status = 0;
};

// What libcurl calls.
struct HttpLoop::Callbacks {
  static int OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* loop, void* known) {
    HttpLoop& self = *static_cast<HttpLoop*>(loop);
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(self.epoll_, EPOLL_CTL_DEL, socket, nullptr);
      return 0;
    }
    epoll_event event{};
    event.events =
        ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
    event.data.fd = socket;
    epoll_ctl(self.epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
    curl_multi_assign(Multi(self.multi_), socket, &self);
    return 0;
  }

  static int OnTimer(CURLM* /*multi*/, long timeout_ms, void* loop) {
    HttpLoop& self = *static_cast<HttpLoop*>(loop);
    self.deadline_ =
        timeout_ms < 0 ? -1 : SteadySeconds() + static_cast<double>(timeout_ms) * kMillisecond;
    return 0;
  }

  static size_t OnBytes(char* bytes, size_t size, size_t count, void* context) {
    Transfer& transfer = *static_cast<Transfer*>(context);
    if (transfer.status == 0) {
      long status = 0;
      curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
      transfer.status = static_cast<int>(status);
    }
    transfer.sink->OnData(transfer.status, {bytes, size * count});
    return size * count;
  }
};

HttpLoop::HttpLoop(HttpSettings settings) : settings_(std::move(settings)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi_ = curl_multi_init();
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  curl_multi_setopt(Multi(multi_), CURLMOPT_SOCKETFUNCTION, Callbacks::OnSocket);
  curl_multi_setopt(Multi(multi_), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(Multi(multi_), CURLMOPT_TIMERFUNCTION, Callbacks::OnTimer);
  curl_multi_setopt(Multi(multi_), CURLMOPT_TIMERDATA, this);
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Expect:");  // no round trip before a long prompt
  for (const std::string& header : settings_.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  header_list_ = headers;
}

HttpLoop::~HttpLoop() {
  while (!transfers_.empty()) {
    Cancel(transfers_.begin()->first);
  }
  curl_multi_cleanup(Multi(multi_));
  curl_slist_free_all(static_cast<curl_slist*>(header_list_));
  if (epoll_ >= 0) {
    close(epoll_);
  }
  curl_global_cleanup();
}

Status HttpLoop::Apply(const HttpRequest& request, Transfer& transfer) {
  CURL* easy = transfer.easy;
  bool fine = true;
  const auto set = [&](CURLoption option, auto value) {
    fine = fine && curl_easy_setopt(easy, option, value) == CURLE_OK;
  };
  const auto milliseconds = [](double seconds) {
    return std::max(1L, std::lround(seconds / kMillisecond));
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, transfer.error.data());
  set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(header_list_));
  set(CURLOPT_WRITEFUNCTION, Callbacks::OnBytes);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_PRIVATE, &transfer);
  if (request.post) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
    set(CURLOPT_POSTFIELDS, transfer.body.c_str());
  }
  if (request.timeout_s > 0) {
    set(CURLOPT_TIMEOUT_MS, milliseconds(request.timeout_s));
  }
  // libcurl has a limit of its own where none is set, so "no limit" is a very long one.
  constexpr double kForever = 1e6;
  set(CURLOPT_CONNECTTIMEOUT_MS,
      milliseconds(settings_.connect_timeout_s > 0 ? settings_.connect_timeout_s : kForever));
  if (!settings_.api_key.empty()) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    set(CURLOPT_XOAUTH2_BEARER, settings_.api_key.c_str());
  }
  if (!settings_.ca_file.empty()) {
    set(CURLOPT_CAINFO, settings_.ca_file.c_str());
  }
  return fine ? Status() : Error{ErrorCode::kInternal, "libcurl does not take the request"};
}

Result<TransferId> HttpLoop::Start(const HttpRequest& request, TransferSink* sink) {
  auto transfer = std::make_unique<Transfer>();
  transfer->id = next_++;
  transfer->sink = sink;
  transfer->body = request.body;
  transfer->easy = curl_easy_init();
  if (transfer->easy == nullptr || multi_ == nullptr || epoll_ < 0) {
    return Error{ErrorCode::kResourceExhausted, "no memory or files left for another connection"};
  }
  Status status = Apply(request, *transfer);
  if (status && curl_multi_add_handle(Multi(multi_), transfer->easy) != CURLM_OK) {
    status = Error{ErrorCode::kInternal, "libcurl does not take another transfer"};
  }
  if (!status) {
    curl_easy_cleanup(transfer->easy);
    return status.error();
  }
  const TransferId id = transfer->id;
  transfers_.emplace(id, std::move(transfer));
  return id;
}

void HttpLoop::Cancel(TransferId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) {
    return;
  }
  curl_multi_remove_handle(Multi(multi_), found->second->easy);
  curl_easy_cleanup(found->second->easy);
  transfers_.erase(found);
}

void HttpLoop::SetPaused(TransferId id, bool paused) {
  const auto found = transfers_.find(id);
  if (found != transfers_.end()) {
    curl_easy_pause(found->second->easy, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
  }
}

Status HttpLoop::Wait(double timeout_s) {
  double wait_s = std::max(timeout_s, 0.0);
  if (deadline_ >= 0) {
    wait_s = std::clamp(deadline_ - SteadySeconds(), 0.0, wait_s);
  }
  std::array<epoll_event, kEventsAtOnce> events{};
  // Rounded up: libcurl's timer must have passed when the wait is over.
  const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                               static_cast<int>(std::ceil(wait_s / kMillisecond)));
  if (ready < 0 && errno != EINTR) {
    return Error{ErrorCode::kInternal, "waiting for the network failed"};
  }
  int running = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const int mask = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(Multi(multi_), event.data.fd, mask, &running);
  }
  if (deadline_ >= 0 && SteadySeconds() >= deadline_) {
    deadline_ = -1;
    curl_multi_socket_action(Multi(multi_), CURL_SOCKET_TIMEOUT, 0, &running);
  }
  Collect();
  return {};
}

std::string HttpLoop::WithoutKey(std::string words) const {
  return remote::WithoutKey(std::move(words), settings_.api_key);
}

// Hands out what has ended.
void HttpLoop::Collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(Multi(multi_), &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    CURL* easy = message->easy_handle;
    const CURLcode code = message->data.result;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    TransferEnd end;
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
    end.status = static_cast<int>(status);
    end.retry_after_s = retry_after > 0 ? static_cast<double>(retry_after) : -1.0;
    if (code != CURLE_OK) {
      end.failure = FailureWords(code, transfer->error.data());
    }
    TransferSink* sink = transfer->sink;
    const TransferId id = transfer->id;
    Cancel(id);
    sink->OnDone(end);
  }
}

void BodySink::OnData(int /*status*/, std::string_view bytes) {
  constexpr size_t kMost = size_t{16} << 20U;
  answer.body += bytes.substr(0, kMost - std::min(kMost, answer.body.size()));
}

void BodySink::OnDone(const TransferEnd& end) {
  answer.end = end;
  done = true;
}

HttpAnswer Fetch(HttpLoop& loop, HttpRequest request, double timeout_s) {
  BodySink sink;
  request.timeout_s = timeout_s;
  const Result<TransferId> id = loop.Start(request, &sink);
  if (!id) {
    sink.answer.end.failure = id.error().message;
    return sink.answer;
  }
  while (!sink.done) {
    if (Status status = loop.Wait(1.0); !status) {
      loop.Cancel(*id);
      sink.answer.end.failure = status.error().message;
      break;
    }
  }
  return std::move(sink.answer);
}

}  // namespace hyper::remote
