// Several studies as one: the parts of a study that ran on several machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyper/result.h"

namespace hyper {

struct MergeReport {
  int64_t runs = 0;
  int64_t questions = 0;
  int64_t items = 0;
  int64_t repeated = 0;  // items that two studies had alike, or that failed in one of them
};

// Makes the study `target` of all rows of `sources`, which stay as they are. Runs of equal identity
// and equal questions become one. An item that one study has failed at and another has finished
// counts as finished, its failed attempt as lost work.
// Errors: kInvalidArgument where two studies contradict each other, and the message names both:
// another gold or group of a question, another finished answer of an item, two runs of one label,
// method, suite, model, engine, version and seed with different settings; kInvalidArgument where
// `target` exists; those of Store::Open. After an error there is no `target`.
Result<MergeReport> MergeStudies(const std::vector<std::string>& sources,
                                 const std::string& target);

}  // namespace hyper
