#include "apps/hyper/models/model_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "apps/hyper/command.h"
#include "apps/hyper/input/secret.h"
#include "src/base/http/download.h"
#include "src/base/sha256.h"

namespace hyper::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMostResumes = 5;

int64_t SizeOf(const std::string& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : static_cast<int64_t>(size);
}

// Empty where the file cannot be read.
std::string Sha256OfFile(const std::string& path) {
  constexpr size_t kPiece = size_t{1} << 20U;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return "";
  }
  base::Sha256 hash;
  std::vector<char> piece(kPiece);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    hash.Add({piece.data(), static_cast<size_t>(file.gcount())});
  }
  return hash.Hex();
}

// "hub.example:80" of an address.
std::string HostOf(const std::string& address) {
  const size_t scheme = address.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  return address.substr(begin, address.find('/', begin) - begin);
}

// Makes the folder, and sees that what is missing of the file fits into it.
Status MakeRoom(const ModelSource& source, const ModelFetch& fetch, const std::string& part) {
  std::error_code error;
  fs::create_directories(fetch.folder, error);
  if (error) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("folder {} cannot be made: {}; give another with --output",
                             fetch.folder, error.message())};
  }
  const fs::space_info space = fs::space(fetch.folder, error);
  const int64_t missing = std::max<int64_t>(0, source.bytes - SizeOf(part));
  if (!error && static_cast<uint64_t>(missing) > space.available) {
    return Error{ErrorCode::kResourceExhausted,
                 fmt::format("{} needs {}, and {} has {} free; free some, or give another folder "
                             "with --output",
                             source.name, ByteText(missing), fetch.folder,
                             ByteText(static_cast<int64_t>(space.available)))};
  }
  return {};
}

// Why no connection came about, or the last one broke off.
Error ConnectionError(const ModelSource& source, const ModelFetch& fetch, const std::string& reason,
                      int64_t bytes) {
  if (bytes > 0) {
    return {ErrorCode::kUnavailable,
            fmt::format("{} broke off at {} of {}: {}; the same command goes on from there",
                        HostOf(fetch.hub), ByteText(bytes), ByteText(source.bytes), reason)};
  }
  return {ErrorCode::kUnavailable,
          fmt::format("{} cannot be reached: {}; connect to the network, name another hub with "
                      "--hub, or put {} into {} by other means",
                      HostOf(fetch.hub), reason, source.file, fetch.folder)};
}

// Why the hub did not give the file.
Error AnswerError(const ModelSource& source, const ModelFetch& fetch, int status) {
  const std::string host = HostOf(fetch.hub);
  if (status == 401 || status == 403) {
    return InvalidArgument(
        fetch.token.empty()
            ? fmt::format(
                  "{} wants a token for {}; accept its terms there and give one in HF_TOKEN", host,
                  source.repository)
            : fmt::format("the token in HF_TOKEN has no access to {} at {}; accept its terms there",
                          source.repository, host));
  }
  if (status == 404) {
    return {ErrorCode::kNotFound,
            fmt::format("{} has no file {} in {}; name another hub with --hub", host, source.file,
                        source.repository)};
  }
  return {ErrorCode::kUnavailable,
          fmt::format("{} answered with HTTP status {}; try again later", host, status)};
}

}  // namespace

std::string HubAddress(const std::string& given, const char* fallback) {
  std::string address = given.empty() ? FromEnvironment({"HYPER_HUB"}) : given;
  address = address.empty() ? fallback : address;
  while (address.ends_with('/')) {
    address.pop_back();
  }
  return address;
}

Result<FetchedModel> FetchModel(const ModelSource& source, const ModelFetch& fetch) {
  FetchedModel fetched{fetch.folder + "/" + source.file};
  const std::string part = fetched.path + ".part";
  std::error_code error;
  if (fs::exists(fetched.path, error)) {
    fetched.present = true;
    if (Sha256OfFile(fetched.path) == source.sha256) {
      return fetched;
    }
    return Error{ErrorCode::kDataLoss, fmt::format("{} is there, but is not {}; remove it, or give "
                                                   "another folder with --output",
                                                   fetched.path, source.name)};
  }
  if (Status status = MakeRoom(source, fetch, part); !status) {
    return status.error();
  }
  const std::string url = fetch.hub + "/" + source.repository + "/resolve/main/" + source.file;
  const Result<int> status =
      base::Download({url, part, fetch.token, kMostResumes, fetch.progress, fetch.wait});
  if (!status) {
    const Error& failure = status.error();
    return failure.code == ErrorCode::kUnavailable
               ? ConnectionError(source, fetch, failure.message, SizeOf(part))
               : failure;
  }
  if (*status / 100 != 2) {
    return AnswerError(source, fetch, *status);
  }
  const std::string sha256 = Sha256OfFile(part);
  if (sha256 != source.sha256) {
    fs::remove(part, error);
    return Error{ErrorCode::kDataLoss,
                 fmt::format("{} sent a file with the SHA-256 {} instead of {}; it was removed; "
                             "try again, or name another hub with --hub",
                             HostOf(fetch.hub), sha256, source.sha256)};
  }
  fs::rename(part, fetched.path, error);
  if (error) {
    return Error{ErrorCode::kResourceExhausted, fetched.path + ": " + error.message()};
  }
  return fetched;
}

}  // namespace hyper::app
