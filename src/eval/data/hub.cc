#include "src/eval/data/hub.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "src/base/http/download.h"
#include "src/base/http/fetch.h"
#include "src/base/http/url.h"
#include "src/base/sha256.h"
#include "src/eval/data/rows.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr int kPageRows = 100;  // the most that the hub gives at once
constexpr double kStallSeconds = 60;
constexpr double kConnectSeconds = 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error WriteError(const std::string& path) {
  return {ErrorCode::kResourceExhausted, path + ": cannot be written: " + std::strerror(errno)};
}

Result<File> OpenPart(const std::string& path, bool append) {
  File file(std::fopen(path.c_str(), append ? "ab" : "wb"));
  if (!file) {
    return WriteError(path);
  }
  return file;
}

Status Write(std::FILE* file, const std::string& path, std::string_view bytes) {
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  return written ? Status() : Status(WriteError(path));
}

// Why an answer that is no success came, and what helps.
Error AnswerError(const HubRequest& request, int status) {
  const std::string& name = request.source.dataset;
  if (status == 401 || status == 403) {
    return InvalidArgument(
        request.token.empty()
            ? name + " is gated; accept its terms at the hub and give a token in HF_TOKEN"
            : "the token in HF_TOKEN has no access to " + name +
                  "; accept its terms at the hub, or take another token");
  }
  if (status == 404) {
    return {ErrorCode::kNotFound, "the hub has no data set " + name + " with configuration " +
                                      request.source.config + ", split " + request.source.split};
  }
  return {ErrorCode::kUnavailable, "the hub answered " + name + " with HTTP status " +
                                       std::to_string(status) + "; try again later"};
}

Error NoConnection(const std::string& url, const std::string& reason) {
  return {ErrorCode::kUnavailable,
          url + ": " + reason + "; without network, give a local file to hyper eval with --data"};
}

// The answer to a GET of `url`, tried again where the hub is busy or the connection breaks.
Result<base::HttpAnswer> Get(const HubRequest& request, const std::string& url) {
  base::HttpLoop loop({.api_key = request.token, .connect_timeout_s = kConnectSeconds});
  base::Retries retries;
  retries.first_wait_s = 1;
  retries.wait = request.wait;
  base::HttpAnswer answer = FetchPatiently(
      loop, {.url = url, .stall_s = kStallSeconds, .follow_redirects = true}, retries);
  if (!answer.end.failure.empty()) {
    return NoConnection(url, answer.end.failure);
  }
  return answer;
}

// Rows of a page, and how many there are in all.
struct Page {
  std::string lines;
  int rows = 0;
  int64_t all = 0;
};

Result<Page> ParsePage(const std::string& body, const std::string& name) {
  const json page = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!page.is_object() || !page.contains("rows") || !page["rows"].is_array() ||
      !page.contains("num_rows_total") || !page["num_rows_total"].is_number_integer()) {
    return Error{ErrorCode::kDataLoss, "the hub's reply for " + name + " is not a page of rows"};
  }
  Page read;
  read.all = page["num_rows_total"].get<int64_t>();
  for (const json& entry : page["rows"]) {
    if (!entry.is_object() || !entry.contains("row") || !entry["row"].is_object()) {
      return Error{ErrorCode::kDataLoss, "the hub's page for " + name + " holds a broken row"};
    }
    if (entry.contains("truncated_cells") && !entry["truncated_cells"].empty()) {
      return Error{ErrorCode::kDataLoss,
                   "the hub cut a row of " + name + " short; fetch a file of it with --file"};
    }
    read.lines += entry["row"].dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    ++read.rows;
  }
  return read;
}

// Whole lines of a file that a fetch before this one left; a half-written last line is cut off.
Result<int64_t> WholeLines(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) {
    return int64_t{0};
  }
  const Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) {
    return bytes.error();
  }
  const size_t end = bytes->rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  std::error_code error;
  std::filesystem::resize_file(path, whole, error);
  if (error) {
    return Error{ErrorCode::kResourceExhausted, path + ": " + error.message()};
  }
  return static_cast<int64_t>(std::count(bytes->begin(), bytes->end(), '\n'));
}

