// One stored pool of independent complete paths serves every method that only votes on such paths,
// and online DeepConf, whose paths are beginnings of them: nothing is decoded twice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hyper/ask.h"
#include "hyper/options.h"
#include "hyper/session.h"
#include "src/eval/run/replay_engine.h"
#include "src/store/records.h"

namespace hyper::eval {

// Independent complete paths that a row starts; 0 where it is no method that can be replayed. Pure.
int ReplayablePaths(const std::string& method, const MethodOptions& options);

// Whether a run left a pool behind that serves others: independent paths, each decoded to its end.
// Pure.
bool MakesPool(const std::string& method, const MethodOptions& options);

// Whether the run's paths may have been cancelled by --stop. Pure.
bool EndsEarly(const StoredRun& run);

// The signal that the run's stored confidences are, by name; empty where it does not say. Pure.
std::string ConfidenceOf(const StoredRun& run);

// The series that give a signal again for each token; none where the confidences themselves are
// stored, since they average candidates. Pure.
std::vector<const char*> SeriesOfSignal(ConfidenceSignal signal);

// Whether paths of `pool` are those that `row` would decode: equal model, engine, version, suite,
// seed, sampler and length, and confidences that can be had from what is stored. Pure.
bool ServesRow(const StoredRun& pool, const StoredRun& row);

// Bytes of a token, for the texts of paths that are cut off.
using TokenTextOf = std::function<std::string(Token)>;

// The first `count` traces of a stored item, with the confidences that the row asks for.
//   text_of  may be empty: a trace then has its whole text at its last token
//   method  of the row
// Errors: kNotFound where the item holds fewer such paths, one that did not come to its own end, or
// one without the series that the method takes. Pure.
Result<std::vector<ReplayTrace>> TracesOf(const StoredItem& item, int count, const StoredRun& pool,
                                          const std::string& method, const MethodOptions& row,
                                          const TokenTextOf& text_of);

// Runs a plan over traces to its end. `spec` is that of a live session. Times are unknown in the
// result's ledger, entropy and diversity in its warm-up. Errors: as OpenSession.
Result<StoredItem> Replay(std::vector<ReplayTrace> traces, const ModelInfo& model,
                          const RunPlan& plan, SessionSpec spec, const ItemKey& key);

}  // namespace hyper::eval
