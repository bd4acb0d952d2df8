#include "src/answer/numbers/calculator.h"

#include <calcium/ca.h>
#include <stdlib.h>
#include <string.h>

/* Expressions are shallow: their size is checked before. */
#define STACK_SIZE 128

struct HyperCalculator {
  ca_ctx_t context;
  ca_struct stack[STACK_SIZE];
  int size;
};

/* Values with which Calcium was seen to answer within milliseconds on operands of the size that
 * constant.cc lets through. */
static void SetLimits(ca_ctx_t context) {
  ca_ctx_set_option(context, CA_OPT_PREC_LIMIT, 1024);
  ca_ctx_set_option(context, CA_OPT_QQBAR_DEG_LIMIT, 32);
  ca_ctx_set_option(context, CA_OPT_LLL_PREC, 128);
  ca_ctx_set_option(context, CA_OPT_POW_LIMIT, 20);
  ca_ctx_set_option(context, CA_OPT_SMOOTH_LIMIT, 32);
  ca_ctx_set_option(context, CA_OPT_GROEBNER_LENGTH_LIMIT, 20);
  ca_ctx_set_option(context, CA_OPT_GROEBNER_POLY_LENGTH_LIMIT, 100);
  ca_ctx_set_option(context, CA_OPT_GROEBNER_POLY_BITS_LIMIT, 500);
  ca_ctx_set_option(context, CA_OPT_VIETA_LIMIT, 6);
}

HyperCalculator* HyperCalculatorNew(void) {
  HyperCalculator* calculator = (HyperCalculator*)malloc(sizeof(HyperCalculator));
  if (calculator == NULL) {
    return NULL;
  }
  ca_ctx_init(calculator->context);
  SetLimits(calculator->context);
  calculator->size = 0;
  return calculator;
}

static void Pop(HyperCalculator* calculator) {
  --calculator->size;
  ca_clear(&calculator->stack[calculator->size], calculator->context);
}

void HyperCalculatorFree(HyperCalculator* calculator) {
  if (calculator == NULL) {
    return;
  }
  while (calculator->size > 0) {
    Pop(calculator);
  }
  ca_ctx_clear(calculator->context);
  free(calculator);
}

/* The value `depth` below the top. */
static ca_struct* Top(HyperCalculator* calculator, int depth) {
  return &calculator->stack[calculator->size - 1 - depth];
}

static ca_struct* Push(HyperCalculator* calculator) {
  if (calculator->size == STACK_SIZE) {
    return NULL;
  }
  ca_init(&calculator->stack[calculator->size], calculator->context);
  ++calculator->size;
  return Top(calculator, 0);
}

int HyperCalculatorPushRational(HyperCalculator* calculator, const fmpq_t value) {
  ca_struct* top = Push(calculator);
  if (top == NULL) {
    return 0;
  }
  ca_set_fmpq(top, value, calculator->context);
  return 1;
}

int HyperCalculatorPushConstant(HyperCalculator* calculator, enum HyperConstant constant) {
  ca_struct* top = Push(calculator);
  if (top == NULL) {
    return 0;
  }
  switch (constant) {
    case kHyperPi:
      ca_pi(top, calculator->context);
      return 1;
    case kHyperE:
      ca_one(top, calculator->context);
      ca_exp(top, top, calculator->context);
      return 1;
    case kHyperI:
      ca_i(top, calculator->context);
      return 1;
  }
  return 0;
}

int HyperCalculatorAdd(HyperCalculator* calculator) {
  if (calculator->size < 2) {
    return 0;
  }
  ca_add(Top(calculator, 1), Top(calculator, 1), Top(calculator, 0), calculator->context);
  Pop(calculator);
  return 1;
}

int HyperCalculatorMultiply(HyperCalculator* calculator) {
  if (calculator->size < 2) {
    return 0;
  }
  ca_mul(Top(calculator, 1), Top(calculator, 1), Top(calculator, 0), calculator->context);
  Pop(calculator);
  return 1;
}

