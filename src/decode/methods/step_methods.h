// The step-wise methods by name: "rebase" takes its scorer from --reward, "rebase-ptrue" and the
// like name it, as rows of a table must.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hyper/method.h"

namespace hyper {

// The rows that run on any model.
std::vector<MethodInfo> StepMethods();

// Sets scorer and vote rule. Returns false for a name that is no step-wise method's.
bool ApplyStepMethodDefaults(const std::string& name, MethodOptions& options);

// Errors: kNotFound for a name that is no step-wise method's; those of MakeStepReward.
Result<std::unique_ptr<Method>> MakeNamedStepMethod(const std::string& name,
                                                    const MethodOptions& options);

}  // namespace hyper
