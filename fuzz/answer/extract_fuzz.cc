// Extraction on any bytes: it returns, keeps its promises, and touches no byte outside the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "hyper/extract.h"

namespace {

void Require(bool held) {
  if (!held) {
    std::abort();
  }
}

// The first byte of the input says which options are tried.
hyper::ExtractOptions OptionsOf(uint8_t flags) {
  hyper::ExtractOptions options;
  options.kind = static_cast<hyper::AnswerKind>(flags & 3U);
  options.options = (flags & 4U) != 0 ? "1234" : "ABCDEFGHIJ";
  options.opened_by_template = (flags & 8U) != 0;
  options.finished = (flags & 16U) != 0;
  options.fallbacks = (flags & 32U) == 0;
  if ((flags & 64U) != 0) {
    options.reasoning_answers = hyper::ReasoningAnswers::kFinal;
  }
  if ((flags & 128U) != 0) {
    options.box_or_label = hyper::BoxOrLabel::kLater;
  }
  return options;
}

// Spans are in order, apart from each other, filled, and without white space at their ends.
void CheckSpans(std::string_view text, const std::vector<hyper::TextSpan>& spans) {
  size_t from = 0;
  for (const hyper::TextSpan& span : spans) {
    Require(span.begin >= from && span.end > span.begin && span.end <= text.size());
    Require(text[span.begin] != ' ' && text[span.end - 1] != '\n');
    from = span.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const hyper::ExtractOptions options = OptionsOf(data[0]);
  // A copy of exactly this size, so that reading one byte too far is seen.
  const std::vector<char> bytes(data + 1, data + size);
  const std::string_view text(bytes.data(), bytes.size());

  const hyper::ReasoningSplit split =
      hyper::SplitReasoning(text, options.think_tags, options.opened_by_template);
  CheckSpans(text, split.reasoning);
  CheckSpans(text, split.content);

  const hyper::Extraction found = hyper::ExtractAnswer(text, options);
  Require(found.begin <= found.end && found.end <= text.size());
  Require(found.raw == text.substr(found.begin, found.end - found.begin));
  Require(found.answer.has_value() == !found.rule.empty());
  Require(found.answer || !found.tentative);
  Require(!found.answer || !found.answer->empty());
  if (found.answer && options.kind == hyper::AnswerKind::kChoice) {
    Require(found.answer->size() == 1 && options.options.find(*found.answer) != std::string::npos);
  }
  // The answer stands in one block, or in the part of one.
  const auto inside = [&found](const hyper::TextSpan& span) {
    return found.begin >= span.begin && found.end <= span.end;
  };
  Require(!found.answer || std::any_of(split.content.begin(), split.content.end(), inside) ||
          std::any_of(split.reasoning.begin(), split.reasoning.end(), inside));
  return 0;
}
