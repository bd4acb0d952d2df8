// Decision numbers of forks that no decision makes. No method gets as far, and no two are equal, so
// that none of these draws like a branch or like another.
#pragma once

namespace hyper {

inline constexpr int kRequestedForkStep = 1 << 30;  // by a client of the server
inline constexpr int kProbeStep = kRequestedForkStep + 1;

}  // namespace hyper
