#include "src/base/http/loop.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/base/http/url.h"

namespace hyper::base {
namespace {

constexpr size_t kEventsAtOnce = 512;
constexpr double kMillisecond = 1e-3;
constexpr long kMostRedirects = 5;

// Where distributions keep their certificates. A libcurl that came from another one knows only its
// own place.
constexpr std::array kCertificateFiles = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",              // openSUSE
    "/etc/ssl/cert.pem",                   // FreeBSD, macOS
};

CURLM* Multi(void* multi) { return static_cast<CURLM*>(multi); }

// Why a transfer failed, in libcurl's words; the detail where there is one.
std::string FailureWords(CURLcode code, const char* detail) {
  return detail[0] != '\0' ? std::string(detail) : std::string(curl_easy_strerror(code));
}

}  // namespace

std::string CertificateFile(const std::string& given, std::span<const char* const> places) {
  if (!given.empty()) {
    return given;
  }
  const auto at = std::find_if(places.begin(), places.end(), [](const char* place) {
    std::error_code error;
    return std::filesystem::exists(place, error);
  });
  return at == places.end() ? "" : *at;
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
    const HttpLoop& self = *static_cast<HttpLoop*>(loop);
    itimerspec when{};  // zero: never
    if (timeout_ms >= 0) {
      when.it_value.tv_sec = timeout_ms / 1000;
      when.it_value.tv_nsec = std::max(1L, timeout_ms % 1000 * 1'000'000L);
    }
    timerfd_settime(self.timer_, 0, &when, nullptr);
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

HttpLoop::HttpLoop(HttpSettings settings, Clock& clock)
    : settings_(std::move(settings)), clock_(clock) {
  settings_.ca_file = CertificateFile(settings_.ca_file, kCertificateFiles);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  multi_ = curl_multi_init();
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  epoll_event timer{};
  timer.events = EPOLLIN;
  timer.data.fd = timer_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &timer);
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
  for (const int descriptor : {timer_, epoll_}) {
    if (descriptor >= 0) {
      close(descriptor);
    }
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
  if (request.stall_s > 0) {
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(request.stall_s)));
  }
  if (request.first_byte > 0) {
    set(CURLOPT_RANGE, (std::to_string(request.first_byte) + "-").c_str());  // libcurl copies it
  }
  if (request.follow_redirects) {
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kMostRedirects);
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
  if (transfer->easy == nullptr || multi_ == nullptr || epoll_ < 0 || timer_ < 0) {
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
  // Nothing can come where nothing is under way.
  if (!clock_.Wait(transfers_.empty() ? -1 : epoll_, timeout_s)) {
    return Error{ErrorCode::kInternal, "waiting for the network failed"};
  }
  std::array<epoll_event, kEventsAtOnce> events{};
  const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  int running = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == timer_) {
      uint64_t expirations = 0;
      (void)!read(timer_, &expirations, sizeof(expirations));
      curl_multi_socket_action(Multi(multi_), CURL_SOCKET_TIMEOUT, 0, &running);
      continue;
    }
    const int mask = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(Multi(multi_), event.data.fd, mask, &running);
  }
  Collect();
  return {};
}

std::string HttpLoop::WithoutKey(std::string words) const {
  return base::WithoutKey(std::move(words), settings_.api_key);
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

}  // namespace hyper::base
