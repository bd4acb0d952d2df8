// Fetches a known model from a hub.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/hyper/models/model_sources.h"
#include "hyper/result.h"

namespace hyper::app {

// The public hub of models and data sets, and its service for the rows of a data set.
inline constexpr const char* kPublicHub = "https://huggingface.co";
inline constexpr const char* kPublicRows = "https://datasets-server.huggingface.co";

// The address of the hub: `given` by --hub, else HYPER_HUB's, else `fallback`, without a slash at
// its end.
std::string HubAddress(const std::string& given, const char* fallback);

struct ModelFetch {
  std::string hub;                              // as HubAddress gives it
  std::string token;                            // empty: none
  std::string folder;                           // made where it is missing
  std::function<void(int64_t bytes)> progress;  // told how much of the file there is
  std::function<void(double seconds)> wait;     // as of DownloadRequest
};

struct FetchedModel {
  std::string path;
  bool present = false;  // it was there already
};

// GET HUB/REPOSITORY/resolve/main/FILE into FOLDER/FILE. What has arrived stands in FILE.part until
// the SHA-256 is right: a fetch that was cut off goes on where it was. Errors: kUnavailable
// (offline, refused), kInvalidArgument (a token is needed or has no access), kNotFound (the hub has
// no such file), kDataLoss (another file came, or is there), kResourceExhausted (no room, or it
// cannot be written).
Result<FetchedModel> FetchModel(const ModelSource& source, const ModelFetch& fetch);

}  // namespace hyper::app
