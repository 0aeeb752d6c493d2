/* SPDX-License-Identifier: MIT */
/* In the place of src/cuda/wgmma.cuh: the same functions on the host, where 128 threads meet and
 * one of them computes. Written from PTX ISA's figures, not from src/cuda/tile.h. */
#ifndef PCAST_CUDA_WGMMA_CUH
#define PCAST_CUDA_WGMMA_CUH

#include "pcast/tensor_core.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__
#define __align__(bytes)
#define __launch_bounds__(threads)

struct uint4 {
    uint32_t x, y, z, w;
};
struct place {
    uint32_t x;
};
static thread_local place threadIdx, blockIdx;
static const place blockDim = {128};

/* The block's shared memory, and where it begins as the tensor core counts. */
enum { SHARED_BYTES = (64 + 256) * 32 * 8, SHARED_START = 1024 };
alignas(128) uint8_t shared[SHARED_BYTES];
static pthread_barrier_t barrier;

static inline void __syncthreads()
{
    pthread_barrier_wait(&barrier);
}

static inline size_t __cvta_generic_to_shared(const void *address)
{
    return (size_t)((const uint8_t *)address - shared) + SHARED_START;
}

/* What the threads bring together: A's registers, D's. */
static uint32_t all_a[128][4];
static float all_d[128][128];

/* The code of (row, k) behind a descriptor: core matrices of 8 rows of 16 bytes. */
static inline uint8_t code_at(uint64_t descriptor, int row, int k)
{
    const size_t start = (descriptor & 0x3FFF) * 16, leading = (descriptor >> 16 & 0x3FFF) * 16;
    const size_t stride = (descriptor >> 32 & 0x3FFF) * 16;
    return shared[start - SHARED_START + (size_t)(row / 8) * stride + (size_t)(k / 16) * leading +
                  (size_t)(row % 8) * 16 + (size_t)(k % 16)];
}

/* Thread t: rows 16 * (t / 32) + t % 32 / 4, and 8 more in odd registers; k from 4 * (t % 4), and
 * 16 more in the last two. */
static inline uint8_t code_in_registers(int row, int k)
{
    const int t = row / 16 * 32 + row % 8 * 4 + k % 16 / 4;
    return (uint8_t)(all_a[t][row % 16 / 8 + k / 16 * 2] >> k % 4 * 8);
}

/* D's number (row, column): pairs of columns go to four threads in turn. */
static inline float *number_in_registers(int row, int column)
{
    const int t = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    return &all_d[t][column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
}

template <class Formats> struct wgmma {
    /* a_descriptor 0: A is in registers. */
    static void compute(int n, uint64_t a_descriptor, uint64_t b_descriptor, int keep)
    {
        const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA, Formats::a, Formats::b,
                                        PCAST_TENSOR_CORE_F32, PCAST_CPU_SCALAR};
        for (int row = 0; row < 64; row++)
            for (int column = 0; column < n; column++) {
                uint8_t a[32], b[32];
                float *d = number_in_registers(row, column);
                for (int k = 0; k < 32; k++) {
                    a[k] = a_descriptor != 0 ? code_at(a_descriptor, row, k)
                                             : code_in_registers(row, k);
                    b[k] = code_at(b_descriptor, column, k);
                }
                if (!keep)
                    *d = 0;
                pcast_tensor_core_dots(&core, a, b, 1, 32, d);
            }
    }

    template <int REGISTERS>
    static void meet(float (&d)[REGISTERS], const uint32_t *a, uint64_t a_descriptor,
                     uint64_t b_descriptor, int keep)
    {
        memcpy(all_d[threadIdx.x], d, sizeof d);
        if (a != nullptr)
            memcpy(all_a[threadIdx.x], a, sizeof all_a[0]);
        __syncthreads();
        if (threadIdx.x == 0)
            compute(2 * REGISTERS, a_descriptor, b_descriptor, keep);
        __syncthreads();
        memcpy(d, all_d[threadIdx.x], sizeof d);
    }

    template <int REGISTERS> static void ss(float (&d)[REGISTERS], uint64_t a, uint64_t b, int keep)
    {
        meet(d, nullptr, a, b, keep);
    }

    template <int REGISTERS>
    static void rs(float (&d)[REGISTERS], const uint32_t (&a)[4], uint64_t b, int keep)
    {
        meet(d, a, 0, b, keep);
    }
};

#define WGMMA(name, of_a, of_b)                                                                    \
    struct formats_##name {                                                                        \
        static const pcast_format a = of_a, b = of_b;                                              \
    };                                                                                             \
    typedef wgmma<formats_##name> pcast_wgmma_##name;

WGMMA(e4m3_e4m3, PCAST_E4M3, PCAST_E4M3)
WGMMA(e4m3_e5m2, PCAST_E4M3, PCAST_E5M2)
WGMMA(e5m2_e4m3, PCAST_E5M2, PCAST_E4M3)
WGMMA(e5m2_e5m2, PCAST_E5M2, PCAST_E5M2)

template <int REGISTERS> static void pcast_pin(float (&)[REGISTERS])
{
}
static inline void pcast_wgmma_fence()
{
}
static inline void pcast_wgmma_wait()
{
}
static inline void pcast_proxy_fence()
{
}

#endif
