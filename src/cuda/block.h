/* SPDX-License-Identifier: MIT */
/* What a kernel asks of the threads of its block, on a device and in a replay on the CPU
 * (cuda/replay.h). Kernels are written in C with nothing else of CUDA in them. */
#ifndef PCAST_CUDA_BLOCK_H
#define PCAST_CUDA_BLOCK_H

#include "base/bits.h"
#include "pcast/format.h"

#include <stdint.h>

enum { PCAST_WARP = 32 };

#if defined(__CUDACC__)

typedef struct pcast_block {
    unsigned thread; /* within the block */
} pcast_block;

/* All threads of the block meet. */
PCAST_INLINE void pcast_block_sync(const pcast_block *self)
{
    (void)self;
    __syncthreads();
}

/* All lanes of the warp meet. */
PCAST_INLINE void pcast_warp_sync(const pcast_block *self)
{
    (void)self;
    __syncwarp();
}

/* The x of lane `from`; all lanes of the warp take part. */
PCAST_INLINE uint32_t pcast_warp_read(const pcast_block *self, uint32_t x, unsigned from)
{
    (void)self;
    return __shfl_sync(0xFFFFFFFFu, x, (int)from);
}

/* cvt.rn.satfinite.e4m3x2.f32 or its like for E5M2; the instruction takes two numbers. */
PCAST_INLINE uint32_t pcast_cast_instruction(pcast_format format, float x)
{
    uint16_t pair;
    if (format == PCAST_E4M3)
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    else
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return pair & 0xFFu;
}

#else

#include "cuda/replay.h"

/* The codec in the instruction's place: saturating, one NaN. */
static inline uint32_t pcast_cast_instruction(pcast_format format, float x)
{
    return pcast_encode_f32(
        format, x,
        (pcast_cast){PCAST_OVERFLOW_SATURATE, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL});
}

#define pcast_block_sync(self)         pcast_replay_block_sync(self, __FILE__, __LINE__)
#define pcast_warp_sync(self)          pcast_replay_warp_sync(self, __FILE__, __LINE__)
#define pcast_warp_read(self, x, from) pcast_replay_warp_read(self, x, from, __FILE__, __LINE__)

#endif

/* The same of a float. */
PCAST_INLINE float pcast_warp_read_f32(const pcast_block *self, float x, unsigned from)
{
    return pcast_f32_from_bits(pcast_warp_read(self, pcast_bits_f32(x), from));
}

#endif
