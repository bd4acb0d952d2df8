// Equivalence of two mathematical answers: equal, not equal, or undecided.
// Reads LaTeX and plain notation; compares by proof, never by tolerance. docs/answers.md lists
// the notation that is read and the policies behind the options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace hyper {

// What is known about two answers. kUndecided: neither equality nor difference was proved, because
// one side could not be read or the work budget ran out; it is not an error.
enum class Verdict { kEqual, kNotEqual, kUndecided };

// "equal", "not equal" or "undecided". Pure.
const char* VerdictName(Verdict verdict);

// How `\log` without a base is read.
enum class BareLog {
  kEither,   // natural or decimal: equal only if both readings are; a contradiction is undecided
  kNatural,  // base e
  kDecimal,  // base 10
};

// Policies that people disagree on, and the bounds of the work. docs/answers.md gives the reasons.
struct EqualOptions {
  // A decimal also equals every value that rounds to it at its number of decimals: 33.3 = 100/3.
  bool rounded = false;
  // "35 cm" equals "35", "60 degrees" equals "60", "$5" equals "5" and "50%" equals "50" and 1/2.
  // Two different units never match, except by conversion (1 m equals 100 cm).
  bool ignore_units = true;
  // "2k + 1" equals "2n + 1": variables may be renamed one to one.
  bool allow_renamed_constants = false;
  // "x = 5" and "f(x) = 5" equal "5": the left side names the answer.
  bool ignore_assignment = true;
  // An open interval equals a pair, "(0, 1)", where the other side is an interval or inequality.
  bool pair_as_interval = true;
  // A column or row vector equals the tuple of its entries.
  bool vector_as_tuple = true;
  BareLog bare_log = BareLog::kEither;
  // Base in which integers without a base subscript are written, 2 to 36 (the question said
  // "in base 7"); 0: ten. A literal with a digit that the base lacks is read in base ten.
  int base = 0;
  // Work allowed per call, in elementary steps; one step is about a microsecond.
  std::size_t max_steps = 100'000;
  // Bytes of operands that a call may create in all.
  std::size_t max_bytes = std::size_t{32} << 20;
  // Random points for expressions with variables are drawn from this seed.
  std::uint64_t seed = 1;
};

// A verdict and, in one line of English, why.
struct EqualResult {
  Verdict verdict = Verdict::kUndecided;
  std::string reason;
};

// Whether two answers mean the same. Symmetric in `gold` and `answer`; an answer that can be
// decoded as UTF-8 and is not empty equals itself, whatever it says. Expressions with variables
// are equal when they agree wherever both are real and defined.
// Work is bounded by options.max_steps and max_bytes, on any input. Pure; any thread.
EqualResult AnswersEqual(std::string_view gold, std::string_view answer,
                         const EqualOptions& options = {});

// A text that two answers share only if they are equal: one hash groups most answers. Equal
// answers may still have different keys. Empty for an answer that is empty or not UTF-8. Any
// thread; work bounded as in AnswersEqual.
std::string CanonicalKey(std::string_view answer, const EqualOptions& options = {});

// Group of each answer: the transitive closure of "equal", so the order of the answers cannot
// change who is grouped with whom. Groups are numbered from 0 by first appearance; an answer
// without a key (empty, not UTF-8) has a group of its own.
// One hash per answer; of the distinct keys only those are compared in pairs whose values may lie
// at the same place of the real line (numbers, tuples and sets of them, expressions; units,
// relations and words are compared with all). The work budget holds per answer and per pair.
// Any thread.
std::vector<int> GroupAnswers(std::span<const std::string> answers,
                              const EqualOptions& options = {});

}  // namespace hyper
#pragma GCC visibility pop
