/* SPDX-License-Identifier: MIT */
/* CUDA's expf and __expf around the ex2 unit (docs/numerics.md, steps 11.7 and 11.8), as nvcc 13.0
 * writes them in PTX for sm_90a. */
#include "hardware/units.h"

#include "base/bits.h"
#include "hardware/sfu.h"

#include <math.h>

#define LOG2E          0x1.715476p+0f  /* 0x3FB8AA3B */
#define LOG2E_LOW      0x1.4ae0c0p-26f /* 0x32A57060: log2 e less the constant above */
#define LOG2E_OVER_252 0x1.77313ap-8f  /* 0x3BBB989D */

/* cvt.sat: NaN becomes +0. */
static float saturate(float x)
{
    return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
}

float pcast_cuda_expf(float x)
{
    if (isnan(x))
        return pcast_f32_from_bits(PCAST_NVIDIA_NAN);
    /* floor(x log2 e) + 126, held within 0 and 252. The kernel adds 12582913 = 1.5 * 2^23 + 1 in a
     * fused multiply-add rounded down, which leaves this integer plus 1 in the last bits; the
     * product is exact in binary64. */
    const float position = saturate(fmaf(x, LOG2E_OVER_252, 0.5f));
    const int32_t steps = (int32_t)((double)position * 252.0);
    const float whole = (float)(steps - 126);
    const float rest = fmaf(x, LOG2E_LOW, fmaf(x, LOG2E, -whole));
    const float power = pcast_f32_from_bits((uint32_t)(steps + 1) << 23);
    return pcast_ex2_ftz(rest) * power;
}

float pcast_cuda_expf_fast(float x)
{
    if (isnan(x))
        return pcast_f32_from_bits(PCAST_NVIDIA_NAN);
    return pcast_ex2(x * LOG2E);
}
