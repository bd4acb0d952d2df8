// Numbers as the language of a text writes them: decimal commas, groups behind dots and blanks.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/extract/numbers.h"
#include "src/extract/prose.h"
#include "src/extract/rules.h"
#include "src/extract/scan.h"

namespace hyper::extract {
namespace {

// The number with marks that is all of `raw`, units and currency aside, as it stands in `text`:
// with what is before a comma where `raw` only has what is behind it. Empty if there is none.
std::string_view LoneNumber(std::string_view text, std::string_view raw) {
  constexpr std::string_view kNumber = "0123456789.,";
  constexpr size_t kLongest = 16;
  const size_t first = raw.find_first_of(kNumber.substr(0, 10));
  if (first == std::string_view::npos) {
    return {};
  }
  const size_t end = std::min(raw.find_first_not_of(kNumber, first), raw.size());
  if (raw.find_first_of(kNumber.substr(0, 10), end) != std::string_view::npos) {
    return {};
  }
  if (raw.find_first_of("\\(/^", 0) != std::string_view::npos) {
    return {};
  }
  size_t begin = PlaceOf(raw, text) + first;
  const size_t last = begin + (end - first);
  const size_t from = begin > kLongest ? begin - kLongest : 0;
  if (first == 0 && begin > from + 1 && text[begin - 1] == ',' && IsDigit(text[begin - 2])) {
    for (--begin; begin > from && IsDigit(text[begin - 1]);) {
      --begin;
    }
  }
  std::string_view number = Slice(text, begin, last);
  while (number.ends_with('.') || number.ends_with(',')) {
    number.remove_suffix(1);
  }
  return number;
}

// The number whose last group of digits `raw` is, with the groups and blanks before it: of "1 234
// 567" behind 567 all. `raw` itself where no group stands before it.
std::string_view WithSpaceGroups(std::string_view text, std::string_view raw) {
  constexpr size_t kMostGroups = 8;
  const auto digits_before = [text](size_t end) {
    size_t begin = end;
    while (begin > 0 && end - begin < 4 && IsDigit(text[begin - 1])) {
      --begin;
    }
    return end - begin;
  };
  size_t begin = PlaceOf(raw, text);
  size_t run = std::min(raw.find_first_not_of("0123456789"), raw.size());
  for (size_t groups = 0; groups < kMostGroups && run == 3; ++groups) {
    if (begin < 2 || text[begin - 1] != ' ') {
      break;
    }
    run = digits_before(begin - 1);
    const size_t first = begin - 1 - run;
    const char before = first == 0 ? ' ' : text[first - 1];
    const bool number = run > 0 && run < 4 && (IsSpace(before) || before == '$');
    if (!number) {
      break;
    }
    begin = first;
  }
  return text[begin] == '0' ? raw : Slice(text, begin, PlaceOf(raw, text) + raw.size());
}

}  // namespace

Found InItsLanguage(std::string_view text, Found found, AnswerKind kind) {
  const std::string_view grouped_raw = WithSpaceGroups(text, found.raw);
  if (grouped_raw.size() > found.raw.size() && found.rule == "last_number" &&
      WritesDecimalComma(text)) {
    if (std::optional<std::string> number = CanonicalNumber(grouped_raw)) {
      return {grouped_raw, *std::move(number), found.rule};
    }
  }
  const std::string_view number = LoneNumber(text, found.raw);
  const size_t mark = number.find_first_of(".,");
  if (mark == std::string_view::npos || number.find_first_of(".,", mark + 1) != number.npos) {
    return found;
  }
  const size_t behind = number.size() - mark - 1;
  const bool grouped = number[mark] == '.' && behind == 3 && mark <= 3 && number[0] != '0' &&
                       kind == AnswerKind::kInteger;
  const bool decimal = number[mark] == ',' && behind > 0 && behind < 3;
  if ((!grouped && !decimal) || !WritesDecimalComma(text)) {
    // "it weighs 3,5 kg" in English: whatever the comma means, it does not say 5.
    const bool torn = decimal && found.rule == "last_number" && kind == AnswerKind::kMath;
    return torn ? Found{number, std::string(number), found.rule} : found;
  }
  std::string plain = found.normal.starts_with('-') ? "-" : "";
  plain += number.substr(0, mark);
  if (decimal) {
    plain += '.';
  }
  plain += number.substr(mark + 1);
  found.normal = CanonicalNumber(plain).value_or(plain);
  if (number.data() < found.raw.data()) {
    found.raw = number;
  }
  return found;
}

}  // namespace hyper::extract
