// Finds out what a server can do.
#pragma once

#include <array>
#include <string>

#include "hyper/result.h"
#include "src/base/http/fetch.h"
#include "src/engine/remote/wire/abilities.h"

namespace hyper::remote {

// Asks the server at base URL `url`; `model` as the user named it, or empty.
Result<Abilities> Probe(base::HttpLoop& loop, const std::string& url, const std::string& model);

// Asks a further server of the same kind only for what may differ: that it has `first`'s model, and
// how many sequences it decodes at once.
Result<Abilities> ProbeFurther(base::HttpLoop& loop, const std::string& url,
                               const Abilities& first);

// ProbeFurther for a server that was away, without waiting: the loop brings the answers.
class Revival {
 public:
  // Asks; `loop` must outlive it.
  Revival(base::HttpLoop& loop, const std::string& url);
  ~Revival();
  Revival(const Revival&) = delete;
  Revival& operator=(const Revival&) = delete;

  // Whether all answers are here, or have failed.
  bool done() const { return models_.done && props_.done && routing_.done; }
  // What they say, once done. Errors: as ProbeFurther, and kUnsupported for another kind of server.
  Result<Abilities> Found(const Abilities& first) const;

 private:
  base::HttpLoop& loop_;
  std::string base_;
  base::BodySink models_;
  base::BodySink props_;
  base::BodySink routing_;
  std::array<base::TransferId, 3> transfers_{};
};

}  // namespace hyper::remote
