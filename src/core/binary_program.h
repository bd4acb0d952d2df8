// Integer programs whose variables are all 0 or 1, solved by CBC.
#pragma once

#include <string>
#include <vector>

#include "hyper/result.h"

namespace hyper {

// To be maximised: objective * x, where every row has coefficients * x >= lower.
struct BinaryProgram {
  struct Row {
    std::vector<int> columns;          // in [0, objective.size()), each once
    std::vector<double> coefficients;  // of these columns
    double lower = 0;
  };

  std::vector<double> objective;  // one per variable, at least one
  std::vector<Row> rows;
};

// An optimal choice of the variables; equal input gives equal output.
//   module  the library that holds the solver (src/core/cbc); it is loaded by the first call, so
//           that only those who need CBC have to have it
// Errors: kUnavailable where `module` or CBC cannot be loaded, kInternal where CBC finds no
// optimum.
Result<std::vector<bool>> Maximise(const BinaryProgram& program,
                                   const std::string& module = "libhyper_cbc.so");

}  // namespace hyper
