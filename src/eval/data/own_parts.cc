#include "src/eval/data/own_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/named_specs.h"
#include "src/eval/data/bundled.h"

namespace hyper::eval {
namespace {

NamedSpecs<GraderSpec>& Graders() {
  static NamedSpecs<GraderSpec> specs;
  return specs;
}

NamedSpecs<Suite>& Suites() {
  static NamedSpecs<Suite> specs;
  return specs;
}

NamedSpecs<TableSpec>& Tables() {
  static NamedSpecs<TableSpec> specs;
  return specs;
}

// What all of them need: a name, and a function to call.
Status Check(const char* kind, const std::string& name, bool callable) {
  if (!IsSpecName(name)) {
    return InvalidArgument(fmt::format(
        "'{}' is no name of a {}; it takes small letters, digits and dashes, a letter first", name,
        kind));
  }
  if (!callable) {
    return InvalidArgument(fmt::format("{} '{}' has no function to call", kind, name));
  }
  return {};
}

Status Taken(const char* kind, const std::string& name) {
  return InvalidArgument(fmt::format("{} '{}' is built in; give yours another name", kind, name));
}

}  // namespace

Status AddGrader(GraderSpec spec) {
  if (Status status = Check("grader", spec.name, static_cast<bool>(spec.grade)); !status) {
    return status;
  }
  if (spec.name == "rules" || spec.name == "judge") {
    return Taken("grader", spec.name);
  }
  if (spec.suites.empty()) {
    return InvalidArgument(fmt::format("grader '{}' names no suites", spec.name));
  }
  Graders().Put(std::move(spec));
  return {};
}

Status AddSuite(SuiteSpec spec) {
  Result<Suite> suite = ParseSuite(spec.json, "the suite of a plugin");
  if (!suite) {
    return suite.error();
  }
  const bool callable = static_cast<bool>(spec.questions);
  if (Status status = Check("suite", suite->name, callable); !status) {
    return status;
  }
  if (FindBundledFile(BundledSuite(suite->name))) {
    return Taken("suite", suite->name);
  }
  suite->own_questions = std::move(spec.questions);
  Suites().Put(std::move(*suite));
  return {};
}

Status AddTable(TableSpec spec) {
  if (Status status = Check("table", spec.name, static_cast<bool>(spec.make)); !status) {
    return status;
  }
  Tables().Put(std::move(spec));
  return {};
}

std::shared_ptr<const GraderSpec> OwnGraderOf(std::string_view suite) {
  const auto graders = Graders().All();
  const auto at = std::find_if(graders.rbegin(), graders.rend(), [suite](const auto& spec) {
    return std::find(spec->suites.begin(), spec->suites.end(), suite) != spec->suites.end();
  });
  return at == graders.rend() ? nullptr : *at;
}

std::string GraderName(const GraderSpec& spec) {
  return fmt::format("{} {}", spec.name, spec.version);
}

bool IsOwnGrader(std::string_view grader) {
  return Graders().Find(grader.substr(0, grader.find(' '))) != nullptr;
}

std::shared_ptr<const Suite> FindOwnSuite(std::string_view name) { return Suites().Find(name); }

std::vector<std::shared_ptr<const Suite>> OwnSuites() { return Suites().All(); }

std::shared_ptr<const TableSpec> FindOwnTable(std::string_view name) { return Tables().Find(name); }

std::vector<std::shared_ptr<const TableSpec>> OwnTables() { return Tables().All(); }

void ForgetOwnParts() {
  Graders().Clear();
  Suites().Clear();
  Tables().Clear();
}

}  // namespace hyper::eval
