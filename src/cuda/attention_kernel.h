/* SPDX-License-Identifier: MIT */
/* The kernel: a warpgroup for 64 queries. S = Q K^T and O += P V on the tensor core, both operands
 * E4M3; the online softmax between them in registers (docs/numerics.md, section 12). A thread holds
 * 2 of the 64 rows, and of every 8 columns two. */
#ifndef PCAST_CUDA_ATTENTION_KERNEL_H
#define PCAST_CUDA_ATTENTION_KERNEL_H

#include "cuda/attention.h"
#include "cuda/mma.h"
#include "softmax/steps.h"

enum {
    PCAST_ATTENTION_STEPS = PCAST_ATTENTION_KEYS / PCAST_TILE_KEYS, /* products of P V */
    PCAST_ATTENTION_COLUMNS = PCAST_MMA_REGISTERS / 2,              /* of a thread, in each row */
};

/* Of one of the thread's two rows. */
typedef struct pcast_attention_row {
    float m, l; /* l: of this thread's columns */
    float alpha;
    unsigned query;
    int exists;
    pcast_range visible;
} pcast_attention_row;

/* Shared memory: tiles of Q, K and V, each [dim/32] times 2048 bytes. */
typedef struct pcast_attention_tiles {
    uint8_t *q, *k, *v;
} pcast_attention_tiles;

/* The place among 32 codes of k of key `key` % 32. A thread holds keys 8i + 2t and 8i + 2t + 1 of
 * its row of S, but codes 4t .. 4t + 3 and 16 + 4t .. 16 + 4t + 3 of its row of P: so its keys are
 * those codes, and V lies in the same order. */
PCAST_INLINE unsigned pcast_attention_place(unsigned key)
{
    const unsigned i = key % 32 / 8, t = key % 8 / 2;
    return i / 2 * 16 + t * 4 + i % 2 * 2 + key % 2;
}

/* Where rows of Q or K go: a tile for each 32 channels. */
PCAST_INLINE unsigned pcast_attention_row_at(unsigned row, unsigned channel)
{
    return channel / PCAST_TILE_KEYS * PCAST_MMA_TILE_BYTES +
           pcast_tile_offset(row, channel % PCAST_TILE_KEYS);
}

/* Where V goes: for each 64 channels a tile for each 32 keys, its rows the channels. */
PCAST_INLINE unsigned pcast_attention_value_at(unsigned key, unsigned channel)
{
    const unsigned tile =
        channel / PCAST_MMA_COLUMNS * PCAST_ATTENTION_STEPS + key / PCAST_TILE_KEYS;
    return tile * PCAST_MMA_TILE_BYTES +
           pcast_tile_offset(channel % PCAST_MMA_COLUMNS, pcast_attention_place(key));
}

/* 64 rows of [count][dim] codes, those beyond count zero. */
PCAST_INLINE void pcast_attention_load_rows(const pcast_block *self, pcast_mma *mma, uint8_t *to,
                                            const uint8_t *from, unsigned count, unsigned dim)
{
    for (unsigned n = self->thread; n < PCAST_MMA_ROWS * dim / PCAST_TILE_CORE_KEYS;
         n += PCAST_ATTENTION_THREADS) {
        const unsigned at = n * PCAST_TILE_CORE_KEYS, row = at / dim, channel = at % dim;
        pcast_mma_copy(self, mma, to + pcast_attention_row_at(row, channel),
                       row < count ? from + at : from, row < count);
    }
}

PCAST_INLINE void pcast_attention_load_values(const pcast_block *self, uint8_t *to,
                                              const uint8_t *from, unsigned count, unsigned dim)
{
    for (unsigned n = self->thread; n < PCAST_ATTENTION_KEYS * dim; n += PCAST_ATTENTION_THREADS) {
        const unsigned key = n / dim, channel = n % dim;
        to[pcast_attention_value_at(key, channel)] = key < count ? from[n] : 0;
    }
}

/* ---- One row of a block ---- */

PCAST_INLINE float pcast_attention_quad(const pcast_block *self, float x, unsigned apart)
{
    return pcast_warp_read_f32(self, x, self->thread % PCAST_WARP ^ apart);
}

PCAST_INLINE float pcast_attention_larger(float m, float x)
{
    return x > m ? x : m;
}

/* Of a block: the key that number n of the thread's columns is. */
PCAST_INLINE unsigned pcast_attention_column(const pcast_block *self, unsigned n)
{
    return pcast_fragment_d_column(self->thread, pcast_fragment_d_register(0, n));
}

/* Masks the row's scores, finds its maximum and the factor for what came before. */
PCAST_INLINE void pcast_attention_front(const pcast_block *self, const pcast_attention_job *job,
                                        const pcast_visit *visit, unsigned half, PCAST_REGISTERS(s),
                                        pcast_attention_row *row)
{
    const pcast_range visible = row->visible;
    float m = row->m;
    PCAST_UNROLL
    for (unsigned n = 0; n < PCAST_ATTENTION_COLUMNS; n++) {
        const unsigned column = pcast_attention_column(self, n);
        const size_t key = visit->range.first + column;
        const int seen = column < visit->range.count && key >= visible.first &&
                         key < visible.first + visible.count;
        float *score = &s[pcast_fragment_d_register(half, n)];
        *score = seen ? *score : -INFINITY;
        m = pcast_attention_larger(m, *score);
    }
    m = pcast_attention_larger(m, pcast_attention_quad(self, m, 2));
    m = pcast_attention_larger(m, pcast_attention_quad(self, m, 1));
    row->alpha = pcast_unit_ex2((row->m - (m == -INFINITY ? 0.0f : m)) * job->plan->c);
    row->m = m;
}

