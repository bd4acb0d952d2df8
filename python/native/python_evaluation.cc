#include "python/native/python_evaluation.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/hyper/printers/eval_tables.h"
#include "hyper/evaluation.h"
#include "python/native/errors.h"
#include "python/native/held.h"
#include "src/eval/data/own_parts.h"
#include "src/report/json.h"

namespace nb = nanobind;

namespace hyper::python {
namespace {

// A Python function from text to text. What passes is JSON. Errors name it as `who`.
class TextFunction {
 public:
  explicit TextFunction(nb::object function, std::string who = "it")
      : held_(std::make_shared<Held>(std::move(function))), who_(std::move(who)) {}

  Result<std::string> operator()(const std::string& text) const {
    const nb::gil_scoped_acquire acquired;
    try {
      return nb::cast<std::string>(held_->get()(text));
    } catch (nb::python_error& failure) {
      return Failure(who_, "", failure);
    }
  }

 private:
  std::shared_ptr<Held> held_;
  std::string who_;
};

void Check(const Status& status) {
  if (!status) {
    Raise(status.error());
  }
}

void RegisterGrader(const std::string& name, int version, std::vector<std::string> suites,
                    nb::object function) {
  const auto grade = [call = TextFunction(std::move(function))](
                         const GradeRequest& request) -> Result<EqualResult> {
    const Result<std::string> told = call(DumpJson({{"suite", request.suite},
                                                    {"question", request.question},
                                                    {"text", request.text},
                                                    {"group", request.group},
                                                    {"kind", NameOf(request.kind)},
                                                    {"gold", request.gold},
                                                    {"answer", request.answer}}));
    if (!told) {
      return told.error();
    }
    const Json verdict = Json::parse(*told);
    EqualResult result;
    result.reason = verdict[1].get<std::string>();
    for (const Verdict one : {Verdict::kEqual, Verdict::kNotEqual}) {
      result.verdict = verdict[0] == VerdictName(one) ? one : result.verdict;
    }
    return result;
  };
  Check(eval::AddGrader({name, version, std::move(suites), grade}));
}

void RegisterSuite(const std::string& json, nb::object questions) {
  Check(eval::AddSuite(
      {json, [call = TextFunction(std::move(questions), "the function of the suite's questions")] {
         return call(std::string());
       }}));
}

Json RowJson(const EvaluatedRow& row) {
  Json answers = Json::array();
  for (const StudyAnswer& one : row.answers) {
    answers.push_back({{"question", one.question},
                       {"group", one.group},
                       {"gold", one.gold},
                       {"repeat", one.repeat},
                       {"answer", one.answer ? Json(*one.answer) : Json(nullptr)},
                       {"outcome", NameOf(one.outcome)},
                       {"ledger", LedgerJson(one.ledger)},
                       {"seconds", one.ledger.wall_s}});
  }
  return {{"label", row.label}, {"method", row.method}, {"suite", row.suite},
          {"model", row.model}, {"seed", row.seed},     {"settings", row.settings},
          {"answers", answers}};
}

Cell CellOf(const Json& value) {
  if (value.is_null()) {
    return Cell::Number(std::numeric_limits<double>::quiet_NaN(), 1);
  }
  if (value.is_number()) {
    return Cell::Number(value.get<double>(), value.is_number_integer() ? 0 : 1);
  }
  return Cell::Text(value.is_string() ? value.get<std::string>() : "");
}

Result<Table> TableOf(const std::string& text) {
  const Json told = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto list = [&told](const char* name) {
    const auto found = told.find(name);
    return found != told.end() && found->is_array() ? *found : Json::array();
  };
  Table table;
  const auto title = told.find("title");
  table.title = title != told.end() && title->is_string() ? title->get<std::string>() : "";
  for (const Json& name : list("columns")) {
    table.columns.push_back({name.is_string() ? name.get<std::string>() : name.dump()});
  }
  if (table.columns.empty()) {
    return InvalidArgument("it returned no dict with a list of \"columns\"");
  }
  for (const Json& row : list("rows")) {
    table.rows.emplace_back();
    for (const Json& value : row) {
      table.rows.back().push_back(CellOf(value));
    }
  }
  for (const Json& note : list("notes")) {
    table.notes.push_back(note.is_string() ? note.get<std::string>() : note.dump());
  }
  return table;
}

void RegisterTable(const std::string& name, nb::object function) {
  const auto make = [call = TextFunction(std::move(function))](
                        const std::vector<EvaluatedRow>& rows) -> Result<Table> {
    Json given = Json::array();
    for (const EvaluatedRow& row : rows) {
      given.push_back(RowJson(row));
    }
    const Result<std::string> told = call(DumpJson(given));
    return told ? TableOf(*told) : Result<Table>(told.error());
  };
  Check(app::AddTable({name, make}));
}

}  // namespace

void BindEvaluation(nb::module_& module) {
  module.def("register_grader", &RegisterGrader, nb::arg("name"), nb::arg("version"),
             nb::arg("suites"), nb::arg("grade"));
  module.def("register_suite", &RegisterSuite, nb::arg("json"), nb::arg("questions"));
  module.def("register_table", &RegisterTable, nb::arg("name"), nb::arg("make"));
}

}  // namespace hyper::python
