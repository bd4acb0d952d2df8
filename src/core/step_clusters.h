// Which steps say the same thing: TF-IDF vectors of their words, and clusters of those.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hyper {

// Square matrix [texts][texts] of cosine distances in [0, 1] between the TF-IDF vectors of `texts`.
// Terms are runs of letters (ASCII ones made small; bytes above 127 count as letters), runs of
// digits, and single other characters but white space. A term counts as often as it occurs, times
// ln((1 + n) / (1 + df)) + 1, n texts of which df hold it. Two texts without any term are 0 apart,
// one without is 1 from one with. Source: ETS (Hooper et al. 2025) compares sentence embeddings;
// this is what can be had without a second model. Pure; O(n^2 terms).
std::vector<std::vector<double>> TextDistances(std::span<const std::string> texts);

// Average-linkage clustering: the two clusters whose members' mean distance is smallest are joined,
// until that mean is above `cut`. Source: ETS, which has scipy's linkage(method="average") and
// fcluster(criterion="distance").
//   distances  square, symmetric
// Returns each item's cluster, numbered from 0 in the order of their first items. Of equally close
// pairs the one of earlier items is joined first. Pure; O(n^3).
std::vector<int> AverageLinkage(std::span<const std::vector<double>> distances, double cut);

}  // namespace hyper
