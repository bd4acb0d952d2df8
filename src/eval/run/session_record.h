// A finished session as the run store keeps it.
#pragma once

#include <vector>

#include "hyper/records.h"
#include "hyper/session.h"
#include "src/store/records.h"

namespace hyper::eval {

// Everything of a session that is stored.
//   records  all that its pool emitted, in order; tokens are taken from the paths instead
// A session that failed becomes kFailed with its error; so does one of whose paths the engine gave
// up half or more: the vote of the rest is no answer of the method. One that a limit stopped, or
// that lost a few paths, is kPartial. Series hold a path's own tokens only. Pure.
StoredItem RecordSession(const Session& session, const std::vector<Record>& records, ItemKey key);

}  // namespace hyper::eval
