/* SPDX-License-Identifier: MIT */
/* The units of NVIDIA GPUs that compute exponentials, logarithms and reciprocals, bit by bit, and
 * the code that is emitted or written around them (docs/numerics.md, section 11). All of them need
 * the environment of base/fpenv.h (round to nearest even, subnormals kept) and are pure functions
 * of their argument's bits. A NaN result is 0x7FFFFFFF, but for pcast_fa4_exp2 above 128.
 *
 * Sources: the envytools project (tables and steps of the special function unit, read out from and
 * compared with G80-class GPUs; https://github.com/envytools/envytools, MIT); PTX ISA 9.1 (bounds
 * and special values); nvcc 13.0's PTX for sm_90a (expf); FlashAttention-4 (arXiv 2603.05451 and
 * flash_attn/cute/utils.py of Dao-AILab/flash-attention, BSD-3-Clause). */
#ifndef PCAST_HARDWARE_UNITS_H
#define PCAST_HARDWARE_UNITS_H

/* ex2.approx.ftz.f32: 2^x; at most 2 ulp from the correctly rounded result. Results below 2^-126
 * are +0, subnormal arguments give 1. */
float pcast_ex2_ftz(float x);

/* ex2.approx.f32: the same, and for x < -126 the square of the unit's result at x / 2, so that
 * subnormal results appear. */
float pcast_ex2(float x);

/* rcp.approx.ftz.f32: 1 / x within 1 ulp. Subnormal arguments and zeros give infinity, infinities
 * and results below 2^-126 zero, with the argument's sign. */
float pcast_rcp_ftz(float x);

/* lg2.approx.ftz.f32: log2(x). Subnormal arguments and zeros of either sign give -Inf, other
 * negative arguments NaN. */
float pcast_lg2_ftz(float x);

/* expf as nvcc 13.0 compiles it for sm_90a without -use_fast_math. */
float pcast_cuda_expf(float x);

/* __expf as nvcc 13.0 compiles it without -use_fast_math: ex2.approx.f32 of RN(x * 0x3FB8AA3B).
 * With -use_fast_math, which also turns expf into it, the instructions are the .ftz ones: the same
 * bits, but +0 for every result below 2^-126. */
float pcast_cuda_expf_fast(float x);

/* FlashAttention-4's exp2 in FP32 arithmetic with a polynomial of degree 3 or 5 (any other degree
 * counts as 3). Meant for x <= 127; above, whatever its instructions give: infinity at 128, then
 * NaNs, then negative numbers. NaN gives +0, and results below 2^-126 are wrong subnormals. */
float pcast_fa4_exp2(float x, int degree);

#endif
