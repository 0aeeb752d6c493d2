/* SPDX-License-Identifier: MIT */
/* The library's own arithmetic, compiled for the device from the same sources: functions, codec. */
#ifndef PCAST_CUDA_LIBRARY_CUH
#define PCAST_CUDA_LIBRARY_CUH

#include "pcast/format.h"
/* The public header declares these for the host. */
#define pcast_convert    pcast_device_convert
#define pcast_encode_f32 pcast_device_encode_f32
#define pcast_decode_f32 pcast_device_decode_f32
#define pcast_decode_f64 pcast_device_decode_f64

/* In this order: each needs those before it. */
#include "e4m3/float_format.c"

#include "e4m3/convert.c"

#include "math/exp_f32.c"
#include "math/exp_f64.c"
#include "math/log_f64.c"

#include "math/log_f32.c"
#include "math/strict.h"
#include "math/tanh_f32.c"
#include "softmax/units.h"

/* Units of FP32 semantics, which are all exact. */
PCAST_FUNCTION float pcast_unit_exp(const pcast_plan *plan, float x)
{
    (void)plan;
    return pcast_exp_f32(x);
}

PCAST_FUNCTION float pcast_unit_exp2(const pcast_plan *plan, float x)
{
    (void)plan;
    return pcast_exp2_f32(x);
}

PCAST_FUNCTION float pcast_unit_log(const pcast_plan *plan, float x)
{
    (void)plan;
    return pcast_log_f32(x);
}

PCAST_FUNCTION float pcast_unit_log2(const pcast_plan *plan, float x)
{
    (void)plan;
    return pcast_log2_f32(x);
}

PCAST_FUNCTION float pcast_unit_reciprocal(const pcast_plan *plan, float x)
{
    (void)plan;
    return 1.0f / x;
}

PCAST_FUNCTION float pcast_unit_quotient(const pcast_plan *plan, float a, float x)
{
    (void)plan;
    return a / x;
}

#endif
