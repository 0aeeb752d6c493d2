/* SPDX-License-Identifier: MIT */
/* The integer core of every conversion: a binary floating-point format as data, taking a number
 * apart, and rounding a magnitude into a format (docs/numerics.md, section 2). */
#ifndef PCAST_E4M3_FLOAT_FORMAT_H
#define PCAST_E4M3_FLOAT_FORMAT_H

#include "base/device.h"
#include "pcast/format.h"

#include <stdint.h>

/* A format with a sign bit on top, then the exponent field, then `mantissa` bits, with subnormals.
 * With e = max(field - 1, 0), a positive finite code c is the integer c - e * 2^mantissa times
 * 2^(emin - mantissa + e): codes grow with values, which is what rounding below relies on. */
typedef struct pcast_float_format {
    int width;              /* bits in all */
    int mantissa;           /* stored mantissa bits */
    int emin;               /* exponent of the smallest normal number */
    uint64_t max_finite;    /* code of the largest finite number */
    uint64_t infinity;      /* code of +Inf, 0 if the format has none */
    uint64_t nan;           /* code of the positive quiet NaN */
    uint64_t canonical_nan; /* all ones, as CUDA's conversions give; FNUZ: 0x80 */
    int fnuz;               /* no -0: its code is the only NaN */
} pcast_float_format;

#if !defined(__CUDACC__)
extern const pcast_float_format pcast_float_formats[PCAST_FORMAT_COUNT]; /* by pcast_format */
#endif

typedef enum pcast_float_class {
    PCAST_FINITE,
    PCAST_INFINITE,
    PCAST_NOT_A_NUMBER
} pcast_float_class;

/* A finite number is (-1)^negative * significand * 2^exponent. */
typedef struct pcast_unpacked {
    pcast_float_class kind;
    int negative;
    uint64_t significand;
    int exponent;
} pcast_unpacked;

PCAST_FUNCTION pcast_unpacked pcast_unpack(const pcast_float_format *format, uint64_t bits);

/* significand * 2^exponent to the nearest code of the format, ties to even, as if the exponent
 * field had no upper end: a result above max_finite means overflow (round first, then test).
 * significand < 2^63. */
PCAST_FUNCTION uint64_t pcast_round_magnitude(const pcast_float_format *format,
                                              uint64_t significand, int exponent);

#endif