int HyperCalculatorPower(HyperCalculator* calculator) {
  ca_struct* base;
  if (calculator->size < 2) {
    return 0;
  }
  base = Top(calculator, 1);
  if (ca_check_is_zero(base, calculator->context) != T_FALSE) {
    return 0;
  }
  ca_pow(base, base, Top(calculator, 0), calculator->context);
  Pop(calculator);
  return 1;
}

int HyperCalculatorRationalPower(HyperCalculator* calculator, const fmpq_t exponent) {
  ca_struct* base;
  int negative = 0;
  if (calculator->size < 1) {
    return 0;
  }
  base = Top(calculator, 0);
  if (fmpz_is_odd(fmpq_denref(exponent)) && !fmpz_is_one(fmpq_denref(exponent))) {
    truth_t sign = ca_check_is_negative_real(base, calculator->context);
    if (sign == T_UNKNOWN) {
      return 0;
    }
    negative = sign == T_TRUE;
    if (negative) {
      ca_neg(base, base, calculator->context);
    }
  }
  if (fmpq_sgn(exponent) <= 0 && ca_check_is_zero(base, calculator->context) != T_FALSE) {
    return 0;
  }
  ca_pow_fmpq(base, base, exponent, calculator->context);
  if (negative && fmpz_is_odd(fmpq_numref(exponent))) {
    ca_neg(base, base, calculator->context);
  }
  return 1;
}

int HyperCalculatorCall(HyperCalculator* calculator, const char* function) {
  static const struct {
    const char* name;
    void (*apply)(ca_t, const ca_t, ca_ctx_t);
    int inverse; /* 1 / f */
  } kFunctions[] = {
      {"sin", ca_sin, 0},     {"cos", ca_cos, 0},     {"tan", ca_tan, 0}, {"cot", ca_cot, 0},
      {"sec", ca_cos, 1},     {"csc", ca_sin, 1},     {"ln", ca_log, 0},  {"arcsin", ca_asin, 0},
      {"arccos", ca_acos, 0}, {"arctan", ca_atan, 0}, {"abs", ca_abs, 0}, {"floor", ca_floor, 0},
      {"ceil", ca_ceil, 0},   {"re", ca_re, 0},       {"im", ca_im, 0},
  };
  size_t i;
  if (calculator->size < 1) {
    return 0;
  }
  for (i = 0; i < sizeof(kFunctions) / sizeof(kFunctions[0]); ++i) {
    ca_struct* top = Top(calculator, 0);
    if (strcmp(kFunctions[i].name, function) != 0) {
      continue;
    }
    kFunctions[i].apply(top, top, calculator->context);
    if (kFunctions[i].inverse) {
      ca_inv(top, top, calculator->context);
    }
    return 1;
  }
  return 0;
}

int HyperCalculatorLogarithm(HyperCalculator* calculator) {
  ca_struct* value;
  ca_struct* base;
  if (calculator->size < 2) {
    return 0;
  }
  value = Top(calculator, 1);
  base = Top(calculator, 0);
  ca_log(value, value, calculator->context);
  ca_log(base, base, calculator->context);
  if (ca_check_is_zero(base, calculator->context) != T_FALSE) {
    return 0;
  }
  ca_div(value, value, base, calculator->context);
  Pop(calculator);
  return 1;
}

int HyperCalculatorEqual(HyperCalculator* calculator) {
  const ca_struct* left;
  const ca_struct* right;
  if (calculator->size < 2) {
    return -1;
  }
  left = Top(calculator, 1);
  right = Top(calculator, 0);
  if (ca_check_is_number(left, calculator->context) != T_TRUE ||
      ca_check_is_number(right, calculator->context) != T_TRUE) {
    return -1;
  }
  switch (ca_check_equal(left, right, calculator->context)) {
    case T_TRUE:
      return 1;
    case T_FALSE:
      return 0;
    default:
      return -1;
  }
}
