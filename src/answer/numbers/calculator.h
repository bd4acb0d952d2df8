/* A stack of exact constants over Calcium. Its headers are not C++, so this part is C.
 * Each calculator has a context of its own and is used by one thread at a time. */
#ifndef HYPER_SRC_ANSWER_CALCULATOR_H_
#define HYPER_SRC_ANSWER_CALCULATOR_H_

#include <flint/fmpq.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HyperCalculator HyperCalculator;

enum HyperConstant { kHyperPi, kHyperE, kHyperI };

/* An empty stack; NULL where memory ran out. */
HyperCalculator* HyperCalculatorNew(void);
void HyperCalculatorFree(HyperCalculator* calculator);

/* Each pushes its result in place of its operands and returns 1; 0: not defined, not decided, or
 * no such function, and the calculator is only to be freed. */
int HyperCalculatorPushRational(HyperCalculator* calculator, const fmpq_t value);
int HyperCalculatorPushConstant(HyperCalculator* calculator, enum HyperConstant constant);
int HyperCalculatorAdd(HyperCalculator* calculator);
int HyperCalculatorMultiply(HyperCalculator* calculator);
/* base^exponent, principal value. */
int HyperCalculatorPower(HyperCalculator* calculator);
/* The top to a rational power; an odd root of a negative number is real. */
int HyperCalculatorRationalPower(HyperCalculator* calculator, const fmpq_t exponent);
/* sin, cos, tan, cot, sec, csc, ln, arcsin, arccos, arctan, abs, floor, ceil, re, im. */
int HyperCalculatorCall(HyperCalculator* calculator, const char* function);
/* x and base become the logarithm of x in that base. */
int HyperCalculatorLogarithm(HyperCalculator* calculator);

/* Whether the two topmost values are the same number: 1, 0, or -1 for unknown. */
int HyperCalculatorEqual(HyperCalculator* calculator);

#ifdef __cplusplus
}
#endif

#endif /* HYPER_SRC_ANSWER_CALCULATOR_H_ */
