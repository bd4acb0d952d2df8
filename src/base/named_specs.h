// What plugins add under a name: methods, graders, suites, tables. Any thread.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyper {

// Whether a text is a name for these: small letters, digits and dashes, a letter first. Pure.
inline bool IsSpecName(std::string_view text) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [letter](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

// Specs by their member `name`. Who holds one keeps it, whatever is added later.
template <class Spec>
class NamedSpecs {
 public:
  using Held = std::shared_ptr<const Spec>;

  // Adds a spec. One of that name that is there is replaced at its place.
  void Put(Spec spec) {
    auto held = std::make_shared<const Spec>(std::move(spec));
    const std::lock_guard lock(mutex_);
    const auto at = PlaceOf(held->name);
    if (at == specs_.end()) {
      specs_.push_back(std::move(held));
    } else {
      *at = std::move(held);
    }
  }

  // Null where there is none.
  Held Find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto at = PlaceOf(name);
    return at == specs_.end() ? nullptr : *at;
  }

  // In the order in which their names were added first.
  std::vector<Held> All() {
    const std::lock_guard lock(mutex_);
    return specs_;
  }

  void Clear() {
    const std::lock_guard lock(mutex_);
    specs_.clear();
  }

 private:
  auto PlaceOf(std::string_view name) {
    return std::find_if(specs_.begin(), specs_.end(),
                        [name](const Held& spec) { return spec->name == name; });
  }

  std::mutex mutex_;
  std::vector<Held> specs_;
};

}  // namespace hyper