/* P of the row and its sum: the first column joins by fma, the others one after another. a: for
 * each product of P V the thread's registers of A, of which two are this row's. */
PCAST_INLINE void pcast_attention_weigh(const pcast_block *self, const pcast_attention_job *job,
                                        const pcast_visit *visit, unsigned half, PCAST_REGISTERS(s),
                                        pcast_attention_row *row,
                                        uint32_t a[PCAST_ATTENTION_STEPS][4])
{
    const float c = job->plan->c;
    const float b = row->m == -INFINITY ? 0.0f : row->m * c - job->plan->offset;
    PCAST_UNROLL
    for (unsigned n = 0; n < PCAST_ATTENTION_COLUMNS; n++) {
        const unsigned column = pcast_attention_column(self, n);
        const float p = pcast_unit_ex2(fmaf(s[pcast_fragment_d_register(half, n)], c, -b));
        row->l = n == 0 ? fmaf(row->l, row->alpha, p) : row->l + p;
        const uint32_t code = pcast_cast_instruction(PCAST_E4M3, p);
        /* Columns 8i + 2t + e are codes 2 (i mod 2) + e of register i / 2 mod 2 (of k). */
        uint32_t *into = &a[n / 8][n % 8 / 4 * 2 + half];
        *into = (n % 4 == 0 ? 0 : *into) | code << n % 4 * 8;
        if (job->codes != NULL && row->exists && column < visit->range.count)
            job->codes[row->query * job->keys + visit->range.first + column] = (uint8_t)code;
    }
}

/* ---- P V ---- */

/* Products of one 64 channels, from zero or on top of d. */
PCAST_INLINE void pcast_attention_products(const pcast_block *self, pcast_mma *mma,
                                           const pcast_attention_tiles *at, unsigned chunk,
                                           unsigned steps, uint32_t a[PCAST_ATTENTION_STEPS][4],
                                           PCAST_REGISTERS(d), int keep)
{
    const uint8_t *v = at->v + chunk * PCAST_ATTENTION_STEPS * PCAST_MMA_TILE_BYTES;
    PCAST_UNROLL
    for (unsigned step = 0; step < PCAST_ATTENTION_STEPS; step++)
        if (step < steps)
            pcast_mma_registers(self, mma, d, a[step], v + step * PCAST_MMA_TILE_BYTES,
                                keep || step > 0);
}

/* O of 64 channels: rescaled, and P V added in the tensor core or, promoted, in FP32. */
PCAST_INLINE void pcast_attention_add(const pcast_block *self, const pcast_attention_job *job,
                                      const pcast_attention_tiles *at, pcast_mma *mma,
                                      unsigned chunk, unsigned steps,
                                      uint32_t a[PCAST_ATTENTION_STEPS][4],
                                      const pcast_attention_row rows[2], PCAST_REGISTERS(o))
{
    const int promoted = job->plan->kernel.promotion == PCAST_PROMOTION_TILE;
    float part[PCAST_MMA_REGISTERS];
    PCAST_UNROLL
    for (unsigned i = 0; i < PCAST_MMA_REGISTERS; i++) {
        o[i] = rows[i / 2 % 2].alpha * o[i];
        part[i] = promoted ? 0.0f : o[i];
    }
    pcast_mma_pin(part);
    pcast_warp_sync(self); /* what came before differs by lane */
    pcast_mma_begin(self, mma);
    pcast_attention_products(self, mma, at, chunk, steps, a, part, !promoted);
    pcast_mma_wait(self, mma);
    pcast_mma_pin(part);
    PCAST_UNROLL
    for (unsigned i = 0; i < PCAST_MMA_REGISTERS; i++)
        o[i] = promoted ? o[i] + part[i] : part[i];
}

/* ---- Results ---- */

PCAST_INLINE void pcast_attention_finish(const pcast_block *self, const pcast_attention_job *job,
                                         unsigned chunks, unsigned half,
                                         const pcast_attention_row *row,
                                         float o[][PCAST_MMA_REGISTERS])
{
    const pcast_plan *plan = job->plan;
    float l = row->l + pcast_attention_quad(self, row->l, 2);
    l = l + pcast_attention_quad(self, l, 1);
    const pcast_divider divider = pcast_plan_divider(plan, l);
    const int sees = row->visible.count > 0;
    float lse = fmaf(row->m, plan->c, pcast_unit_lg2(l / plan->inside));
    if (!sees)
        lse = -INFINITY;
    if (!row->exists)
        return;
    if (self->thread % 4 == 0)
        job->lse[row->query] = pcast_plain_nan(pcast_plan_returned_lse(plan, lse));
    PCAST_UNROLL
    for (unsigned chunk = 0; chunk < chunks; chunk++)
        PCAST_UNROLL
    for (unsigned n = 0; n < PCAST_ATTENTION_COLUMNS; n++) {
        const float x = o[chunk][pcast_fragment_d_register(half, n)];
        const float y = sees ? pcast_plan_divide(plan, &divider, x) : 0.0f;
        job->o[row->query * job->dim + chunk * PCAST_MMA_COLUMNS +
               pcast_attention_column(self, n)] = pcast_round_result(plan->kernel.out_format, y);
    }
}

