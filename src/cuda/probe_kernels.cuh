/* SPDX-License-Identifier: MIT */
/* Probes of single instructions and functions: each kernel runs one on first + i * step, i = 0 ..
 * count - 1, and stores the bits it gives. The host compares them with the library's models
 * (probes_*.c). */
#ifndef PCAST_CUDA_PROBE_KERNELS_CUH
#define PCAST_CUDA_PROBE_KERNELS_CUH

#include "cuda/probe_inputs.h"

#include <stdint.h>

/* y is of x. */
#define PROBE_FUNCTION(name, ...)                                                                  \
    extern "C" __global__ void pcast_probe_##name(uint32_t first, uint32_t step, uint32_t count,   \
                                                  uint32_t *out)                                   \
    {                                                                                              \
        const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        const float x = __uint_as_float(first + i * step);                                         \
        float y;                                                                                   \
        if (i >= count)                                                                            \
            return;                                                                                \
        __VA_ARGS__;                                                                               \
        out[i] = __float_as_uint(y);                                                               \
    }

#define PROBE_UNIT(name, instruction)                                                              \
    PROBE_FUNCTION(name, asm volatile(instruction " %0, %1;" : "=f"(y) : "f"(x)))

/* Both halves: the lower is of the argument itself, the upper of its partner. */
#define PROBE_CVT(name, instruction)                                                               \
    extern "C" __global__ void pcast_probe_##name(uint32_t first, uint32_t step, uint32_t count,   \
                                                  uint16_t *out)                                   \
    {                                                                                              \
        const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        const uint32_t x = first + i * step;                                                       \
        uint16_t codes;                                                                            \
        if (i >= count)                                                                            \
            return;                                                                                \
        asm volatile(instruction " %0, %1, %2;"                                                    \
                     : "=h"(codes)                                                                 \
                     : "f"(__uint_as_float(pcast_probe_partner(x))), "f"(__uint_as_float(x)));     \
        out[i] = codes;                                                                            \
    }

PROBE_UNIT(ex2, "ex2.approx.ftz.f32")
PROBE_UNIT(ex2_full, "ex2.approx.f32")
PROBE_UNIT(rcp, "rcp.approx.ftz.f32")
PROBE_UNIT(lg2, "lg2.approx.ftz.f32")
PROBE_FUNCTION(expf, y = expf(x))
PROBE_FUNCTION(expf_fast, y = __expf(x))
PROBE_CVT(cvt_e4m3, "cvt.rn.satfinite.e4m3x2.f32")
PROBE_CVT(cvt_e5m2, "cvt.rn.satfinite.e5m2x2.f32")

#undef PROBE_UNIT
#undef PROBE_FUNCTION
#undef PROBE_CVT

#endif
