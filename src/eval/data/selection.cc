#include <algorithm>
#include <map>
#include <set>

#include "src/eval/data/bundled.h"
#include "src/eval/data/questions.h"

namespace hyper::eval {
namespace {

std::string Join(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    joined += (joined.empty() ? "" : ", ") + name;
  }
  return joined;
}

// The questions of a data file's text.
Result<QuestionSet> ReadText(const Suite& suite, const Result<std::string>& text,
                             const std::string& source) {
  if (!text) {
    return text.error();
  }
  const Result<std::vector<DataRow>> rows = ParseRows(*text, source);
  return rows ? ReadQuestions(suite, *rows, source) : Result<QuestionSet>(rows.error());
}

Result<QuestionSet> LoadBundled(const Suite& suite, const Selection& selection) {
  QuestionSet all;
  std::set<std::string> splits;
  for (const SuiteFile& file : suite.files) {
    splits.insert(file.split);
    if (file.split != selection.split) {
      continue;
    }
    const auto bytes = FindBundledFile(file.path);
    if (!bytes) {
      return Error{ErrorCode::kNotFound, "there is no bundled file " + file.path};
    }
    Result<QuestionSet> set = ReadText(suite, std::string(*bytes), file.path);
    if (!set) {
      return set.error();
    }
    for (Question& question : set->questions) {
      question.group = file.group;
      all.questions.push_back(std::move(question));
    }
    all.left_out += set->left_out;
  }
  if (all.questions.empty()) {
    return InvalidArgument("suite " + suite.name + " has no split '" + selection.split +
                           "'; it has " + Join(splits));
  }
  return all;
}

}  // namespace

std::vector<Question> Select(const std::vector<Question>& questions, const Selection& selection) {
  // Groups in the order asked for, or of first appearance; each a queue of questions.
  std::vector<std::string> order;
  for (const std::string& name : selection.groups) {
    if (std::find(order.begin(), order.end(), name) == order.end()) {
      order.push_back(name);
    }
  }
  std::map<std::string, std::vector<const Question*>> groups;
  for (const Question& question : questions) {
    auto& group = groups[question.group];
    if (group.empty() && selection.groups.empty()) {
      order.push_back(question.group);
    }
    group.push_back(&question);
  }
  std::vector<Question> chosen;
  for (size_t turn = 0; turn < questions.size(); ++turn) {
    for (const std::string& name : order) {
      const auto& group = groups[name];
      if (turn >= group.size()) {
        continue;
      }
      if (selection.limit > 0 && static_cast<int>(chosen.size()) == selection.limit) {
        return chosen;
      }
      chosen.push_back(*group[turn]);
    }
  }
  return chosen;
}

Result<QuestionSet> LoadQuestions(const Suite& suite, const Selection& selection,
                                  const std::string& data_file) {
  Result<QuestionSet> set = QuestionSet{};
  if (!data_file.empty()) {
    set = ReadText(suite, ReadWholeFile(data_file), data_file);
  } else if (suite.own_questions) {
    set = ReadText(suite, suite.own_questions(), "suite " + suite.name);
  } else if (!suite.files.empty()) {
    set = LoadBundled(suite, selection);
  } else {
    return InvalidArgument("the questions of " + suite.name +
                           " are not bundled; give them with --data FILE");
  }
  if (!set) {
    return set;
  }
  std::set<std::string> present;
  for (const Question& question : set->questions) {
    present.insert(question.group);
  }
  for (const std::string& group : selection.groups) {
    if (present.count(group) == 0) {
      return InvalidArgument(suite.name + " has no group '" + group + "'; it has " + Join(present));
    }
  }
  set->questions = Select(set->questions, selection);
  return set;
}

std::vector<ChatMessage> PromptMessages(const Suite& suite, const Question& question) {
  std::string options;
  for (const ChoiceOption& option : question.options) {
    options += (options.empty() ? "" : "\n") + option.label + ". " + option.text;
  }
  std::string text;
  std::string_view rest = suite.prompt;
  while (!rest.empty()) {
    constexpr std::string_view kQuestion = "{question}";
    constexpr std::string_view kOptions = "{options}";
    if (rest.starts_with(kQuestion)) {
      text += question.text;
      rest.remove_prefix(kQuestion.size());
    } else if (rest.starts_with(kOptions)) {
      text += options;
      rest.remove_prefix(kOptions.size());
    } else {
      text += rest.front();
      rest.remove_prefix(1);
    }
  }
  std::vector<ChatMessage> messages;
  if (!suite.system.empty()) {
    messages.push_back({"system", suite.system});
  }
  messages.push_back({"user", std::move(text)});
  return messages;
}

ExtractOptions AnswerOptions(const Question& question) {
  ExtractOptions options;
  options.kind = question.kind;
  if (!question.labels.empty()) {
    options.options = question.labels;
  }
  return options;
}

}  // namespace hyper::eval
