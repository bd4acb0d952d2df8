// Reads tests/cases/answers.jsonl, the table of answers that were once got wrong.
//
// One JSON object a line, ASCII only (\u escapes), keys in this order where they apply:
//   id        unique: the case and a running letter, such as "E01a"
//   case      the reported fault it came from ("E01" of docs/answers.md), or a short reason
//   op        which function is asked, and with it the other keys:
//     extract  kind, text; options, finished, opened_by_template, reasoning_answers, box_or_label,
//     fallbacks as
//              in ExtractOptions -> answer (null: none); raw, rule, tentative if they matter
//     grade    as extract, and gold -> correct (the final answer equals the gold)
//     split    text; opened_by_template -> reasoning, content (joined by line breaks), unclosed
//     equal    gold, answer; options of the comparison by name -> verdict, or a list of them
//     group    answers -> groups: lists of places in `answers`
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hyper {

// The rows of one `op`, in file order. A line that is no JSON object, lacks id, case or op, or
// repeats an id fails the running test.
std::vector<nlohmann::json> LoadAnswerCases(const std::string& op);

}  // namespace hyper
