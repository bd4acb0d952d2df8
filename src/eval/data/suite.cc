#include "src/eval/data/suite.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/eval/data/bundled.h"
#include "src/eval/data/rows.h"

namespace hyper::eval {
namespace {

using nlohmann::json;

constexpr std::string_view kSuitePrefix = "suites/";
constexpr std::string_view kSuiteSuffix = ".json";

// Reads the keys of one JSON object; the first mistake is kept, and Finish reports keys that nobody
// asked for, so that a misspelt key is never silently without effect.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) {
      Fail("", "takes a JSON object");
    }
  }

  std::string String(const char* key, bool required) {
    const json* value = Find(key, required);
    if (value == nullptr) {
      return "";
    }
    if (!value->is_string()) {
      return Fail(key, "takes a string"), "";
    }
    return value->get<std::string>();
  }

  bool Bool(const char* key) {
    const json* value = Find(key, false);
    if (value == nullptr) {
      return false;
    }
    if (!value->is_boolean()) {
      return Fail(key, "takes true or false"), false;
    }
    return value->get<bool>();
  }

  std::vector<std::string> Strings(const char* key, std::vector<std::string> otherwise) {
    const json* value = Find(key, false);
    if (value == nullptr) {
      return otherwise;
    }
    std::vector<std::string> strings;
    const bool array = value->is_array() && !value->empty();
    for (const json& entry : array ? *value : json::array()) {
      if (entry.is_string()) {
        strings.push_back(entry.get<std::string>());
      }
    }
    if (strings.empty() || strings.size() != value->size()) {
      Fail(key, "takes a list of strings");
    }
    return strings;
  }

  std::vector<std::pair<std::string, std::string>> StringMap(const char* key) {
    const json* value = Find(key, false);
    std::vector<std::pair<std::string, std::string>> map;
    if (value == nullptr) {
      return map;
    }
    if (!value->is_object()) {
      Fail(key, "takes an object of strings");
    }
    for (const auto& [name, entry] : value->items()) {
      if (entry.is_string()) {
        map.emplace_back(name, entry.get<std::string>());
      }
    }
    if (map.size() != value->size()) {
      Fail(key, "takes an object of strings");
    }
    return map;
  }

  // The value of a key, or null; a missing required key is a mistake.
  const json* Find(const char* key, bool required) {
    known_.emplace_back(key);
    const auto found = object_.is_object() ? object_.find(key) : object_.end();
    if (found != object_.end()) {
      return &*found;
    }
    if (required) {
      Fail(key, "is missing");
    }
    return nullptr;
  }

  void Fail(const std::string& key, const std::string& reason) {
    if (!status_.ok()) {
      return;
    }
    const std::string name = key.empty() ? "the value" : "\"" + key + "\"";
    status_ = InvalidArgument(place_ + ": " + name + " " + reason);
  }

  Status Finish() {
    if (object_.is_object()) {
      for (const auto& [name, unused] : object_.items()) {
        if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
          Fail(name, "is no key of it; docs/suites.md lists them");
        }
      }
    }
    return status_;
  }

 private:
  const json& object_;
  std::string place_;
  std::vector<std::string> known_;
  Status status_;
};

Status ReadHub(const json& value, const std::string& place, Suite& suite) {
  ObjectReader reader(value, place + " \"hub\"");
  HubSource hub;
  hub.dataset = reader.String("dataset", true);
  hub.config = reader.String("config", true);
  hub.split = reader.String("split", true);
  hub.gated = reader.Bool("gated");
  suite.hub = std::move(hub);
  return reader.Finish();
}

Status ReadFiles(const json& value, const std::string& place, Suite& suite) {
  if (!value.is_array()) {
    return InvalidArgument(place + ": \"files\" takes a list of objects");
  }
  for (const json& entry : value) {
    ObjectReader reader(entry, place + " \"files\"");
    suite.files.push_back(
        {reader.String("path", true), reader.String("split", true), reader.String("group", true)});
    if (Status status = reader.Finish(); !status) {
      return status;
    }
  }
  return {};
}

Status ReadFields(const json* value, const std::string& place, Suite& suite) {
  const json none = json::object();
  ObjectReader reader(value != nullptr ? *value : none, place + " \"fields\"");
  suite.id_fields = reader.Strings("id", {"id", "unique_id", "task_id"});
  suite.question_fields = reader.Strings("question", {"question", "problem", "prompt"});
  // "solution" comes last: beside another field it is the worked solution, alone it is the gold.
  suite.answer_fields = reader.Strings(
      "answer", {"answerKey", "answer", "expected_answer", "target", "gold", "solution"});
  suite.group_fields = reader.Strings("group", {"level", "subject"});
  return reader.Finish();
}

