#include "src/store/series.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace hyper {
namespace {

// Numbers are taken apart by arithmetic: the bytes are the same on every machine.
template <class T>
void AppendBytes(const std::vector<T>& values, std::string& bytes) {
  bytes.reserve(bytes.size() + values.size() * sizeof(T));
  for (const T value : values) {
    if constexpr (sizeof(T) == 1) {
      bytes += static_cast<char>(value);
    } else {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) {
        bytes += static_cast<char>(bits >> shift & 0xFF);
      }
    }
  }
}

template <class T>
Result<std::vector<T>> FromBytes(std::string_view bytes) {
  if (bytes.size() % sizeof(T) != 0) {
    return Error{ErrorCode::kDataLoss, "a series of " + std::to_string(bytes.size()) +
                                           " bytes, not a whole number of values"};
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (sizeof(T) == 1) {
      values[i] = static_cast<T>(bytes[i]);
    } else {
      uint32_t bits = 0;
      for (size_t k = 0; k < 4; ++k) {
        bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[4 * i + k])) << 8 * k;
      }
      values[i] = std::bit_cast<T>(bits);
    }
  }
  return values;
}

template <class T>
Status SetValues(std::string_view bytes, StoredSeries& series) {
  Result<std::vector<T>> values = FromBytes<T>(bytes);
  if (!values) {
    return values.error();
  }
  series.values = std::move(*values);
  return {};
}

const StoredPath* FindPath(const StoredItem& item, PathId path) {
  for (const StoredPath& candidate : item.paths) {
    if (candidate.path == path) {
      return &candidate;
    }
  }
  return nullptr;
}

const StoredSeries* FindSeries(const StoredItem& item, PathId path, const std::string& name) {
  for (const StoredSeries& candidate : item.series) {
    if (candidate.path == path && candidate.name == name) {
      return &candidate;
    }
  }
  return nullptr;
}

}  // namespace

const char* SeriesTypeName(const StoredSeries& series) {
  constexpr const char* kNames[] = {"f32", "i32", "u8"};
  return kNames[series.values.index()];
}

std::string PackSeries(const StoredSeries& series) {
  std::string bytes;
  std::visit([&](const auto& values) { AppendBytes(values, bytes); }, series.values);
  return bytes;
}

Status UnpackSeries(std::string_view type, std::string_view bytes, StoredSeries& series) {
  if (type == "f32") {
    return SetValues<float>(bytes, series);
  }
  if (type == "i32") {
    return SetValues<int32_t>(bytes, series);
  }
  if (type == "u8") {
    return SetValues<uint8_t>(bytes, series);
  }
  return Error{ErrorCode::kDataLoss, "a series of the unknown type '" + std::string(type) + "'"};
}

Result<std::vector<float>> ExpandSeries(const StoredItem& item, PathId path,
                                        const std::string& name) {
  // From the path up to its root: each ancestor gives the tokens before `end`.
  std::vector<float> reversed;
  int end = -1;
  for (PathId current = path; current != kNoPath;) {
    const StoredPath* record = FindPath(item, current);
    const StoredSeries* part = FindSeries(item, current, name);
    if (record == nullptr || part == nullptr ||
        !std::holds_alternative<std::vector<float>>(part->values)) {
      return Error{ErrorCode::kNotFound,
                   "path " + std::to_string(current) + " has no series '" + name + "'"};
    }
    const auto& values = std::get<std::vector<float>>(part->values);
    const int length = part->first + static_cast<int>(values.size());
    if (end < 0) {
      end = length;
    }
    if (length < end) {
      return Error{ErrorCode::kDataLoss, "path " + std::to_string(current) + " has only " +
                                             std::to_string(length) + " values of '" + name + "'"};
    }
    for (int i = end - 1; i >= part->first; --i) {
      reversed.push_back(values[static_cast<size_t>(i - part->first)]);
    }
    end = std::min(end, part->first);
    if (end == 0) {
      break;
    }
    current = record->parent;
  }
  if (end > 0) {
    return Error{ErrorCode::kDataLoss, "the first " + std::to_string(end) + " values of '" + name +
                                           "' of path " + std::to_string(path) + " are missing"};
  }
  return std::vector<float>(reversed.rbegin(), reversed.rend());
}

}  // namespace hyper
