#include "src/eval/data/questions.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "src/eval/data/choices.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr double kLargestExact = 9007199254740992.0;  // 2^53: larger doubles are no longer exact

Error Bad(const std::string& reason) { return {ErrorCode::kDataLoss, reason}; }

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// The value of a key whatever its case; the exact spelling goes first. Null: none.
const json* FindKey(const json& row, const std::string& key) {
  if (const auto found = row.find(key); found != row.end()) {
    return &*found;
  }
  for (const auto& [name, value] : row.items()) {
    if (EqualIgnoringCase(name, key)) {
      return &value;
    }
  }
  return nullptr;
}

// The value of the first key that is there and not null. Null: none.
const json* FindFirst(const json& row, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const json* value = FindKey(row, key);
    if (value != nullptr && !value->is_null()) {
      return value;
    }
  }
  return nullptr;
}

std::string Join(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    joined += (joined.empty() ? "" : ", ") + name;
  }
  return joined;
}

// Text of a string or number, as written in the file.
Result<std::string> ScalarText(const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number_float() && std::abs(value.get<double>()) >= kLargestExact) {
    return Bad("the number " + value.dump() + " is too large to be exact; write it as a string");
  }
  if (value.is_number()) {
    return value.dump();
  }
  return Bad("a value that is neither text nor a number");
}

// The content of the last \boxed{...} of a text, braces matched; nothing where there is none.
std::optional<std::string_view> LastBox(std::string_view text) {
  constexpr std::string_view kBox = "\\boxed{";
  const size_t start = text.rfind(kBox);
  if (start == std::string_view::npos) {
    return std::nullopt;
  }
  int depth = 1;
  for (size_t i = start + kBox.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;  // an escaped brace does not count
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return text.substr(start + kBox.size(), i - start - kBox.size());
    }
  }
  return std::nullopt;
}

// The gold itself out of a field that may hold a worked solution.
std::string GoldValue(std::string_view text) {
  constexpr std::string_view kMark = "####";
  if (const size_t mark = text.rfind(kMark); mark != std::string_view::npos) {
    return std::string(Trim(text.substr(mark + kMark.size())));
  }
  return std::string(Trim(LastBox(text).value_or(text)));
}

// Whether a gold of an unknown kind is a mathematical object: digits, or LaTeX.
bool LooksMathematical(std::string_view gold) {
  if (gold.find('\\') != std::string_view::npos) {
    return true;
  }
  if (gold.size() > 2 && gold.front() == '$' && gold.back() == '$') {
    return true;
  }
  constexpr std::string_view kNumberBytes = "0123456789+-.,/^()% ";
  return gold.find_first_of("0123456789") != std::string_view::npos &&
         gold.find_first_not_of(kNumberBytes) == std::string_view::npos;
}

// Whole number of an integer gold ("025", "1,234", "$18"), or nothing.
std::optional<int64_t> WholeNumber(std::string_view gold) {
  std::string digits;
  for (const char c : gold) {
    if (c != ',' && c != '$' && c != ' ') {
      digits += c;
    }
  }
  const size_t sign = !digits.empty() && digits[0] == '-' ? 1 : 0;
  if (digits.size() == sign || digits.size() > 18 + sign) {
    return std::nullopt;
  }
  if (digits.find_first_not_of("0123456789", sign) != std::string::npos) {
    return std::nullopt;
  }
  return std::strtoll(digits.c_str(), nullptr, 10);
}

class RowReader {
 public:
  RowReader(const Suite& suite, const json& row) : suite_(suite), row_(row) {}

  bool LeftOut() const {
    for (const std::string& key : suite_.leave_out) {
      const json* value = FindKey(row_, key);
      if (value != nullptr && !value->is_null() && *value != "" && *value != false) {
        return true;
      }
    }
    return false;
  }

  // `number` names a row without an id.
  Result<Question> Read(int number) const {
    Question question;
    const json* options = nullptr;
    if (Status status = ReadText(question, options); !status) {
      return status.error();
    }
    const json* gold = FindFirst(row_, suite_.answer_fields);
    if (gold == nullptr) {
      return Bad("no answer (looked for " + Join(suite_.answer_fields) + ")");
    }
    const Result<std::string> text = ScalarText(*gold);
    if (!text) {
      return Bad("answer: " + text.error().message);
    }
    question.gold = GoldValue(*text);
    if (question.gold.empty()) {
      return Bad("an empty answer");
    }
    if (Status status = SetKind(question); !status) {
      return status.error();
    }
    if (question.kind == AnswerKind::kChoice) {
      if (Status status = SetChoice(question, options, gold->is_number()); !status) {
        return status.error();
      }
    }
    if (Status status = CheckRange(question); !status) {
      return status.error();
    }
    question.id = OptionalText(suite_.id_fields).value_or("row-" + std::to_string(number));
    question.group = OptionalText(suite_.group_fields).value_or("");
    return question;
  }

