/* SPDX-License-Identifier: MIT */
/* The functions that replace libm on a simulated path. All of them need the environment of
 * base/fpenv.h (round to nearest even, subnormals kept) and are pure functions of their argument's
 * bits. */
#ifndef PCAST_MATH_MATH_H
#define PCAST_MATH_MATH_H

#include "base/device.h"

/* Binary32, correctly rounded to nearest even for every argument, subnormal results included;
 * overflow gives +Inf, NaN gives NaN. Proven over all 2^32 arguments
 * (tests/exhaustive/math_f32_mpfr.c: against MPFR, or libm in binary64 where that is far from a
 * rounding boundary). */

/* exp(-Inf) = +0. */
PCAST_FUNCTION float pcast_exp_f32(float x);

/* 2^x. exp2(-Inf) = +0; integers are exact, and exp2(-150), a tie, is +0. */
PCAST_FUNCTION float pcast_exp2_f32(float x);

/* Natural logarithm and logarithm to base 2, exact for powers of 2. log(+-0) = -Inf, log(+Inf) =
 * +Inf, x < 0 gives NaN; log(1) = +0. */
PCAST_FUNCTION float pcast_log_f32(float x);
PCAST_FUNCTION float pcast_log2_f32(float x);

/* tanh(+-0) = +-0, tanh(+-Inf) = +-1. */
PCAST_FUNCTION float pcast_tanh_f32(float x);

/* exp(x) in binary64, error below 1 ulp (0.52 ulp for normal results; tests/unit/test_math.c). */
PCAST_FUNCTION double pcast_exp_f64(double x);

/* Natural logarithm in binary64, error below 1 ulp (0.56 ulp; tests/unit/test_math.c). log(+-0) =
 * -Inf, x < 0 gives NaN. */
PCAST_FUNCTION double pcast_log_f64(double x);

#endif
