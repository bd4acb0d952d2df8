#include "apps/hyper/input/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace hyper::app {
namespace {

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

// Of names of models, in quotes: "qwen2.5:7b".
bool IsQuotedCharacter(char c) { return c == '.' || c == ':' || c == '/'; }

// Reads a text from its first character to its last.
class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : text_(text) {}

  Result<std::vector<ConfigEntry>> Read() {
    while (at_ < text_.size()) {
      SkipSpaces();
      Status status;
      if (Peek() == '[') {
        status = ReadSection();
      } else if (!AtLineEnd()) {
        status = ReadEntry();
      }
      if (status) {
        status = EndLine();
      }
      if (!status) {
        return status.error();
      }
    }
    return std::move(entries_);
  }
  // Those that Read has come by.
  std::vector<ConfigSection>& sections() { return sections_; }

 private:
  // '\0' at the end.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool AtLineEnd() const { return at_ == text_.size() || Peek() == '\n' || Peek() == '#'; }

  bool Take(char c) {
    const bool there = Peek() == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void SkipSpaces() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\r') {
      ++at_;
    }
  }
  // To the next thing that is neither space, comment nor line break.
  void SkipLines() {
    for (SkipSpaces(); at_ < text_.size() && AtLineEnd(); SkipSpaces()) {
      NextLine();
    }
  }
  void NextLine() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    line_ += Take('\n') ? 1 : 0;
  }
  // The rest of the line without the spaces at its end.
  std::string Rest() const {
    std::string_view rest = text_.substr(at_, text_.find('\n', at_) - at_);
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back())) != 0) {
      rest.remove_suffix(1);
    }
    return std::string(rest);
  }
  Status Wrong(const std::string& what) const {
    return InvalidArgument(fmt::format("{}: {}", line_, what));
  }

  Status EndLine() {
    SkipSpaces();
    if (!AtLineEnd()) {
      return Wrong(fmt::format(
          "'{}' stands behind the end; put a text with spaces in quotes, a comment behind a #",
          Rest()));
    }
    NextLine();
    return {};
  }

  // Empty where there is none, or its closing quote is missing.
  std::string ReadName() {
    const char quote = Peek() == '"' || Peek() == '\'' ? Peek() : '\0';
    const size_t begin = at_ + (quote != '\0' ? 1 : 0);
    size_t end = begin;
    while (end < text_.size() &&
           (IsNameCharacter(text_[end]) || (quote != '\0' && IsQuotedCharacter(text_[end])))) {
      ++end;
    }
    at_ = end;
    return quote == '\0' || Take(quote) ? std::string(text_.substr(begin, end - begin)) : "";
  }

  Status ReadSection() {
    const std::string line = Rest();
    Take('[');
    SkipSpaces();
    section_ = ReadName();
    SkipSpaces();
    if (section_.empty() || !Take(']')) {
      return Wrong(
          fmt::format("'{}' is no section; write a name in brackets, such as [run], and "
                      "in quotes if it has a dot, a colon or a slash",
                      line));
    }
    sections_.push_back({section_, line_});
    return {};
  }

  Status ReadEntry() {
    const std::string line = Rest();
    ConfigEntry entry;
    entry.section = section_;
    entry.line = line_;
    entry.name = ReadName();
    if (section_.empty() && Take('.')) {
      entry.section = std::exchange(entry.name, ReadName());
    }
    SkipSpaces();
    if (entry.name.empty() || !Take('=')) {
      return Wrong(
          fmt::format("'{}' has no 'name ='; write an option such as width = 8, a switch "
                      "such as json = true",
                      line));
    }
    SkipSpaces();
    if (AtLineEnd()) {
      return Wrong(fmt::format("{} has no value; write one behind the =, \"\" for an empty text",
                               entry.name));
    }
    if (Status status = ReadValues(entry); !status) {
      return status;
    }
    for (const ConfigEntry& other : entries_) {
      if (other.section == entry.section && other.name == entry.name) {
        return Wrong(fmt::format("{} is also set in line {}; leave one of them out", entry.Text(),
                                 other.line));
      }
    }
    entries_.push_back(std::move(entry));
    return {};
  }

  // One value or an array, which may go on over lines.
  Status ReadValues(ConfigEntry& entry) {
    entry.is_array = Take('[');
    if (!entry.is_array) {
      return ReadValue(entry.values);
    }
    for (SkipLines(); !Take(']'); SkipLines()) {
      Status status = at_ < text_.size() ? ReadValue(entry.values) : Status();
      if (!status) {
        return status;
      }
      SkipLines();
      if (!Take(',') && Peek() != ']') {
        line_ = entry.line;
        return Wrong(fmt::format(
            "the array of {} is not closed; separate its values by commas and end it with ]",
            entry.name));
      }
    }
    return {};
  }

  Status ReadValue(std::vector<std::string>& values) {
    if (Peek() == '"' || Peek() == '\'') {
      return ReadQuoted(values);
    }
    const size_t end = std::min(text_.find_first_of(" \t\r\n#,[]\"'", at_), text_.size());
    if (end == at_) {
      return Wrong(fmt::format("'{}' is no value; put a text in quotes", Rest()));
    }
    values.emplace_back(text_.substr(at_, end - at_));
    at_ = end;
    return {};
  }

  // Single quotes keep backslashes, double quotes have those of TOML that options may need.
  Status ReadQuoted(std::vector<std::string>& values) {
    const std::string line = Rest();
    const char quote = Peek();
    std::string value;
    for (++at_; Peek() != quote; ++at_) {
      if (at_ == text_.size() || Peek() == '\n') {
        return Wrong(fmt::format("{} has no closing quote; end the text with {}", line, quote));
      }
      if (quote == '\'' || !Take('\\')) {
        value += Peek();
        continue;
      }
      switch (Peek()) {
        case 'n':
          value += '\n';
          break;
        case 't':
          value += '\t';
          break;
        case '"':
        case '\\':
          value += Peek();
          break;
        default:
          return Wrong(
              fmt::format("{} has a backslash alone; write two, or put the text in single "
                          "quotes",
                          line));
      }
    }
    ++at_;
    values.push_back(std::move(value));
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::string section_;
  std::vector<ConfigEntry> entries_;
  std::vector<ConfigSection> sections_;
};

