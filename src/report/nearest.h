// What somebody may have meant by a word that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hyper {

// The candidate with the smallest edit distance to `word`, the first of several; empty where none
// is within a third of the word's length, rounded up. Pure.
std::string Nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean run?"; empty where nothing is near. Pure.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

// Names of all methods.
std::vector<std::string> MethodNames();

}  // namespace hyper
