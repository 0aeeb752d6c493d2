/* SPDX-License-Identifier: MIT */
/* wgmma.mma_async m64nNk32 of FP8 into FP32 for N = 8, 64 and 256, and what has to stand around it
 * (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). Operands in shared memory lie as
 * in tile.h. */
#ifndef PCAST_CUDA_WGMMA_CUH
#define PCAST_CUDA_WGMMA_CUH

#include <stdint.h>

/* The registers of D, as operands and in the instruction's text. */
#define D_OPERANDS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D_OPERANDS_16(i)                                                                           \
    D_OPERANDS_4(i), D_OPERANDS_4(i + 4), D_OPERANDS_4(i + 8), D_OPERANDS_4(i + 12)
#define D_OPERANDS_32(i) D_OPERANDS_16(i), D_OPERANDS_16(i + 16)
#define D_OPERANDS_64(i)                                                                           \
    D_OPERANDS_16(i), D_OPERANDS_16(i + 16), D_OPERANDS_16(i + 32), D_OPERANDS_16(i + 48)
#define D_OPERANDS_128(i) D_OPERANDS_64(i), D_OPERANDS_64(i + 64)
#define D_TEXT_4          "%0, %1, %2, %3"
#define D_TEXT_32                                                                                  \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define D_TEXT_128                                                                                 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
    "%127"

/* One instruction; without `keep` it takes D as zero. The operands behind D's are numbered. */
#define WGMMA_SS(n, registers, types, at_a, at_b, at_keep)                                         \
    static __device__ __forceinline__ void ss(float(&d)[registers], uint64_t a, uint64_t b,        \
                                              int keep)                                            \
    {                                                                                              \
        asm volatile("{.reg .pred keep; setp.ne.b32 keep, %" #at_keep ", 0;"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." types                       \
                     " {" D_TEXT_##registers "}, %" #at_a ", %" #at_b ", keep, 1, 1;}"             \
                     : D_OPERANDS_##registers(0)                                                   \
                     : "l"(a), "l"(b), "r"(keep));                                                 \
    }

#define WGMMA_RS(n, registers, types, at_a0, at_a1, at_a2, at_a3, at_b, at_keep)                   \
    static __device__ __forceinline__ void rs(float(&d)[registers], const uint32_t(&a)[4],         \
                                              uint64_t b, int keep)                                \
    {                                                                                              \
        asm volatile("{.reg .pred keep; setp.ne.b32 keep, %" #at_keep ", 0;"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." types                       \
                     " {" D_TEXT_##registers "}, {%" #at_a0 ", %" #at_a1 ", %" #at_a2 ", %" #at_a3 \
                                             "}, %" #at_b ", keep, 1, 1;}"                         \
                     : D_OPERANDS_##registers(0)                                                   \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));             \
    }

#define WGMMA(name, types)                                                                         \
    struct pcast_wgmma_##name {                                                                    \
        WGMMA_SS(8, 4, types, 4, 5, 6)                                                             \
        WGMMA_SS(64, 32, types, 32, 33, 34)                                                        \
        WGMMA_SS(256, 128, types, 128, 129, 130)                                                   \
        WGMMA_RS(8, 4, types, 4, 5, 6, 7, 8, 9)                                                    \
        WGMMA_RS(64, 32, types, 32, 33, 34, 35, 36, 37)                                            \
        WGMMA_RS(256, 128, types, 128, 129, 130, 131, 132, 133)                                    \
    };

WGMMA(e4m3_e4m3, "e4m3.e4m3")
WGMMA(e4m3_e5m2, "e4m3.e5m2")
WGMMA(e5m2_e4m3, "e5m2.e4m3")
WGMMA(e5m2_e5m2, "e5m2.e5m2")

#undef WGMMA
#undef WGMMA_RS
#undef WGMMA_SS
#undef D_TEXT_128
#undef D_TEXT_4
#undef D_OPERANDS_128
#undef D_OPERANDS_64
#undef D_OPERANDS_16
#undef D_OPERANDS_4

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

/* Between stores to shared memory and the tensor core's reading them, which goes another way; a
 * barrier follows. */
static __device__ __forceinline__ void pcast_proxy_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
