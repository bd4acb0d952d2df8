// What is told of the models of a server.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hyper::server {

enum class ModelState { kUnloaded, kLoading, kLoaded, kUnloading };

inline constexpr std::array<std::string_view, 4> kModelStates = {"unloaded", "loading", "loaded",
                                                                 "unloading"};

struct ModelStatus {
  std::string name;
  ModelState state = ModelState::kUnloaded;  // kUnloading from when it takes no requests more
  bool loaded = false;                       // then too, until its runs have ended
  int64_t loads = 0;                         // that succeeded
  int64_t failures = 0;                      // that did not
  int64_t runs = 0;                          // taken since the server began, as its tokens
  int64_t generated_tokens = 0;
  int live = 0;  // runs that wait or decode now

  std::string_view state_name() const { return kModelStates[static_cast<size_t>(state)]; }
};

}  // namespace hyper::server