 private:
  std::optional<std::string> OptionalText(const std::vector<std::string>& fields) const {
    const json* value = FindFirst(row_, fields);
    if (value == nullptr) {
      return std::nullopt;
    }
    const Result<std::string> text = ScalarText(*value);
    if (!text || text->empty()) {
      return std::nullopt;
    }
    return *text;
  }

  // Question text and the place of its options; ARC's first edition nests both under "question".
  Status ReadText(Question& question, const json*& options) const {
    const json* text = FindFirst(row_, suite_.question_fields);
    if (text == nullptr) {
      return Bad("no question (looked for " + Join(suite_.question_fields) + ")");
    }
    const json* holder = &row_;
    if (text->is_object()) {
      holder = text;
      text = FindKey(*holder, "stem");
    }
    if (text == nullptr || !text->is_string()) {
      return Bad("a question that is not text");
    }
    question.text = text->get<std::string>();
    if (Trim(question.text).empty()) {
      return Bad("an empty question");
    }
    options = FindFirst(*holder, {"choices", "options"});
    return {};
  }

  Status SetKind(Question& question) const {
    question.kind = suite_.kind;
    if (!suite_.row_kind.field.empty()) {
      const json* value = FindKey(row_, suite_.row_kind.field);
      const std::string name =
          value != nullptr && value->is_string() ? value->get<std::string>() : "";
      const auto found = suite_.row_kind.values.find(name);
      if (found == suite_.row_kind.values.end()) {
        return Bad("\"" + suite_.row_kind.field + "\" is '" + name +
                   "', which the suite does not know");
      }
      const AnswerKind unknown =
          LooksMathematical(question.gold) ? AnswerKind::kMath : AnswerKind::kText;
      question.kind = ValueOf<AnswerKind>(found->second).value_or(unknown);
    }
    question.needs_judge = question.kind == AnswerKind::kText;
    return {};
  }

  static Status SetChoice(Question& question, const json* options, bool gold_is_number) {
    if (options != nullptr) {
      Result<std::vector<ChoiceOption>> read = ReadOptions(*options);
      if (!read) {
        return read.error();
      }
      question.options = std::move(*read);
    }
    for (const ChoiceOption& option : question.options) {
      question.labels += option.label;
    }
    if (question.labels.empty()) {
      question.labels = LabelsInText(question.text);
    }
    if (question.labels.size() < 2) {
      return Bad("a choice question with fewer than two options");
    }
    const Result<std::string> label =
        GoldLabel(question.gold, gold_is_number, question.labels, question.options);
    if (!label) {
      return label.error();
    }
    question.gold = *label;
    return {};
  }

  Status CheckRange(const Question& question) const {
    if (!suite_.range || question.kind != AnswerKind::kInteger) {
      return {};
    }
    const std::optional<int64_t> value = WholeNumber(question.gold);
    if (value && *value >= suite_.range->first && *value <= suite_.range->second) {
      return {};
    }
    return Bad("the answer '" + question.gold + "' is not a whole number from " +
               std::to_string(suite_.range->first) + " to " + std::to_string(suite_.range->second));
  }

  const Suite& suite_;
  const json& row_;
};

}  // namespace

Result<QuestionSet> ReadQuestions(const Suite& suite, const std::vector<DataRow>& rows,
                                  const std::string& source) {
  QuestionSet set;
  std::set<std::string> ids;
  for (const DataRow& row : rows) {
    const RowReader reader(suite, row.value);
    if (reader.LeftOut()) {
      ++set.left_out;
      continue;
    }
    const std::string place = source + " line " + std::to_string(row.number) + ": ";
    Result<Question> question = reader.Read(row.number);
    if (!question) {
      return Bad(place + question.error().message);
    }
    if (!ids.insert(question->id).second) {
      return Bad(place + "the id " + question->id + " came before");
    }
    question->suite = suite.name;
    set.questions.push_back(std::move(*question));
  }
  if (set.questions.empty()) {
    return Bad(source + " holds no question that the suite takes");
  }
  return set;
}

}  // namespace hyper::eval
