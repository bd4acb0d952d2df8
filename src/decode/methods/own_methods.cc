#include "src/decode/methods/own_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "src/decode/methods/registry.h"

namespace hyper {
namespace {

struct OwnTable {
  std::mutex mutex;
  std::vector<std::shared_ptr<const MethodSpec>> methods;
};

OwnTable& Table() {
  static OwnTable table;
  return table;
}

auto PlaceOf(OwnTable& table, std::string_view name) {
  return std::find_if(table.methods.begin(), table.methods.end(),
                      [name](const auto& spec) { return spec->name == name; });
}

bool IsName(std::string_view text) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [letter](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

Status Check(const MethodSpec& spec) {
  if (!IsName(spec.name)) {
    return InvalidArgument(fmt::format(
        "'{}' is no name of a method; it takes small letters, digits and dashes, a letter first",
        spec.name));
  }
  if (!spec.make) {
    return InvalidArgument(fmt::format("method '{}' has nothing to make it with", spec.name));
  }
  if (FindOwnMethod(spec.name) == nullptr && FindMethod(spec.name)) {
    return InvalidArgument(
        fmt::format("method '{}' is built in; give yours another name", spec.name));
  }
  if (FindOwnMethod(spec.base) != nullptr || !FindMethod(spec.base)) {
    return InvalidArgument(fmt::format(
        "method '{}' has the base '{}', which is not built in; hyper help methods lists those that "
        "are",
        spec.name, spec.base));
  }
  MethodOptions options;
  return SetOptions(options, spec.defaults);
}

}  // namespace

Status RegisterMethod(MethodSpec spec) {
  if (Status status = Check(spec); !status) {
    return status;
  }
  auto shared = std::make_shared<const MethodSpec>(std::move(spec));
  OwnTable& table = Table();
  const std::lock_guard lock(table.mutex);
  const auto at = PlaceOf(table, shared->name);
  if (at == table.methods.end()) {
    table.methods.push_back(std::move(shared));
  } else {
    *at = std::move(shared);
  }
  return {};
}

std::shared_ptr<const MethodSpec> FindOwnMethod(std::string_view name) {
  OwnTable& table = Table();
  const std::lock_guard lock(table.mutex);
  const auto at = PlaceOf(table, name);
  return at == table.methods.end() ? nullptr : *at;
}

std::vector<std::shared_ptr<const MethodSpec>> OwnMethods() {
  OwnTable& table = Table();
  const std::lock_guard lock(table.mutex);
  return table.methods;
}

void ForgetOwnMethods() {
  OwnTable& table = Table();
  const std::lock_guard lock(table.mutex);
  table.methods.clear();
}

}  // namespace hyper
