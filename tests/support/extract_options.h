// ExtractOptions out of a row of the case table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hyper/extract.h"

namespace hyper {

inline ExtractOptions ExtractOptionsOf(const nlohmann::json& row) {
  ExtractOptions options;
  options.kind = ValueOf<AnswerKind>(row.value("kind", "math")).value();
  options.options = row.value("options", options.options);
  options.opened_by_template = row.value("opened_by_template", false);
  options.finished = row.value("finished", true);
  options.fallbacks = row.value("fallbacks", true);
  const std::string policy = row.value("reasoning_answers", "tentative");
  if (policy == "final") {
    options.reasoning_answers = ReasoningAnswers::kFinal;
  }
  if (policy == "ignored") {
    options.reasoning_answers = ReasoningAnswers::kIgnored;
  }
  if (row.value("box_or_label", "box") == "later") {
    options.box_or_label = BoxOrLabel::kLater;
  }
  return options;
}

}  // namespace hyper
