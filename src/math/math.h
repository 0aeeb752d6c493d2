/* SPDX-License-Identifier: MIT */
/* The functions that replace libm on a simulated path. All of them need the environment of
 * base/fpenv.h (round to nearest even, subnormals kept) and are pure functions of their argument's
 * bits. */
#ifndef PCAST_MATH_MATH_H
#define PCAST_MATH_MATH_H

/* exp(x) in binary32, correctly rounded to nearest even, subnormal results included; overflow gives
 * +Inf, NaN gives NaN. Proven over all 2^32 arguments against MPFR
 * (tests/exhaustive/exp_f32_mpfr.c). */
float pcast_exp_f32(float x);

/* exp(x) in binary64, error below 1 ulp (0.52 ulp for normal results; tests/unit/test_math.c). */
double pcast_exp_f64(double x);

/* Natural logarithm in binary64, error below 1 ulp (0.56 ulp; tests/unit/test_math.c). log(+-0) =
 * -Inf, x < 0 gives NaN. */
double pcast_log_f64(double x);

#endif