PCAST_INLINE pcast_attention_row pcast_attention_row_of(const pcast_block *self,
                                                        const pcast_attention_job *job,
                                                        unsigned half)
{
    pcast_attention_row row;
    row.m = -INFINITY;
    row.l = 0.0f;
    row.alpha = 1.0f;
    row.query = pcast_fragment_d_row(self->thread, 2 * half);
    row.exists = row.query < job->queries;
    row.visible.first = row.visible.count = 0;
    if (row.exists)
        row.visible = job->where[row.query].visible;
    return row;
}

/* ---- The kernel ---- */

/* S of a block, before anything else. */
PCAST_INLINE void pcast_attention_scores(const pcast_block *self, pcast_mma *mma,
                                         const pcast_attention_tiles *at, unsigned chunks,
                                         PCAST_REGISTERS(s))
{
    const unsigned steps = chunks * (PCAST_MMA_COLUMNS / PCAST_TILE_KEYS);
    pcast_mma_pin(s);
    pcast_warp_sync(self);
    pcast_mma_begin(self, mma);
    PCAST_UNROLL
    for (unsigned step = 0; step < steps; step++)
        pcast_mma_shared(self, mma, s, at->q + step * PCAST_MMA_TILE_BYTES,
                         at->k + step * PCAST_MMA_TILE_BYTES, step > 0);
    pcast_mma_wait(self, mma);
    pcast_mma_pin(s);
}

PCAST_INLINE void pcast_attention_load(const pcast_block *self, pcast_mma *mma,
                                       const pcast_attention_job *job,
                                       const pcast_attention_tiles *at, const pcast_visit *visit,
                                       unsigned dim)
{
    const unsigned count = (unsigned)visit->range.count;
    pcast_block_sync(self); /* the tiles before are not read any more */
    pcast_attention_load_rows(self, mma, at->k, job->k + visit->range.first * dim, count, dim);
    pcast_attention_load_values(self, at->v, job->v + visit->range.first * dim, count, dim);
    pcast_mma_stored(self, mma);
    pcast_block_sync(self);
}

/* For dim = 64 * chunks, which the compiler knows. */
PCAST_INLINE void pcast_attention_run(const pcast_block *self, const pcast_attention_group *group,
                                      uint8_t *memory, const unsigned chunks)
{
    const pcast_attention_job *job = &group->job;
    const unsigned dim = chunks * PCAST_MMA_COLUMNS, bytes = PCAST_MMA_ROWS * dim;
    const pcast_attention_tiles at = {memory, memory + bytes, memory + 2 * bytes};
    pcast_attention_row rows[2];
    pcast_mma mma = {PCAST_MMA_START};
    float o[4][PCAST_MMA_REGISTERS], s[PCAST_MMA_REGISTERS];
    uint32_t a[PCAST_ATTENTION_STEPS][4];
    PCAST_UNROLL
    for (unsigned half = 0; half < 2; half++)
        rows[half] = pcast_attention_row_of(self, job, half);
    PCAST_UNROLL
    for (unsigned chunk = 0; chunk < chunks; chunk++)
        PCAST_UNROLL
    for (unsigned i = 0; i < PCAST_MMA_REGISTERS; i++)
        o[chunk][i] = 0.0f;
    pcast_attention_load_rows(self, &mma, at.q, job->q, job->queries, dim);
    for (size_t n = 0; n < group->visit_count; n++) {
        const pcast_visit visit = group->visits[n];
        /* The same in all lanes, which the compiler sees by the exchange. */
        const unsigned steps = pcast_warp_read(
            self, ((unsigned)visit.range.count + PCAST_TILE_KEYS - 1) / PCAST_TILE_KEYS, 0);
        pcast_attention_load(self, &mma, job, &at, &visit, dim);
        pcast_attention_scores(self, &mma, &at, chunks, s);
        PCAST_UNROLL
        for (unsigned half = 0; half < 2; half++) {
            pcast_attention_front(self, job, &visit, half, s, &rows[half]);
            pcast_attention_weigh(self, job, &visit, half, s, &rows[half], a);
        }
        PCAST_UNROLL
        for (unsigned chunk = 0; chunk < chunks; chunk++)
            pcast_attention_add(self, job, &at, &mma, chunk, steps, a, rows, o[chunk]);
    }
    PCAST_UNROLL
    for (unsigned half = 0; half < 2; half++)
        pcast_attention_finish(self, job, chunks, half, &rows[half], o);
}

#endif
