#include "src/eval/data/http.h"

#include <curl/curl.h>

#include <cctype>
#include <memory>
#include <mutex>

namespace hyper::eval {
namespace {

constexpr long kMaxRedirections = 5;
constexpr long kConnectTimeoutS = 20;

struct Transfer {
  CURL* handle = nullptr;
  const TakeBytes* take = nullptr;
  Status failure;
  std::string body;
};

size_t Receive(char* data, size_t size, size_t count, void* context) {
  auto* transfer = static_cast<Transfer*>(context);
  const std::string_view bytes(data, size * count);
  long status = 0;
  curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
  if (*transfer->take && status >= 200 && status < 300) {
    transfer->failure = (*transfer->take)(static_cast<int>(status), bytes);
    return transfer->failure.ok() ? bytes.size() : 0;
  }
  transfer->body += bytes;
  return bytes.size();
}

struct CleanHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

void Append(Headers& headers, const std::string& line) {
  curl_slist* list = curl_slist_append(headers.get(), line.c_str());
  if (list == nullptr) return;
  static_cast<void>(headers.release());  // appending keeps the head
  headers.reset(list);
}

}  // namespace

Result<HttpReply> FetchHttp(const FetchRequest& request, const TakeBytes& take) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, CleanHandle> handle(curl_easy_init());
  if (!handle) return Error{ErrorCode::kInternal, "libcurl has no handle left"};
  Transfer transfer{handle.get(), &take, {}, ""};
  Headers headers;
  if (!request.bearer.empty()) Append(headers, "Authorization: Bearer " + request.bearer);
  if (!request.post.empty()) Append(headers, "Content-Type: application/json");
  CURL* curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirections);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutS);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.timeout_s));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  if (!request.post.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.post.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.post.c_str());
  }
  const std::string range = std::to_string(request.first_byte) + "-";
  if (request.first_byte > 0) curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  const CURLcode code = curl_easy_perform(curl);
  if (!transfer.failure) return transfer.failure.error();
  if (code != CURLE_OK) {
    return Error{ErrorCode::kUnavailable, request.url + ": " + curl_easy_strerror(code)};
  }
  HttpReply reply;
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_off_t retry_after = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
  reply.status = static_cast<int>(status);
  if (retry_after > 0) reply.retry_after_s = static_cast<double>(retry_after);
  reply.body = std::move(transfer.body);
  return reply;
}

std::string QueryEscaped(std::string_view text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kDigits[byte >> 4U];
      escaped += kDigits[byte & 15U];
    }
  }
  return escaped;
}

}  // namespace hyper::eval
