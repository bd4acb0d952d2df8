// Tokens of an answer in LaTeX or plain notation. Spacing, sizing and math delimiters are
// dropped, Unicode is mapped onto ASCII names, grouped digits become one number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyper::answer {

enum class TokenKind {
  kEnd,
  kNumber,   // text: digits with at most one point, and an exponent such as "e-5"
  kName,     // text: a run of letters as written in plain text
  kCommand,  // text: name of a LaTeX command, without the backslash
  kText,     // text: contents of \text{...} and its kin
  kPunct,    // text: one character; "{" and "}" are LaTeX groups, \{ is kCommand "{"
};

struct Lexeme {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  bool space_before = false;
};

// Tokens without the kEnd, or the reason why the text cannot be an answer.
struct Tokens {
  std::vector<Lexeme> tokens;
  std::string error;  // empty: fine
};

// Splits an answer into tokens; linear in its length. Errors: not UTF-8, control characters,
// U+FFFD (bytes lost on the way), more than max_tokens tokens.
Tokens Tokenize(std::string_view text, size_t max_tokens);

// A command that the reader does not know: stands before a character that cannot be read.
inline constexpr std::string_view kUnreadableCommand = "\\unreadable";

// The answer with Unicode mathematics written as ASCII or LaTeX, in `out`. False where the text
// is not UTF-8 or has control characters or U+FFFD.
bool FoldUnicode(std::string_view text, std::string& out);

// One text for answers that differ only in spacing, sizing and delimiters.
std::string NormalisedText(const std::vector<Lexeme>& tokens);

}  // namespace hyper::answer