Status ReadRowKind(const json& value, const std::string& place, Suite& suite) {
  ObjectReader reader(value, place + " \"row_kind\"");
  suite.row_kind.field = reader.String("field", true);
  for (auto& [name, kind] : reader.StringMap("values")) {
    if (kind != "auto" && !ValueOf<AnswerKind>(kind)) {
      reader.Fail("values", "has the kind '" + kind +
                                "'; there are integer, math, choice, text, "
                                "and auto");
    }
    suite.row_kind.values[name] = kind;
  }
  return reader.Finish();
}

Status ReadRange(const json& value, const std::string& place, Suite& suite) {
  const bool fits = value.is_array() && value.size() == 2 && value[0].is_number_integer() &&
                    value[1].is_number_integer() && value[0] <= value[1];
  if (!fits) {
    return InvalidArgument(place + ": \"range\" takes two whole numbers, the smaller first");
  }
  suite.range = {value[0].get<int64_t>(), value[1].get<int64_t>()};
  return {};
}

// The parts that are objects or lists of their own.
Status ReadParts(ObjectReader& reader, const std::string& place, Suite& suite) {
  if (const json* value = reader.Find("hub", false)) {
    if (Status status = ReadHub(*value, place, suite); !status) {
      return status;
    }
  }
  if (const json* value = reader.Find("files", false)) {
    if (Status status = ReadFiles(*value, place, suite); !status) {
      return status;
    }
  }
  if (const json* value = reader.Find("row_kind", false)) {
    if (Status status = ReadRowKind(*value, place, suite); !status) {
      return status;
    }
  }
  if (const json* value = reader.Find("range", false)) {
    if (Status status = ReadRange(*value, place, suite); !status) {
      return status;
    }
  }
  return ReadFields(reader.Find("fields", false), place, suite);
}

}  // namespace

Result<Suite> ParseSuite(std::string_view text, const std::string& source) {
  const json value = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return InvalidArgument(source + " is no valid JSON");
  }
  Suite suite;
  ObjectReader reader(value, source);
  suite.name = reader.String("name", true);
  suite.title = reader.String("title", true);
  suite.system = reader.String("system", false);
  suite.prompt = reader.String("prompt", true);
  suite.step_delimiter = reader.String("step_delimiter", false);
  if (suite.step_delimiter.empty()) {
    suite.step_delimiter = "\n\n";
  }
  suite.preset = reader.String("preset", true);
  suite.leave_out = reader.Strings("leave_out", {});
  suite.options = reader.StringMap("options");
  const std::string kind_name = reader.String("answer", true);
  const std::optional<AnswerKind> kind = ValueOf<AnswerKind>(kind_name);
  if (!kind) {
    reader.Fail("answer", "is '" + kind_name + "'; there are integer, math, choice and text");
  }
  suite.kind = kind.value_or(AnswerKind::kMath);
  if (suite.prompt.find("{question}") == std::string::npos) {
    reader.Fail("prompt", "lacks {question}");
  }
  const Status parts = ReadParts(reader, source, suite);
  if (Status status = reader.Finish(); !status) {
    return status.error();
  }
  if (!parts) {
    return parts.error();
  }
  return suite;
}

std::vector<std::string> SuiteNames() {
  std::vector<std::string> names;
  for (const BundledFile& file : BundledFiles()) {
    if (!file.name.starts_with(kSuitePrefix) || !file.name.ends_with(kSuiteSuffix)) {
      continue;
    }
    const size_t length = file.name.size() - kSuitePrefix.size() - kSuiteSuffix.size();
    names.emplace_back(file.name.substr(kSuitePrefix.size(), length));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Suite> LoadSuite(const std::string& name) {
  if (name.ends_with(kSuiteSuffix)) {
    const Result<std::string> text = ReadWholeFile(name);
    return text ? ParseSuite(*text, name) : Result<Suite>(text.error());
  }
  const std::string file = std::string(kSuitePrefix) + name + std::string(kSuiteSuffix);
  if (const auto text = FindBundledFile(file)) {
    return ParseSuite(*text, file);
  }
  std::string known;
  for (const std::string& other : SuiteNames()) {
    known += (known.empty() ? "" : ", ") + other;
  }
  return InvalidArgument("there is no suite '" + name + "'; there are " + known +
                         ", and files that end in .json");
}

}  // namespace hyper::eval
