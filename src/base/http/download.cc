#include "src/base/http/download.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/http/fetch.h"

namespace hyper::base {
namespace {

constexpr double kStallSeconds = 60;
constexpr double kConnectSeconds = 20;
constexpr double kFirstWaitSeconds = 1;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

int64_t SizeOf(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : static_cast<int64_t>(size);
}

// One answer's bytes, appended to the file where they are a range of it.
class FileSink {
 public:
  FileSink(const DownloadRequest& request, int64_t bytes) : request_(request), bytes_(bytes) {}

  bool got_any() const { return file_ != nullptr; }

  Status Take(int status, std::string_view piece) {
    if (!file_) {
      const bool range = status == 206;
      file_.reset(std::fopen(request_.path.c_str(), range ? "ab" : "wb"));
      bytes_ = range ? bytes_ : 0;
    }
    if (!file_ || std::fwrite(piece.data(), 1, piece.size(), file_.get()) != piece.size() ||
        std::fflush(file_.get()) != 0) {
      return Error{ErrorCode::kResourceExhausted,
                   request_.path + ": cannot be written: " + std::strerror(errno)};
    }
    bytes_ += static_cast<int64_t>(piece.size());
    if (request_.progress) {
      request_.progress(bytes_);
    }
    return {};
  }

 private:
  const DownloadRequest& request_;
  int64_t bytes_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace

Result<int> Download(const DownloadRequest& request) {
  HttpLoop loop({.api_key = request.token, .connect_timeout_s = kConnectSeconds});
  Retries retries;
  retries.first_wait_s = kFirstWaitSeconds;
  retries.wait = request.wait;
  bool broke_off = false;
  for (int resumes = 0;; ++resumes) {
    const int64_t first_byte = SizeOf(request.path);
    FileSink sink(request, first_byte);
    const HttpAnswer answer = FetchPatiently(
        loop,
        {.url = request.url,
         .stall_s = kStallSeconds,
         .first_byte = first_byte,
         .follow_redirects = true},
        retries, [&sink](int status, std::string_view piece) { return sink.Take(status, piece); });
    if (!answer.taken) {
      return answer.taken.error();
    }
    if (answer.end.failure.empty()) {
      const bool nothing_left = answer.end.status == 416 && first_byte > 0;
      return nothing_left ? 200 : answer.end.status;
    }
    if (sink.got_any()) {
      broke_off = true;
      resumes = 0;
    }
    if (!broke_off || resumes >= request.most_resumes) {
      return Error{ErrorCode::kUnavailable, answer.end.failure};
    }
    const double seconds = BackoffSeconds(resumes + 1, -1, 0.5, kFirstWaitSeconds);
    if (request.wait) {
      request.wait(seconds);
    } else {
      loop.clock().Wait(-1, seconds);
    }
  }
}

}  // namespace hyper::base