Status FetchRows(const HubRequest& request, const std::string& part) {
  const Result<int64_t> present = WholeLines(part);
  if (!present) {
    return present.error();
  }
  const Result<File> file = OpenPart(part, /*append=*/true);
  if (!file) {
    return file.error();
  }
  const HubSource& source = request.source;
  int64_t done = *present;
  for (int64_t all = done + 1; done < all;) {
    const Result<base::HttpAnswer> answer = Get(
        request, request.base + "/rows?dataset=" + base::QueryEscaped(source.dataset) +
                     "&config=" + base::QueryEscaped(source.config) +
                     "&split=" + base::QueryEscaped(source.split) +
                     "&offset=" + std::to_string(done) + "&length=" + std::to_string(kPageRows));
    if (!answer) {
      return answer.error();
    }
    if (answer->end.status != 200) {
      return AnswerError(request, answer->end.status);
    }
    const Result<Page> page = ParsePage(answer->body, source.dataset);
    if (!page) {
      return page.error();
    }
    all = page->all;
    if (done < all && page->rows == 0) {
      return Error{ErrorCode::kDataLoss, "the hub gave " + std::to_string(done) + " of " +
                                             std::to_string(all) + " rows of " + source.dataset};
    }
    if (Status status = Write(file->get(), part, page->lines); !status) {
      return status;
    }
    done += page->rows;
    if (request.progress) {
      request.progress(done, all);
    }
  }
  return {};
}

Status FetchFile(const HubRequest& request, const std::string& part) {
  base::DownloadRequest download;
  download.url =
      request.base + "/datasets/" + request.source.dataset + "/resolve/main/" + request.file;
  download.path = part;
  download.token = request.token;
  download.wait = request.wait;
  download.progress = [&request](int64_t bytes) {
    if (request.progress) {
      request.progress(bytes, 0);
    }
  };
  const Result<int> status = Download(download);
  if (!status) {
    const Error& error = status.error();
    return error.code == ErrorCode::kUnavailable ? NoConnection(download.url, error.message)
                                                 : error;
  }
  return *status / 100 == 2 ? Status() : Status(AnswerError(request, *status));
}

Result<HubResult> Describe(const std::string& path) {
  const Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) {
    return bytes.error();
  }
  const Result<std::vector<DataRow>> rows = ParseRows(*bytes, path);
  if (!rows) {
    return rows.error();
  }
  return HubResult{static_cast<int64_t>(rows->size()), base::Sha256Of(*bytes), false};
}

// The file of an earlier fetch, where it is there.
Result<std::optional<HubResult>> Present(const std::string& target) {
  const Result<std::string> kept = ReadWholeFile(target + ".sha256");
  std::error_code missing;
  if (!std::filesystem::exists(target, missing)) {
    return std::optional<HubResult>();
  }
  if (!kept) {
    return InvalidArgument(target +
                           " exists, but was not fetched by this program; give another --output");
  }
  Result<HubResult> result = Describe(target);
  if (!result) {
    return result.error();
  }
  if (kept->substr(0, kept->find(' ')) != result->sha256) {
    return Error{ErrorCode::kDataLoss, target +
                                           " has changed since it was fetched; remove it and "
                                           "fetch it again"};
  }
  result->present = true;
  return std::optional<HubResult>(std::move(*result));
}

}  // namespace

Result<HubResult> FetchDataSet(const HubRequest& request) {
  Result<std::optional<HubResult>> present = Present(request.target);
  if (!present) {
    return present.error();
  }
  if (*present) {
    return std::move(**present);
  }
  const std::string part = request.target + ".part";
  Status status = request.file.empty() ? FetchRows(request, part) : FetchFile(request, part);
  if (!status) {
    return status.error();
  }
  Result<HubResult> result = Describe(part);
  if (!result) {
    return result.error();
  }
  const std::string name = std::filesystem::path(request.target).filename().string();
  const std::string sums = request.target + ".sha256";
  const Result<File> file = OpenPart(sums, /*append=*/false);
  if (!file) {
    return file.error();
  }
  status = Write(file->get(), sums, result->sha256 + "  " + name + "\n");
  if (!status) {
    return status.error();
  }
  std::error_code error;
  std::filesystem::rename(part, request.target, error);
  if (error) {
    return Error{ErrorCode::kResourceExhausted, request.target + ": " + error.message()};
  }
  return result;
}

}  // namespace hyper::eval
