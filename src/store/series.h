// Per-token series as bytes, and a path's whole series out of the parts stored with its ancestors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"
#include "src/store/records.h"

namespace hyper {

// "f32", "i32" or "u8", and the values as little-endian bytes, one after the other. NaN keeps its
// bits. Pure.
const char* SeriesTypeName(const StoredSeries& series);
std::string PackSeries(const StoredSeries& series);

// The inverse; `values` of `series` is set. Errors: kDataLoss (unknown type, bytes that are no
// whole number of values). Pure.
Status UnpackSeries(std::string_view type, std::string_view bytes, StoredSeries& series);

// The float series `name` of a path from its first token on: the parts of its ancestors up to where
// it forked, then its own. Errors: kNotFound (the path, or the series of it or of an ancestor),
// kDataLoss (a part that is shorter than what was inherited from it). Pure.
Result<std::vector<float>> ExpandSeries(const StoredItem& item, PathId path,
                                        const std::string& name);

}  // namespace hyper
