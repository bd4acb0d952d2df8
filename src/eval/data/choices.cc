#include "src/eval/data/choices.h"

#include <cctype>

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

Error BadChoice(const std::string& reason) { return {ErrorCode::kDataLoss, reason}; }

std::string Upper(std::string text) {
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

Status AddOption(std::vector<ChoiceOption>& options, const json& label, const json& text) {
  if (!label.is_string() || !text.is_string()) {
    return BadChoice("an option whose label or text is not a string");
  }
  const std::string name = Upper(label.get<std::string>());
  if (name.size() != 1 || std::isalnum(static_cast<unsigned char>(name[0])) == 0) {
    return BadChoice("the option label '" + name + "' is not a single letter or digit");
  }
  for (const ChoiceOption& other : options) {
    if (other.label == name) {
      return BadChoice("two options with the label " + name);
    }
  }
  options.push_back({name, text.get<std::string>()});
  return {};
}

// {"text": [...], "label": [...]}, as ARC has it.
Result<std::vector<ChoiceOption>> ParallelLists(const json& texts, const json& labels) {
  if (!texts.is_array() || !labels.is_array() || texts.size() != labels.size()) {
    return BadChoice("option texts and labels that are not lists of equal length");
  }
  std::vector<ChoiceOption> options;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (Status status = AddOption(options, labels[i], texts[i]); !status) {
      return status.error();
    }
  }
  return options;
}

// [{"text": ..., "label": ...}, ...] or ["text", ...].
Result<std::vector<ChoiceOption>> OneList(const json& entries) {
  if (entries.size() > kLetters.size()) {
    return BadChoice("more than 26 options");
  }
  std::vector<ChoiceOption> options;
  for (size_t i = 0; i < entries.size(); ++i) {
    const json& entry = entries[i];
    const bool object = entry.is_object() && entry.contains("text") && entry.contains("label");
    const json label = object ? entry["label"] : json(std::string(1, kLetters[i]));
    const json& text = object ? entry["text"] : entry;
    if (Status status = AddOption(options, label, text); !status) {
      return status.error();
    }
  }
  return options;
}

// Whether a line begins with the label and a mark: "B. text", "B) text", "(B) text".
bool LineHasLabel(std::string_view line, char label) {
  const size_t start = line.find_first_not_of(" \t(");
  if (start == std::string_view::npos || start + 2 > line.size()) {
    return false;
  }
  return line[start] == label && (line[start + 1] == '.' || line[start + 1] == ')');
}

}  // namespace

Result<std::vector<ChoiceOption>> ReadOptions(const json& value) {
  if (value.is_array()) {
    return OneList(value);
  }
  if (!value.is_object()) {
    return BadChoice("options that are neither a list nor an object");
  }
  if (value.contains("text") && value.contains("label")) {
    return ParallelLists(value["text"], value["label"]);
  }
  std::vector<ChoiceOption> options;
  for (const auto& [label, text] : value.items()) {
    if (Status status = AddOption(options, label, text); !status) {
      return status.error();
    }
  }
  return options;
}

std::string LabelsInText(std::string_view question) {
  std::string labels;
  while (!question.empty()) {
    const size_t end = question.find('\n');
    const std::string_view line = question.substr(0, end);
    question.remove_prefix(end == std::string_view::npos ? question.size() : end + 1);
    if (labels.size() < kLetters.size() && LineHasLabel(line, kLetters[labels.size()])) {
      labels += kLetters[labels.size()];
    } else if (LineHasLabel(line, 'A')) {
      labels.assign(1, 'A');
    }
  }
  return labels.size() >= 2 ? labels : "";
}

Result<std::string> GoldLabel(const std::string& gold, bool is_number, const std::string& labels,
                              const std::vector<ChoiceOption>& options) {
  const std::string name = Upper(gold);
  if (name.size() == 1 && labels.find(name) != std::string::npos) {
    return name;
  }
  if (is_number && gold.size() <= 2 && gold.find_first_not_of("0123456789") == std::string::npos) {
    const size_t place = static_cast<size_t>(std::stoi(gold));
    if (place < labels.size()) {
      return labels.substr(place, 1);
    }
  }
  for (const ChoiceOption& option : options) {
    if (option.text == gold) {
      return option.label;
    }
  }
  return BadChoice("the gold '" + gold + "' is none of the options " + labels);
}

}  // namespace hyper::eval
