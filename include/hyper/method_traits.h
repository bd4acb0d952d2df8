// The traits of each method: the columns of the paper's Table 1, as this implementation has
// them.
#pragma once

#include <string>

#include "hyper/options.h"
#include "hyper/result.h"

#pragma GCC visibility push(default)
namespace hyper {

struct MethodTraits {
  const char* granularity = "path";  // what is decided on: "token", "step" or "path"
  bool adaptive = false;             // expands or reduces the pool by what it sees
  bool rigid_search = false;         // explores along the levels of a tree of steps
  bool aggregates = true;            // the answer is picked among those of several paths
  bool prunes = false;               // gives paths up before their end
  bool refines_tokens = false;       // makes single tokens out of several proposals
  bool trained_policy = false;       // needs a policy model trained for it
  bool reward_model = false;         // needs a trained reward model
};

// The traits of a method with these options, such as its width and allowed actions.
// Errors: kNotFound (no such method). Pure.
Result<MethodTraits> TraitsOf(const std::string& method, const MethodOptions& options);

}  // namespace hyper
#pragma GCC visibility pop
