// A suite: where its questions come from and how they are asked and read. Declared in a small JSON
// file each (suites/*.json, format in docs/suites.md).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyper/extract.h"
#include "hyper/result.h"

namespace hyper::eval {

// A data set of the hub.
struct HubSource {
  std::string dataset;  // "owner/name"
  std::string config = "default";
  std::string split;
  bool gated = false;  // a token is needed
};

// A file inside the library.
struct SuiteFile {
  std::string path;   // name of the bundled file
  std::string split;  // "evaluation", "tuning"
  std::string group;  // "3" for level 3
};

// How the kind of a row's answer is read from a field of it, where rows differ.
struct RowKind {
  std::string field;                          // empty: all rows have the suite's kind
  std::map<std::string, std::string> values;  // value of the field -> kind name, or "auto"
};

struct Suite {
  std::string name;
  std::string title;
  std::optional<HubSource> hub;
  std::vector<SuiteFile> files;
  std::function<Result<std::string>()> own_questions;  // of a suite of a plugin: a data file's text
  // Keys under which a row holds each value; the first that is there counts, whatever its case.
  std::vector<std::string> id_fields;
  std::vector<std::string> question_fields;
  std::vector<std::string> answer_fields;
  std::vector<std::string> group_fields;
  // Rows that have a value in one of these fields are left out (pictures).
  std::vector<std::string> leave_out;
  AnswerKind kind = AnswerKind::kMath;
  RowKind row_kind;
  std::optional<std::pair<int64_t, int64_t>> range;  // golds lie in it, both ends counted
  std::string system;                                // system message; empty: none
  std::string prompt;                                // with {question} and, for choices, {options}
  std::string step_delimiter;                        // ends a reasoning step (tree methods)
  std::string preset;                                // of MethodOptions
  std::vector<std::pair<std::string, std::string>> options;  // name, value; on top of the preset
};

// Reads a suite's JSON. Errors: kInvalidArgument naming the key and what it takes. Pure.
Result<Suite> ParseSuite(std::string_view text, const std::string& source);

// Name of the bundled file of the suite inside the library that has this name. Pure.
std::string BundledSuite(const std::string& name);

// Names of the suites inside the library, in alphabetical order, then of those of plugins.
std::vector<std::string> SuiteNames();

// The suite of a name, or of a JSON file where `name` ends in ".json".
// Errors: kNotFound with the names there are; as ParseSuite.
Result<Suite> LoadSuite(const std::string& name);

}  // namespace hyper::eval
