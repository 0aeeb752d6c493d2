/* SPDX-License-Identifier: MIT */
/* The tensor core as a kernel of one warpgroup uses it: products of 64 rows, 64 columns and 32
 * codes of k, issued together and waited for together. On a device wgmma; in a replay the library's
 * model of it, which reads operands as late as the hardware may. */
#ifndef PCAST_CUDA_MMA_H
#define PCAST_CUDA_MMA_H

#include "cuda/block.h"
#include "cuda/tile.h"

enum {
    PCAST_MMA_ROWS = 64,
    PCAST_MMA_COLUMNS = 64,
    PCAST_MMA_REGISTERS = 32,                               /* of D, in each thread */
    PCAST_MMA_TILE_BYTES = PCAST_MMA_ROWS * PCAST_TILE_KEYS /* of A, and of B */
};

#if defined(__CUDACC__)

#include "cuda/wgmma.cuh"

#define PCAST_UNROLL       _Pragma("unroll")
#define PCAST_REGISTERS(d) float(&d)[PCAST_MMA_REGISTERS]
#define PCAST_CODES(a)     const uint32_t(&a)[4]

typedef struct pcast_mma {
    int unused;
} pcast_mma;
#define PCAST_MMA_START 0

/* Registers and shared memory are as they are to be read. */
PCAST_INLINE void pcast_mma_begin(const pcast_block *self, pcast_mma *mma)
{
    (void)self, (void)mma;
    pcast_wgmma_fence();
}

/* D = A B + D, or without `keep` A B: A and B are tiles in shared memory (cuda/tile.h). */
PCAST_INLINE void pcast_mma_shared(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d),
                                   const uint8_t *a, const uint8_t *b, int keep)
{
    (void)self, (void)mma;
    pcast_wgmma_e4m3_e4m3::ss(d, pcast_tile_descriptor((uint32_t)__cvta_generic_to_shared(a)),
                              pcast_tile_descriptor((uint32_t)__cvta_generic_to_shared(b)), keep);
}

/* The same with A in registers. */
PCAST_INLINE void pcast_mma_registers(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d),
                                      PCAST_CODES(a), const uint8_t *b, int keep)
{
    (void)self, (void)mma;
    pcast_wgmma_e4m3_e4m3::rs(d, a, pcast_tile_descriptor((uint32_t)__cvta_generic_to_shared(b)),
                              keep);
}

/* All products are done. */
PCAST_INLINE void pcast_mma_wait(const pcast_block *self, pcast_mma *mma)
{
    (void)self, (void)mma;
    pcast_wgmma_wait();
}

/* The compiler does not move what computes or reads D over this: before begin, after wait. */
PCAST_INLINE void pcast_mma_pin(PCAST_REGISTERS(d))
{
    pcast_pin(d);
}

/* 16 codes to shared memory without passing through registers, zeros where they do not exist; both
 * addresses are multiples of 16. Done once pcast_mma_stored returns. */
PCAST_INLINE void pcast_mma_copy(const pcast_block *self, pcast_mma *mma, uint8_t *to,
                                 const uint8_t *from, int exists)
{
    (void)self, (void)mma;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(exists ? 16 : 0)
                 : "memory");
}

/* What this thread copied and stored to shared memory the tensor core will see; a barrier follows.
 */
PCAST_INLINE void pcast_mma_stored(const pcast_block *self, pcast_mma *mma)
{
    (void)self, (void)mma;
    asm volatile("cp.async.wait_all;" ::: "memory");
    pcast_proxy_fence();
}

PCAST_INLINE float pcast_unit_ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

PCAST_INLINE float pcast_unit_lg2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#else

#include "hardware/units.h"

#define PCAST_UNROLL
#define PCAST_REGISTERS(d) float d[PCAST_MMA_REGISTERS]
#define PCAST_CODES(a)     const uint32_t a[4]

/* A product that waits. */
typedef struct pcast_mma_product {
    float *d;
    const uint8_t *a, *b; /* a is NULL where A is in registers */
    const uint32_t *codes;
    int keep;
} pcast_mma_product;

typedef enum pcast_mma_phase {
    PCAST_MMA_IDLE,   /* registers may be used */
    PCAST_MMA_OPEN,   /* products may be issued */
    PCAST_MMA_ISSUED, /* and have to be waited for */
} pcast_mma_phase;

enum { PCAST_MMA_PRODUCTS = 16 };

/* A copy that waits. */
typedef struct pcast_mma_move {
    uint8_t *to;
    const uint8_t *from; /* NULL: zeros */
} pcast_mma_move;

enum { PCAST_MMA_COPIES = 32 };

/* A thread's products since it began, and its copies since they were waited for. */
typedef struct pcast_mma {
    pcast_mma_phase phase;
    unsigned count;
    pcast_mma_product products[PCAST_MMA_PRODUCTS + 1]; /* the last is for those too many */
    unsigned copy_count;
    pcast_mma_move copies[PCAST_MMA_COPIES + 1];
} pcast_mma;

#define PCAST_MMA_START    PCAST_MMA_IDLE

void pcast_mma_begin(const pcast_block *self, pcast_mma *mma);
void pcast_mma_shared(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d), const uint8_t *a,
                      const uint8_t *b, int keep);
void pcast_mma_registers(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d),
                         PCAST_CODES(a), const uint8_t *b, int keep);
void pcast_mma_wait(const pcast_block *self, pcast_mma *mma);
void pcast_mma_copy(const pcast_block *self, pcast_mma *mma, uint8_t *to, const uint8_t *from,
                    int exists);
void pcast_mma_stored(const pcast_block *self, pcast_mma *mma);

static inline void pcast_mma_pin(PCAST_REGISTERS(d))
{
    (void)d;
}

static inline float pcast_unit_ex2(float x)
{
    return pcast_ex2_ftz(x);
}

static inline float pcast_unit_lg2(float x)
{
    return pcast_lg2_ftz(x);
}

#endif

#endif
