#include "src/core/binary_program.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "src/core/cbc/cbc_module.h"

namespace hyper {
namespace {

// The module beside the program or library that this code is part of, else its bare name, which the
// system looks for. (dlopen's own look into the caller's run path fails under AddressSanitizer,
// which calls it in the caller's place.)
std::string PlaceOf(const std::string& module) {
  static const char here = 0;
  Dl_info info{};
  if (module.find('/') != std::string::npos || dladdr(&here, &info) == 0) {
    return module;
  }
  std::error_code ignored;
  const std::filesystem::path beside = std::filesystem::path(info.dli_fname).parent_path() / module;
  return std::filesystem::exists(beside, ignored) ? beside.string() : module;
}

// Nothing is unloaded: CBC keeps state of its own.
Result<void*> Load(const std::string& module) {
  void* library = dlopen(PlaceOf(module).c_str(), RTLD_NOW | RTLD_LOCAL);
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
