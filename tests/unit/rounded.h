/* SPDX-License-Identifier: MIT */
/* Rounding to a kernel's output. */
#ifndef PCAST_TESTS_ROUNDED_H
#define PCAST_TESTS_ROUNDED_H

#include "pcast/kernel.h"

static inline float pcast_test_round(pcast_output format, double x)
{
    static const pcast_format formats[] = {[PCAST_OUTPUT_F32] = PCAST_F32,
                                           [PCAST_OUTPUT_BF16] = PCAST_BF16,
                                           [PCAST_OUTPUT_F16] = PCAST_F16};
    const pcast_cast ieee = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_decode_f32(formats[format], pcast_encode_f32(formats[format], (float)x, ieee));
}

#endif
