/* SPDX-License-Identifier: MIT */
/* Probes of wgmma: D = A B + C over tiles of 64 rows and 256 columns, in instructions of N columns
 * and chains of any number of them. A from registers (rs) or from shared memory (ss), where all
 * instructions of a chain are issued before any is waited for. No PTX here: tests compile this for
 * the host, over a wgmma.cuh of their own. */
#ifndef PCAST_CUDA_PROBE_WGMMA_CUH
#define PCAST_CUDA_PROBE_WGMMA_CUH

#include "cuda/probe_inputs.h"
#include "cuda/tile.h"
#include "cuda/wgmma.cuh"

#include <stdint.h>

/* [rows][32 * steps] codes into tiles of one instruction each. */
static __device__ void pcast_stage(uint8_t *tiles, const uint8_t *matrix, uint32_t rows,
                                   uint32_t steps)
{
    const uint32_t units = rows * 2 * steps; /* of 16 codes */
    for (uint32_t i = threadIdx.x; i < units; i += blockDim.x) {
        const uint32_t row = i / (2 * steps), unit = i % (2 * steps);
        uint8_t *tile = tiles + unit / 2 * rows * PCAST_TILE_KEYS;
        *(uint4 *)(tile + pcast_tile_offset(row, unit % 2 * PCAST_TILE_CORE_KEYS)) =
            ((const uint4 *)matrix)[i];
    }
}

template <class W, int N>
static __device__ void pcast_chain_ss(float (&d)[N / 2], uint32_t a, uint32_t b, uint32_t steps,
                                      uint32_t keep)
{
    pcast_pin(d);
    pcast_wgmma_fence();
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++)
        W::ss(d, pcast_tile_descriptor(a + step * PCAST_PROBE_ROWS * PCAST_TILE_KEYS),
              pcast_tile_descriptor(b + step * N * PCAST_TILE_KEYS), keep || step > 0);
    pcast_wgmma_wait();
    pcast_pin(d);
}

/* A's registers are used again, so each instruction is waited for. */
template <class W, int N>
static __device__ void pcast_chain_rs(float (&d)[N / 2], const uint8_t *a, uint32_t b,
                                      uint32_t steps, uint32_t keep)
{
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t registers[4];
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t row = pcast_fragment_a_row(threadIdx.x, i);
            const uint32_t k = step * PCAST_TILE_KEYS + pcast_fragment_a_k(threadIdx.x, i);
            registers[i] = *(const uint32_t *)(a + row * steps * PCAST_TILE_KEYS + k);
        }
        pcast_pin(d);
        pcast_wgmma_fence();
        W::rs(d, registers, pcast_tile_descriptor(b + step * N * PCAST_TILE_KEYS),
              keep || step > 0);
        pcast_wgmma_wait();
        pcast_pin(d);
    }
}

/* A block of 128 threads for each N columns of each tile. a [tiles][64][32 * steps], b
 * [tiles][256][32 * steps] codes; c, d [tiles][64][256]. Without `keep` C counts as zero. */
template <class W, int N, bool RS>
static __device__ void pcast_wgmma_tiles(const uint8_t *a, const uint8_t *b, const float *c,
                                         float *d, uint32_t steps, uint32_t keep)
{
    extern __shared__ __align__(128) uint8_t shared[];
    const uint32_t slices = PCAST_PROBE_COLUMNS / N;
    const uint32_t tile = blockIdx.x / slices, column = blockIdx.x % slices * N;
    const uint32_t k = steps * PCAST_TILE_KEYS;
    uint8_t *shared_b = shared + (RS ? 0 : PCAST_PROBE_ROWS * k);
    float sums[N / 2];
    a += tile * PCAST_PROBE_ROWS * k;
    b += (tile * PCAST_PROBE_COLUMNS + column) * k;
    if (!RS)
        pcast_stage(shared, a, PCAST_PROBE_ROWS, steps);
    pcast_stage(shared_b, b, N, steps);
    pcast_proxy_fence();
    __syncthreads();
    const uint32_t first = tile * PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS + column;
#pragma unroll
    for (int i = 0; i < N / 2; i++)
        sums[i] = c[first + pcast_fragment_d_row(threadIdx.x, i) * PCAST_PROBE_COLUMNS +
                    pcast_fragment_d_column(threadIdx.x, i)];
    const uint32_t at_b = (uint32_t)__cvta_generic_to_shared(shared_b);
    if (RS)
        pcast_chain_rs<W, N>(sums, a, at_b, steps, keep);
    else
        pcast_chain_ss<W, N>(sums, (uint32_t)__cvta_generic_to_shared(shared), at_b, steps, keep);
#pragma unroll
    for (int i = 0; i < N / 2; i++)
        d[first + pcast_fragment_d_row(threadIdx.x, i) * PCAST_PROBE_COLUMNS +
          pcast_fragment_d_column(threadIdx.x, i)] = sums[i];
}

#define PROBE_WGMMA_N(name, n, source, from_registers)                                             \
    extern "C" __global__ void __launch_bounds__(128) pcast_probe_wgmma_##source##_n##n##_##name(  \
        const uint8_t *a, const uint8_t *b, const float *c, float *d, uint32_t steps,              \
        uint32_t keep)                                                                             \
    {                                                                                              \
        pcast_wgmma_tiles<pcast_wgmma_##name, n, from_registers>(a, b, c, d, steps, keep);         \
    }
#define PROBE_WGMMA(name)                                                                          \
    PROBE_WGMMA_N(name, 8, ss, false)                                                              \
    PROBE_WGMMA_N(name, 256, ss, false)                                                            \
    PROBE_WGMMA_N(name, 8, rs, true)                                                               \
    PROBE_WGMMA_N(name, 256, rs, true)

PROBE_WGMMA(e4m3_e4m3)
PROBE_WGMMA(e4m3_e5m2)
PROBE_WGMMA(e5m2_e4m3)
PROBE_WGMMA(e5m2_e5m2)

#undef PROBE_WGMMA
#undef PROBE_WGMMA_N

#endif
