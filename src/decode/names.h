// Texts of the decoding core: step delimiters, reasons.
#pragma once

#include <optional>
#include <string>

namespace hyper {

// The text that an option spells with the escapes \n, \t and \\ in it; nothing where it is empty or
// holds another escape. Pure.
std::optional<std::string> UnescapeDelimiter(const std::string& escaped);

// "window mean 3.91 fell below the threshold 4.02".
std::string PruneReason(double window_mean, double threshold);

}  // namespace hyper
