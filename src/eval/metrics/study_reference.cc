#include "src/eval/metrics/study_reference.h"

#include <utility>
#include <vector>

namespace hyper::eval {
namespace {

constexpr size_t kShown = 8;  // names in a message

// "#1 sc, #2 hyper, ..." of at most kShown.
template <class Named>
std::string List(const std::vector<Named>& all, std::string Named::*name) {
  std::string list;
  for (size_t i = 0; i < all.size() && i < kShown; ++i) {
    list += (i > 0 ? ", #" : "#") + std::to_string(all[i].id) + " " + all[i].*name;
  }
  return list + (all.size() > kShown ? ", ..." : "");
}

// The entries that fit: the one of that number, or those that `fits`.
template <class Named, class Fits>
std::vector<Named> Matching(const std::vector<Named>& all, const std::string& name, Fits fits) {
  std::vector<Named> matching;
  for (const Named& entry : all) {
    if (name == "#" + std::to_string(entry.id) || fits(entry)) {
      matching.push_back(entry);
    }
  }
  return matching;
}

template <class Named>
Result<Named> TheOne(const char* kind, const std::string& name, std::vector<Named> matching,
                     const std::vector<Named>& all, std::string Named::*member) {
  if (matching.size() == 1) {
    return std::move(matching.front());
  }
  if (matching.empty()) {
    return Error{ErrorCode::kNotFound, std::string("the study has no ") + kind + " '" + name +
                                           "'; it has " +
                                           (all.empty() ? "none" : List(all, member))};
  }
  return InvalidArgument("'" + name +
                         "' fits several; use one by its number: " + List(matching, member));
}

}  // namespace

Result<StoredRun> FindRun(Store& store, const std::string& name) {
  const Result<std::vector<StoredRun>> runs = store.Runs();
  if (!runs) {
    return runs.error();
  }
  std::vector<StoredRun> matching =
      Matching(*runs, name, [&](const StoredRun& run) { return run.label == name; });
  return TheOne("row", name, std::move(matching), *runs, &StoredRun::label);
}

Result<StoredQuestion> FindQuestion(Store& store, const std::string& name) {
  const Result<std::vector<StoredQuestion>> questions = store.Questions();
  if (!questions) {
    return questions.error();
  }
  std::vector<StoredQuestion> matching = Matching(
      *questions, name, [&](const StoredQuestion& question) { return question.name == name; });
  if (matching.empty() && !name.empty()) {
    matching = Matching(*questions, name, [&](const StoredQuestion& question) {
      return question.name.find(name) != std::string::npos;
    });
  }
  return TheOne("question", name, std::move(matching), *questions, &StoredQuestion::name);
}

}  // namespace hyper::eval