// What the command goes by, with the file's name.
std::vector<std::pair<std::string, ConfigEntry>>& Used() {
  static std::vector<std::pair<std::string, ConfigEntry>> used;
  return used;
}

// Whether the message is about that option, as in "--width is 0".
bool NamesFlag(std::string_view message, const ConfigEntry& entry) {
  const std::string flag = "--" + entry.name;
  for (size_t at = message.find(flag); at != std::string_view::npos;
       at = message.find(flag, at + 1)) {
    const size_t end = at + flag.size();
    if (end == message.size() || !IsNameCharacter(message[end])) {
      return true;
    }
  }
  return false;
}

// The same, as in "method 'hypr' is not known".
bool NamesValue(std::string_view message, const ConfigEntry& entry) {
  return !entry.values.empty() &&
         message.find(fmt::format("{} '{}'", entry.name, entry.values.front())) !=
             std::string_view::npos;
}

}  // namespace

std::string ConfigEntry::Text() const {
  const std::string text = fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{} = {}", name, is_array ? "[" + text + "]" : text);
}

Result<std::vector<ConfigEntry>> ParseConfig(std::string_view text) {
  return ConfigReader(text).Read();
}

Result<std::vector<ConfigSection>> ParseSections(std::string_view text) {
  ConfigReader reader(text);
  const Result<std::vector<ConfigEntry>> entries = reader.Read();
  return entries ? Result<std::vector<ConfigSection>>(std::move(reader.sections()))
                 : Result<std::vector<ConfigSection>>(entries.error());
}

void UseConfig(const std::string& file, ConfigEntry entry) {
  Used().emplace_back(file, std::move(entry));
}

std::string ConfigOrigin(std::string_view message) {
  for (const auto names : {NamesFlag, NamesValue}) {
    for (const auto& [file, entry] : Used()) {
      if (names(message, entry)) {
        return fmt::format(" ({}:{}: {})", file, entry.line, entry.Text());
      }
    }
  }
  return "";
}

}  // namespace hyper::app
