// What libhyper_cbc.so exports. It is a library of its own, loaded at run time, so that nobody else
// needs CBC to be installed.
#pragma once

// Maximises objective * x over x in {0, 1}^columns, where every row has coefficients * x >= lower.
//   starts   [rows + 1] where the entries of a row begin in `indices` and `coefficients`
//   chosen   [columns] set to 0 or 1
// Returns whether an optimum was found. Equal input gives equal output.
extern "C" __attribute__((visibility("default"))) bool hyper_cbc_maximise(
    int columns, const double* objective, int rows, const int* starts, const int* indices,
    const double* coefficients, const double* lower, char* chosen);

using MaximiseFunction = decltype(&hyper_cbc_maximise);
