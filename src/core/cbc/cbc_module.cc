#include "src/core/cbc/cbc_module.h"

#include <coin/CbcModel.hpp>
#include <coin/CoinError.hpp>
#include <coin/CoinPackedVector.hpp>
#include <coin/OsiClpSolverInterface.hpp>

bool hyper_cbc_maximise(int columns, const double* objective, int rows, const int* starts,
                        const int* indices, const double* coefficients, const double* lower,
                        char* chosen) try {
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  for (int i = 0; i < columns; ++i) {
    solver.addCol(CoinPackedVector(), 0, 1, objective[i]);
    solver.setInteger(i);
  }
  solver.setObjSense(-1);
  for (int row = 0; row < rows; ++row) {
    const int begin = starts[row];
    solver.addRow(CoinPackedVector(starts[row + 1] - begin, indices + begin, coefficients + begin),
                  lower[row], solver.getInfinity());
  }
  CbcModel model(solver);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  // CBC would pass over improvements below 1e-5 by itself.
  model.setDblParam(CbcModel::CbcCutoffIncrement, 1e-9);
  model.setAllowableGap(0);
  model.branchAndBound();
  if (!model.isProvenOptimal()) {
    return false;
  }
  for (int i = 0; i < columns; ++i) {
    chosen[i] = model.bestSolution()[i] > 0.5 ? 1 : 0;
  }
  return true;
} catch (const CoinError&) {
  return false;
}
