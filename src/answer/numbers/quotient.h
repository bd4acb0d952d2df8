/* Sums and products of quotients of polynomials in lowest terms, by Calcium. Its headers are not
 * C++, so the calls are C. */
#ifndef HYPER_SRC_ANSWER_NUMBERS_QUOTIENT_H_
#define HYPER_SRC_ANSWER_NUMBERS_QUOTIENT_H_

#include <flint/fmpz_mpoly.h>

#ifdef __cplusplus
extern "C" {
#endif

/* above / below = a / a_below + b / b_below, and the same times. Operands are in lowest terms, with
 * a positive leading coefficient below; so is the result. No operand is a result. */
void HyperQuotientAdd(fmpz_mpoly_t above, fmpz_mpoly_t below, const fmpz_mpoly_t a,
                      const fmpz_mpoly_t a_below, const fmpz_mpoly_t b, const fmpz_mpoly_t b_below,
                      const fmpz_mpoly_ctx_t context);
void HyperQuotientMultiply(fmpz_mpoly_t above, fmpz_mpoly_t below, const fmpz_mpoly_t a,
                           const fmpz_mpoly_t a_below, const fmpz_mpoly_t b,
                           const fmpz_mpoly_t b_below, const fmpz_mpoly_ctx_t context);

#ifdef __cplusplus
}
#endif

#endif /* HYPER_SRC_ANSWER_NUMBERS_QUOTIENT_H_ */
