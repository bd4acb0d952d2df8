// Options of choice questions, in the shapes that data sets use.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/result.h"
#include "src/eval/data/questions.h"

namespace hyper::eval {

// The options of a row's value (see ReadQuestions); lists of bare texts get the labels A, B, C...
// Errors: kDataLoss in words, without place. Pure.
Result<std::vector<ChoiceOption>> ReadOptions(const nlohmann::json& value);

// Labels of options written out in a question, "A. ...", "B) ..." at line starts; at least two, the
// last run that begins with A. Empty where there are none. Pure.
std::string LabelsInText(std::string_view question);

// The label that a gold stands for: a label itself (a letter in either case), the text of an
// option, or, where it is a JSON number and no label, a place from 0. Errors: kDataLoss. Pure.
Result<std::string> GoldLabel(const std::string& gold, bool is_number, const std::string& labels,
                              const std::vector<ChoiceOption>& options);

}  // namespace hyper::eval
