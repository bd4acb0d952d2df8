// The rules that find an answer, each a function of the text in which it may stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hyper/extract.h"

namespace hyper::extract {

// What a rule found. `refused`: the text says that there is no answer, and the search ends.
struct Found {
  std::string_view raw;
  std::string normal;
  std::string_view rule;
  bool refused = false;
};

// The last box that holds something, with those that join it to a list (kMath), else the last box
// without its closing brace.
std::optional<Found> FromBox(std::string_view text, const ExtractOptions& options);

// The last line "#### 18" (kInteger and kMath: a plain number; kChoice: a label).
std::optional<Found> FromHash(std::string_view text, const ExtractOptions& options);

// The last phrase such as "the answer is ..." that has a value. A kText answer runs on over
// several lines where `multiline` says that the text has a known end.
std::optional<Found> FromLabel(std::string_view text, const ExtractOptions& options,
                               bool multiline);

// The last bold words of the last line, notes aside, or the one bold number of the text, where
// nothing is computed behind it.
std::optional<Found> FromBold(std::string_view text, const ExtractOptions& options);

// What the text takes `found`, which stands in it, back for: `found` itself where it does not.
Found Corrected(std::string_view text, Found found, const ExtractOptions& options);

// `found` as the language of `text` means it: "1.234" is a whole number in German.
Found InItsLanguage(std::string_view text, Found found, AnswerKind kind);

// The guesses: the whole text, its last line, last formula or last number, a marked letter.
std::optional<Found> FromFallback(std::string_view text, const ExtractOptions& options);

}  // namespace hyper::extract
