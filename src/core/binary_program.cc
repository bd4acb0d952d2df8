#include "src/core/binary_program.h"

#include <dlfcn.h>

#include "src/core/cbc/cbc_module.h"

namespace hyper {
namespace {

// Nothing is unloaded: CBC keeps state of its own.
Result<void*> Load(const std::string& module) {
  void* library = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : dlsym(library, "hyper_cbc_maximise");
  if (function == nullptr) {
    const char* reason = dlerror();
    return Error{ErrorCode::kUnavailable,
                 std::string("the integer program of ETS needs the solver CBC, which cannot be "
                             "loaded (") +
                     (reason != nullptr ? reason : module.c_str()) +
                     "); install it (Debian: coinor-libcbc3)"};
  }
  return function;
}

}  // namespace

Result<std::vector<bool>> Maximise(const BinaryProgram& program, const std::string& module) {
  const Result<void*> function = Load(module);
  if (!function) {
    return function.error();
  }
  const auto maximise = reinterpret_cast<MaximiseFunction>(*function);
  std::vector<int> starts = {0};
  std::vector<int> columns;
  std::vector<double> coefficients;
  std::vector<double> lower;
  for (const BinaryProgram::Row& row : program.rows) {
    columns.insert(columns.end(), row.columns.begin(), row.columns.end());
    coefficients.insert(coefficients.end(), row.coefficients.begin(), row.coefficients.end());
    lower.push_back(row.lower);
    starts.push_back(static_cast<int>(columns.size()));
  }
  std::vector<char> chosen(program.objective.size());
  if (!maximise(static_cast<int>(program.objective.size()), program.objective.data(),
                static_cast<int>(program.rows.size()), starts.data(), columns.data(),
                coefficients.data(), lower.data(), chosen.data())) {
    return Error{ErrorCode::kInternal, "CBC found no optimum of ETS's integer program"};
  }
  return std::vector<bool>(chosen.begin(), chosen.end());
}

}  // namespace hyper
