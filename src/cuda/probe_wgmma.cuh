/* SPDX-License-Identifier: MIT */
/* Probes of wgmma: D = A B + C over tiles of 64 rows and 256 columns, in instructions of N columns
 * and chains of any number of them. A from registers (rs) or from shared memory (ss), where all
 * instructions of a chain are issued before any is waited for. */
#ifndef PCAST_CUDA_PROBE_WGMMA_CUH
#define PCAST_CUDA_PROBE_WGMMA_CUH

#include "cuda/probe_inputs.h"
#include "cuda/tile.h"

#include <stdint.h>

/* The registers of D, as operands and in the instruction's text. */
#define D_OPERANDS_4(i)   "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D_OPERANDS_16(i)  D_OPERANDS_4(i), D_OPERANDS_4(i + 4), D_OPERANDS_4(i + 8), D_OPERANDS_4(i + 12)
#define D_OPERANDS_64(i)  D_OPERANDS_16(i), D_OPERANDS_16(i + 16), D_OPERANDS_16(i + 32), D_OPERANDS_16(i + 48)
#define D_OPERANDS_128(i) D_OPERANDS_64(i), D_OPERANDS_64(i + 64)
#define D_TEXT_4          "%0, %1, %2, %3"
#define D_TEXT_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* One instruction; without `keep` it takes D as zero. The operands behind D's are numbered. */
#define WGMMA_SS(n, registers, types, at_a, at_b, at_keep)                                         \
    static __device__ __forceinline__ void ss(float (&d)[registers], uint64_t a, uint64_t b,       \
                                              int keep)                                            \
    {                                                                                              \
        asm volatile("{.reg .pred keep; setp.ne.b32 keep, %" #at_keep ", 0;"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." types                       \
                     " {" D_TEXT_##registers "}, %" #at_a ", %" #at_b ", keep, 1, 1;}"             \
                     : D_OPERANDS_##registers(0)                                                   \
                     : "l"(a), "l"(b), "r"(keep));                                                 \
    }

#define WGMMA_RS(n, registers, types, at_a0, at_a1, at_a2, at_a3, at_b, at_keep)                   \
    static __device__ __forceinline__ void rs(float (&d)[registers], const uint32_t (&a)[4],       \
                                              uint64_t b, int keep)                                \
    {                                                                                              \
        asm volatile("{.reg .pred keep; setp.ne.b32 keep, %" #at_keep ", 0;"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." types                       \
                     " {" D_TEXT_##registers "}, {%" #at_a0 ", %" #at_a1 ", %" #at_a2 ", %" #at_a3 \
                     "}, %" #at_b ", keep, 1, 1;}"                                                 \
                     : D_OPERANDS_##registers(0)                                                   \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));             \
    }

#define WGMMA(name, types)                                                                         \
    struct pcast_wgmma_##name {                                                                    \
        WGMMA_SS(8, 4, types, 4, 5, 6)                                                             \
        WGMMA_SS(256, 128, types, 128, 129, 130)                                                   \
        WGMMA_RS(8, 4, types, 4, 5, 6, 7, 8, 9)                                                    \
        WGMMA_RS(256, 128, types, 128, 129, 130, 131, 132, 133)                                    \
    };

WGMMA(e4m3_e4m3, "e4m3.e4m3")
WGMMA(e4m3_e5m2, "e4m3.e5m2")
WGMMA(e5m2_e4m3, "e5m2.e4m3")
WGMMA(e5m2_e5m2, "e5m2.e5m2")

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

/* Keeps the compiler from moving the accumulators over what stands before and after. */
template <int REGISTERS> static __device__ __forceinline__ void pcast_pin(float (&d)[REGISTERS])
{
#pragma unroll
    for (int i = 0; i < REGISTERS; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

static __device__ __forceinline__ void pcast_wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void pcast_wgmma_wait()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
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
    /* The tensor core reads by another way than the stores went. */
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
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
    extern "C" __global__ void __launch_bounds__(128)                                              \
        pcast_probe_wgmma_##source##_n##n##_##name(const uint8_t *a, const uint8_t *b,             \
                                                   const float *c, float *d, uint32_t steps,       \
                                                   uint32_t keep)                                  \
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

#endif
