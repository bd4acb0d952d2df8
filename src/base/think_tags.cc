#include "hyper/think_tags.h"

namespace hyper {

std::vector<TagPair> DefaultThinkTags() {
  return {{"<think>", "</think>"},
          {"<thinking>", "</thinking>"},
          {"<thought>", "</thought>"},
          {"<reasoning>", "</reasoning>"},
          {"[THINK]", "[/THINK]"},
          {"◁think▷", "◁/think▷"},
          {"<seed:think>", "</seed:think>"},
          {"<|START_THINKING|>", "<|END_THINKING|>"},
          {"<|begin_of_thought|>", "<|end_of_thought|>"},
          {"<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"}};
}

}  // namespace hyper
