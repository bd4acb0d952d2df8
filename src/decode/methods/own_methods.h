// The methods that RegisterMethod added (hyper/plugin.h). Any thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hyper/plugin.h"

namespace hyper {

// The method of that name; null where there is none.
std::shared_ptr<const MethodSpec> FindOwnMethod(std::string_view name);

// All of them, in the order in which their names were added first.
std::vector<std::shared_ptr<const MethodSpec>> OwnMethods();

// Drops all of them. For tests: a program's methods stay.
void ForgetOwnMethods();

}  // namespace hyper
