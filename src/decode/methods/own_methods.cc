#include "src/decode/methods/own_methods.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/named_specs.h"
#include "src/decode/methods/registry.h"

namespace hyper {
namespace {

NamedSpecs<MethodSpec>& Specs() {
  static NamedSpecs<MethodSpec> specs;
  return specs;
}

Status Check(const MethodSpec& spec) {
  if (!IsSpecName(spec.name)) {
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
  Specs().Put(std::move(spec));
  return {};
}

std::shared_ptr<const MethodSpec> FindOwnMethod(std::string_view name) {
  return Specs().Find(name);
}

std::vector<std::shared_ptr<const MethodSpec>> OwnMethods() { return Specs().All(); }

void ForgetOwnMethods() { Specs().Clear(); }

}  // namespace hyper
