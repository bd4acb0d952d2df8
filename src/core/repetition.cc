#include "src/core/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace hyper {
namespace {

constexpr size_t kReadBytes = 8192;
constexpr size_t kLeastBytes = 1000;  // of a loop: tables and lists of a sound text are shorter
constexpr size_t kLeastPeriods = 4;
constexpr size_t kLeastShortBytes = 400;  // of a loop of words: matrices are as long
constexpr size_t kLeastShortPeriods = 8;
constexpr size_t kLeastCounted = 32;
constexpr size_t kPhraseWords = 6;
constexpr int kPhraseSeen = 3;
constexpr size_t kStaleWords = 256;
constexpr double kFreshShare = 0.02;  // of them may be new
constexpr size_t kNumberDigits = 15;  // a longer run is cut: it fits an int64_t

// A word, a number, or one other character that is no space.
struct Unit {
  int id = 0;     // equal where the texts are
  int shape = 0;  // equal for all numbers
  int64_t value = 0;
  size_t begin = 0;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Bytes of UTF-8 sequences count as letters.
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// One past the last byte of the unit that begins at `begin`.
size_t UnitEnd(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  if (IsDigit(text[begin])) {
    while (end < text.size() && end - begin < kNumberDigits && IsDigit(text[end])) {
      ++end;
    }
  } else if (IsLetter(text[begin])) {
    while (end < text.size() && IsLetter(text[end])) {
      ++end;
    }
  }
  return end;
}

std::vector<Unit> UnitsOf(std::string_view text) {
  constexpr int kNumber = -1;
  std::unordered_map<std::string_view, int> ids;
  std::vector<Unit> units;
  for (size_t begin = 0; begin < text.size();) {
    if (IsSpace(text[begin])) {
      ++begin;
      continue;
    }
    const std::string_view piece = text.substr(begin, UnitEnd(text, begin) - begin);
    const int id = ids.emplace(piece, static_cast<int>(ids.size())).first->second;
    Unit unit{id, id, 0, begin};
    if (IsDigit(piece.front())) {
      unit.shape = kNumber;
      for (const char digit : piece) {
        unit.value = unit.value * 10 + (digit - '0');
      }
    }
    units.push_back(unit);
    begin += piece.size();
  }
  return units;
}

// Smallest period of every suffix: element L - 1 is that of the last L items. The prefix function
// of Knuth, Morris and Pratt, run from the end backwards.
//   equal(i, j)  whether the i-th and the j-th item from the end are the same
template <class Equal>
std::vector<size_t> SuffixPeriods(size_t count, const Equal& equal) {
  std::vector<size_t> borders(count, 0);
  std::vector<size_t> periods(count, 1);
  for (size_t last = 1; last < count; ++last) {
    size_t border = borders[last - 1];
    while (border > 0 && !equal(last, border)) {
      border = borders[border - 1];
    }
    borders[last] = border + (equal(last, border) ? 1 : 0);
    periods[last] = last + 1 - borders[last];
  }
  return periods;
}

std::optional<Repetition> FindPeriod(std::string_view text) {
  const auto from_end = [text](size_t i) { return text[text.size() - 1 - i]; };
  const std::vector<size_t> periods =
      SuffixPeriods(text.size(), [&](size_t i, size_t j) { return from_end(i) == from_end(j); });
  for (size_t bytes = text.size(); bytes >= kLeastShortBytes; --bytes) {
    const size_t period = periods[bytes - 1];
    const std::string_view last = text.substr(text.size() - std::min(period, text.size()));
    if (bytes >= kLeastBytes ? bytes >= kLeastPeriods * period
                             : bytes >= kLeastShortPeriods * period &&
                                   std::any_of(last.begin(), last.end(), IsLetter)) {
      return Repetition{Repetition::Kind::kPeriod, bytes, period};
    }
  }
  return std::nullopt;
}

// How many of the last `count` units, of the same shape as those `period` before them, follow from
// the two periods before: numbers go on by the same step. `from_end(i)` is the i-th from the end.
template <class FromEnd>
size_t CountingUnits(const FromEnd& from_end, size_t count, size_t period) {
  size_t counted = 0;
  while (counted + 2 * period < count) {
    const int64_t value = from_end(counted).value;
    const int64_t before = from_end(counted + period).value;
    if (value - before != before - from_end(counted + 2 * period).value) {
      break;
    }
    ++counted;
  }
  return counted + 2 * period;
}

std::optional<Repetition> FindCounting(std::string_view text, const std::vector<Unit>& units) {
  const auto from_end = [&units](size_t i) -> const Unit& { return units[units.size() - 1 - i]; };
  const std::vector<size_t> periods = SuffixPeriods(
      units.size(), [&](size_t i, size_t j) { return from_end(i).shape == from_end(j).shape; });
  for (size_t count = units.size(); count > 0; --count) {
    const size_t period = periods[count - 1];
    if (count < kLeastCounted * period || (count < units.size() && periods[count] == period)) {
      continue;  // a longer suffix of the same period was tried
    }
    const size_t counted = CountingUnits(from_end, count, period);
    const size_t bytes = text.size() - from_end(counted - 1).begin;
    if (counted >= kLeastCounted * period && bytes >= kLeastBytes) {
      return Repetition{Repetition::Kind::kCounting, bytes,
                        from_end(0).begin - from_end(period).begin};
    }
  }
  return std::nullopt;
}

// Whether the phrase that ends at each unit was written kPhraseSeen times before it.
std::vector<bool> StaleUnits(const std::vector<Unit>& units) {
  std::unordered_map<uint64_t, int> seen;
  std::vector<bool> stale(units.size(), false);
  for (size_t end = kPhraseWords; end <= units.size(); ++end) {
    uint64_t phrase = 0;
    for (size_t i = end - kPhraseWords; i < end; ++i) {
      phrase = (phrase ^ static_cast<uint64_t>(units[i].id)) * 0x9E3779B97F4A7C15ULL;
      phrase ^= phrase >> 29U;
    }
    stale[end - 1] = seen[phrase]++ >= kPhraseSeen;
  }
  return stale;
}

std::optional<Repetition> FindStale(std::string_view text, const std::vector<Unit>& units) {
  if (units.size() < kStaleWords) {
    return std::nullopt;
  }
  size_t first = units.size() - kStaleWords;
  while (first > 0 && text.size() - units[first].begin < kLeastBytes) {
    --first;
  }
  const std::vector<bool> stale = StaleUnits(units);
  const auto fresh = static_cast<double>(
      std::count(stale.begin() + static_cast<std::ptrdiff_t>(first), stale.end(), false));
  const size_t bytes = text.size() - units[first].begin;
  if (bytes < kLeastBytes || fresh > kFreshShare * static_cast<double>(units.size() - first)) {
    return std::nullopt;
  }
  return Repetition{Repetition::Kind::kStale, bytes, 0};
}

}  // namespace

std::optional<Repetition> FindRepetition(std::string_view text) {
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kReadBytes));
  if (end.size() < kLeastShortBytes) {
    return std::nullopt;
  }
  std::optional<Repetition> found = FindPeriod(end);
  if (found || end.size() < kLeastBytes) {
    return found;
  }
  const std::vector<Unit> units = UnitsOf(end);
  found = FindCounting(end, units);
  return found ? found : FindStale(end, units);
}

std::string RepetitionText(const Repetition& repetition) {
  switch (repetition.kind) {
    case Repetition::Kind::kPeriod:
      return fmt::format(
          "repeats itself: the last {} bytes are one text of {} bytes again and again",
          repetition.bytes, repetition.period_bytes);
    case Repetition::Kind::kCounting:
      return fmt::format("repeats itself: only its numbers change, by fixed steps, over {} bytes",
                         repetition.bytes);
    case Repetition::Kind::kStale:
      break;
  }
  return fmt::format("repeats itself: the last {} bytes say nothing that was not said before",
                     repetition.bytes);
}

}  // namespace hyper
