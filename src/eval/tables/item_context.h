// A stored item with what it belongs to.
#pragma once

#include "src/store/records.h"

namespace hyper::eval {

struct ItemContext {
  const StoredRun& run;
  const StoredQuestion& question;
  const ItemSummary& summary;
};

}  // namespace hyper::eval
