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

#include "src/base/sha256.h"
#include "src/eval/data/http.h"
#include "src/eval/data/rows.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr int kPageRows = 100;  // the most that the hub gives at once
constexpr int kAttempts = 5;
constexpr double kFirstWaitS = 1;
constexpr double kLongestWaitS = 60;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error WriteError(const std::string& path) {
  return {ErrorCode::kResourceExhausted, path + ": cannot be written: " + std::strerror(errno)};
}

Result<File> OpenPart(const std::string& path, bool append) {
  File file(std::fopen(path.c_str(), append ? "ab" : "wb"));
  if (!file) return WriteError(path);
  return file;
}

Status Write(std::FILE* file, const std::string& path, std::string_view bytes) {
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  return written ? Status() : Status(WriteError(path));
}

// Why a reply that is no success came, and what helps.
Error ReplyError(const HubRequest& request, const HttpReply& reply) {
  const std::string& name = request.source.dataset;
  if (reply.status == 401 || reply.status == 403) {
    return {ErrorCode::kInvalidArgument,
            request.token.empty()
                ? name + " is gated; accept its terms at the hub and give a token in HF_TOKEN"
                : "the token in HF_TOKEN has no access to " + name +
                      "; accept its terms at the hub, or take another token"};
  }
  if (reply.status == 404) {
    return {ErrorCode::kNotFound, "the hub has no data set " + name + " with configuration " +
                                      request.source.config + ", split " + request.source.split};
  }
  return {ErrorCode::kUnavailable, "the hub answered " + name + " with HTTP status " +
                                       std::to_string(reply.status) + "; try again later"};
}

// The request, tried again where the server is busy or the connection breaks.
Result<HttpReply> FetchPatiently(const HubRequest& request, const FetchRequest& http,
                                 const TakeBytes& take = {}) {
  double wait = kFirstWaitS;
  for (int attempt = 1;; ++attempt) {
    Result<HttpReply> reply = FetchHttp(http, take);
    const bool busy = reply && (reply->status == 429 || reply->status >= 500);
    const bool broken = !reply && reply.error().code == ErrorCode::kUnavailable && !take;
    if ((!busy && !broken) || attempt == kAttempts) {
      if (reply) return reply;
      return Error{reply.error().code, reply.error().message +
                                           "; without network, give a local file to hyper eval "
                                           "with --data"};
    }
    const double asked = reply ? reply->retry_after_s : -1;
    if (request.wait) request.wait(std::min(asked > 0 ? asked : wait, kLongestWaitS));
    wait *= 2;
  }
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
    return Error{ErrorCode::kDataLoss, "the hub's reply for " + name + " is no page of rows"};
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
  if (!std::filesystem::exists(path, missing)) return int64_t{0};
  const Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) return bytes.error();
  const size_t end = bytes->rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  std::error_code error;
  std::filesystem::resize_file(path, whole, error);
  if (error) return Error{ErrorCode::kResourceExhausted, path + ": " + error.message()};
  return static_cast<int64_t>(std::count(bytes->begin(), bytes->end(), '\n'));
}

Status FetchRows(const HubRequest& request, const std::string& part) {
  const Result<int64_t> present = WholeLines(part);
  if (!present) return present.error();
  const Result<File> file = OpenPart(part, /*append=*/true);
  if (!file) return file.error();
  const HubSource& source = request.source;
  int64_t done = *present;
  for (int64_t all = done + 1; done < all;) {
    FetchRequest http;
    http.bearer = request.token;
    http.url = request.base + "/rows?dataset=" + QueryEscaped(source.dataset) +
               "&config=" + QueryEscaped(source.config) + "&split=" + QueryEscaped(source.split) +
               "&offset=" + std::to_string(done) + "&length=" + std::to_string(kPageRows);
    const Result<HttpReply> reply = FetchPatiently(request, http);
    if (!reply) return reply.error();
    if (reply->status != 200) return ReplyError(request, *reply);
    const Result<Page> page = ParsePage(reply->body, source.dataset);
    if (!page) return page.error();
    all = page->all;
    if (done < all && page->rows == 0) {
      return Error{ErrorCode::kDataLoss, "the hub gave " + std::to_string(done) + " of " +
                                             std::to_string(all) + " rows of " + source.dataset};
    }
    if (Status status = Write(file->get(), part, page->lines); !status) return status;
    done += page->rows;
    if (request.progress) request.progress(done, all);
  }
  return {};
}

Status FetchFile(const HubRequest& request, const std::string& part) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(part, missing);
  FetchRequest http;
  http.bearer = request.token;
  http.url = request.base + "/datasets/" + request.source.dataset + "/resolve/main/" + request.file;
  http.first_byte = missing ? 0 : static_cast<int64_t>(size);
  File file;
  int64_t done = 0;
  // A server that knows no ranges answers 200 and sends all of it.
  const auto take = [&](int status, std::string_view bytes) -> Status {
    if (!file) {
      Result<File> opened = OpenPart(part, /*append=*/status == 206);
      if (!opened) return opened.error();
      file = std::move(*opened);
      done = status == 206 ? http.first_byte : 0;
    }
    done += static_cast<int64_t>(bytes.size());
    if (request.progress) request.progress(done, 0);
    return Write(file.get(), part, bytes);
  };
  const Result<HttpReply> reply = FetchPatiently(request, http, take);
  if (!reply) return reply.error();
  const bool complete = reply->status == 416 && http.first_byte > 0;  // nothing is left to send
  return reply->status / 100 == 2 || complete ? Status() : Status(ReplyError(request, *reply));
}

Result<HubResult> Describe(const std::string& path) {
  const Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes) return bytes.error();
  const Result<std::vector<DataRow>> rows = ParseRows(*bytes, path);
  if (!rows) return rows.error();
  return HubResult{static_cast<int64_t>(rows->size()), base::Sha256Of(*bytes), false};
}

// The file of an earlier fetch, where it is there.
Result<std::optional<HubResult>> Present(const std::string& target) {
  const Result<std::string> kept = ReadWholeFile(target + ".sha256");
  std::error_code missing;
  if (!std::filesystem::exists(target, missing)) return std::optional<HubResult>();
  if (!kept) {
    return Error{ErrorCode::kInvalidArgument,
                 target + " is there, but was not fetched by this program; give another --output"};
  }
  Result<HubResult> result = Describe(target);
  if (!result) return result.error();
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
  if (!present) return present.error();
  if (*present) return std::move(**present);
  const std::string part = request.target + ".part";
  Status status = request.file.empty() ? FetchRows(request, part) : FetchFile(request, part);
  if (!status) return status.error();
  Result<HubResult> result = Describe(part);
  if (!result) return result.error();
  const std::string name = std::filesystem::path(request.target).filename().string();
  const std::string sums = request.target + ".sha256";
  const Result<File> file = OpenPart(sums, /*append=*/false);
  if (!file) return file.error();
  status = Write(file->get(), sums, result->sha256 + "  " + name + "\n");
  if (!status) return status.error();
  std::error_code error;
  std::filesystem::rename(part, request.target, error);
  if (error) return Error{ErrorCode::kResourceExhausted, request.target + ": " + error.message()};
  return result;
}

}  // namespace hyper::eval
