#include "src/answer/numbers/quotient.h"

#include <calcium/fmpz_mpoly_q.h>

void HyperQuotientAdd(fmpz_mpoly_t above, fmpz_mpoly_t below, const fmpz_mpoly_t a,
                      const fmpz_mpoly_t a_below, const fmpz_mpoly_t b, const fmpz_mpoly_t b_below,
                      const fmpz_mpoly_ctx_t context) {
  _fmpz_mpoly_q_add(above, below, a, a_below, b, b_below, context);
}

void HyperQuotientMultiply(fmpz_mpoly_t above, fmpz_mpoly_t below, const fmpz_mpoly_t a,
                           const fmpz_mpoly_t a_below, const fmpz_mpoly_t b,
                           const fmpz_mpoly_t b_below, const fmpz_mpoly_ctx_t context) {
  _fmpz_mpoly_q_mul(above, below, a, a_below, b, b_below, context);
}
