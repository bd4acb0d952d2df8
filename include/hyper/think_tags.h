// The marks around the reasoning in a reply.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace hyper {

// The marks around a block of reasoning; compared byte for byte, neither may be empty.
struct TagPair {
  std::string open;
  std::string close;
};

// The pairs that models in wide use write: <think>, <thinking>, <thought>, <reasoning>, [THINK],
// and others; the whole list is in docs/answers.md. A fresh copy at each call. Pure.
std::vector<TagPair> DefaultThinkTags();

}  // namespace hyper
#pragma GCC visibility pop
