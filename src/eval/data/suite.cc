#include "src/eval/data/suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/eval/data/bundled.h"
#include "src/eval/data/own_parts.h"
#include "src/eval/data/rows.h"
#include "src/report/member_reader.h"

namespace hyper::eval {
namespace {

constexpr std::string_view kSuitePrefix = "suites/";
constexpr std::string_view kSuiteSuffix = ".json";

// Reads the keys of one JSON object. One that nobody asked for is an error, so that a misspelt key
// is never silently without effect.
class ObjectReader : public MemberReader<Error> {
 public:
  ObjectReader(const Json& object, const std::string& place)
      : MemberReader(
            object,
            [place](const std::string& key, const std::string& what) {
              return InvalidArgument(fmt::format("{}: \"{}\" {}", place, key, what));
            },
            Null::kIsWrong) {
    if (!object.is_object()) {
      Fail(InvalidArgument(place + ": the value takes a JSON object"));
    }
  }

  std::string Optional(const char* key) {
    std::string text;
    Take(key, text);
    return text;
  }

  std::string Required(const char* key) {
    if (Find(key) == nullptr) {
      Wrong(key, "is missing");
    }
    return Optional(key);
  }

  std::vector<std::string> Strings(const char* key, std::vector<std::string> otherwise) {
    const Json* value = Find(key);
    if (value == nullptr) {
      return otherwise;
    }
    std::vector<std::string> strings;
    for (const Json& entry : value->is_array() ? *value : Json::array()) {
      if (entry.is_string()) {
        strings.push_back(entry.get<std::string>());
      }
    }
    if (strings.empty() || strings.size() != value->size()) {
      Wrong(key, "takes a list of strings");
    }
    return strings;
  }

  std::vector<std::pair<std::string, std::string>> StringMap(const char* key) {
    const Json* value = Find(key);
    std::vector<std::pair<std::string, std::string>> map;
    if (value == nullptr) {
      return map;
    }
    for (const auto& [name, entry] : value->items()) {
      if (entry.is_string()) {
        map.emplace_back(name, entry.get<std::string>());
      }
    }
    if (!value->is_object() || map.size() != value->size()) {
      Wrong(key, "takes an object of strings");
    }
    return map;
  }

  Status Finish() {
    RefuseOthers("is not a key of a suite; docs/suites.md lists them");
    return error() ? Status(*error()) : Status();
  }
};

Status ReadHub(const Json& value, const std::string& place, Suite& suite) {
  ObjectReader reader(value, place + " \"hub\"");
  HubSource hub;
  hub.dataset = reader.Required("dataset");
  hub.config = reader.Required("config");
  hub.split = reader.Required("split");
  reader.Take("gated", hub.gated);
  suite.hub = std::move(hub);
  return reader.Finish();
}

Status ReadFiles(const Json& value, const std::string& place, Suite& suite) {
  if (!value.is_array()) {
    return InvalidArgument(place + ": \"files\" takes a list of objects");
  }
  for (const Json& entry : value) {
    ObjectReader reader(entry, place + " \"files\"");
    suite.files.push_back(
        {reader.Required("path"), reader.Required("split"), reader.Required("group")});
    if (Status status = reader.Finish(); !status) {
      return status;
    }
  }
  return {};
}

Status ReadFields(const Json* value, const std::string& place, Suite& suite) {
  const Json none = Json::object();
  ObjectReader reader(value != nullptr ? *value : none, place + " \"fields\"");
  suite.id_fields = reader.Strings("id", {"id", "unique_id", "task_id"});
  suite.question_fields = reader.Strings("question", {"question", "problem", "prompt"});
  // "solution" comes last: beside another field it is the worked solution, alone it is the gold.
  suite.answer_fields = reader.Strings(
      "answer", {"answerKey", "answer", "expected_answer", "target", "gold", "solution"});
  suite.group_fields = reader.Strings("group", {"level", "subject"});
  return reader.Finish();
}

Status ReadRowKind(const Json& value, const std::string& place, Suite& suite) {
  ObjectReader reader(value, place + " \"row_kind\"");
  suite.row_kind.field = reader.Required("field");
  for (auto& [name, kind] : reader.StringMap("values")) {
    if (kind != "auto" && !ValueOf<AnswerKind>(kind)) {
      reader.Wrong("values", "has the kind '" + kind +
                                 "'; there are integer, math, choice, text, "
                                 "and auto");
    }
    suite.row_kind.values[name] = kind;
  }
  return reader.Finish();
}

Status ReadRange(const Json& value, const std::string& place, Suite& suite) {
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
  if (const Json* value = reader.Find("hub")) {
    if (Status status = ReadHub(*value, place, suite); !status) {
      return status;
    }
  }
  if (const Json* value = reader.Find("files")) {
    if (Status status = ReadFiles(*value, place, suite); !status) {
      return status;
    }
  }
  if (const Json* value = reader.Find("row_kind")) {
    if (Status status = ReadRowKind(*value, place, suite); !status) {
      return status;
    }
  }
  if (const Json* value = reader.Find("range")) {
    if (Status status = ReadRange(*value, place, suite); !status) {
      return status;
    }
  }
  return ReadFields(reader.Find("fields"), place, suite);
}

}  // namespace

Result<Suite> ParseSuite(std::string_view text, const std::string& source) {
  const Json value = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return InvalidArgument(source + " is not valid JSON");
  }
  Suite suite;
  ObjectReader reader(value, source);
  suite.name = reader.Required("name");
  suite.title = reader.Required("title");
  suite.system = reader.Optional("system");
  suite.prompt = reader.Required("prompt");
  suite.step_delimiter = reader.Optional("step_delimiter");
  if (suite.step_delimiter.empty()) {
    suite.step_delimiter = "\n\n";
  }
  suite.preset = reader.Required("preset");
  suite.leave_out = reader.Strings("leave_out", {});
  suite.options = reader.StringMap("options");
  const std::string kind_name = reader.Required("answer");
  const std::optional<AnswerKind> kind = ValueOf<AnswerKind>(kind_name);
  if (!kind) {
    reader.Wrong("answer", "is '" + kind_name + "'; there are integer, math, choice and text");
  }
  suite.kind = kind.value_or(AnswerKind::kMath);
  if (suite.prompt.find("{question}") == std::string::npos) {
    reader.Wrong("prompt", "lacks {question}");
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

std::string BundledSuite(const std::string& name) {
  return std::string(kSuitePrefix) + name + std::string(kSuiteSuffix);
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
  for (const auto& suite : OwnSuites()) {
    names.push_back(suite->name);
  }
  return names;
}

Result<Suite> LoadSuite(const std::string& name) {
  if (name.ends_with(kSuiteSuffix)) {
    const Result<std::string> text = ReadWholeFile(name);
    return text ? ParseSuite(*text, name) : Result<Suite>(text.error());
  }
  if (const auto own = FindOwnSuite(name)) {
    return *own;
  }
  const std::string file = BundledSuite(name);
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
