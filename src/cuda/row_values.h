/* SPDX-License-Identifier: MIT */
/* P.V of a block of keys: a thread for each channel. */
#ifndef PCAST_CUDA_ROW_VALUES_H
#define PCAST_CUDA_ROW_VALUES_H

#include "cuda/row_shared.h"
#include "softmax/steps.h"

/* Keys of a tile into x by the accumulator's arithmetic. */
PCAST_INLINE float pcast_row_add_keys(const pcast_kernel *kernel, float x, const float *values,
                                      const float *v, unsigned stride, unsigned count)
{
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP16)
        for (unsigned key = 0; key < count; key++)
            x = pcast_fma_f16(values[key], v[key * stride], x);
    else
        for (unsigned key = 0; key < count; key++)
            x = fmaf(values[key], v[key * stride], x);
    return x;
}

PCAST_INLINE double pcast_row_add_wide(double x, const float *values, const float *v,
                                       unsigned stride, unsigned count)
{
    for (unsigned key = 0; key < count; key++) /* the product is exact */
        x = x + (double)values[key] * (double)v[key * stride];
    return x;
}

/* A piece of a block's keys: from `first` on of `total`. */
typedef struct pcast_row_piece {
    unsigned first, count, total;
    float descale; /* of the block's V, where it is promoted */
} pcast_row_piece;

/* O of one channel; n is its place in [rows][value_dim]. */
PCAST_INLINE void pcast_row_add_channel(const pcast_row_job *job, const pcast_row_shared *at,
                                        unsigned n, pcast_row_piece piece)
{
    const pcast_kernel *kernel = &job->plan->kernel;
    const unsigned stride = job->value_dim, row = n / stride;
    const float alpha = at->states[row].alpha;
    const float *values = at->values + row * kernel->block + piece.first;
    const float *v = at->tile + n % stride;
    const int f16 = kernel->accumulator == PCAST_ACCUMULATOR_FP16;
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP64) {
        const double x = piece.first == 0 ? (double)alpha * at->wide[n] : at->wide[n];
        at->wide[n] = pcast_row_add_wide(x, values, v, stride, piece.count);
        return;
    }
    if (kernel->promotion == PCAST_PROMOTION_NEVER) {
        float x = at->o[n];
        if (piece.first == 0)
            x = f16 ? pcast_round_through(PCAST_F16, (double)alpha * (double)x) : alpha * x;
        at->o[n] = pcast_row_add_keys(kernel, x, values, v, stride, piece.count);
        return;
    }
    const unsigned interval = kernel->promotion == PCAST_PROMOTION_TILE
                                  ? piece.total
                                  : (unsigned)kernel->promotion * PCAST_ROW_TILE_KEYS;
    const unsigned end = piece.first + piece.count;
    if (piece.first == 0)
        at->o[n] = alpha * at->o[n];
    const float part = pcast_row_add_keys(kernel, piece.first % interval == 0 ? 0.0f : at->part[n],
                                          values, v, stride, piece.count);
    if (end % interval == 0 || end == piece.total)
        at->o[n] = at->o[n] + part * piece.descale;
    else
        at->part[n] = part;
}

PCAST_INLINE void pcast_row_add_values_of(const pcast_block *self, const pcast_row_job *job,
                                          const pcast_row_shared *at, pcast_range range)
{
    const unsigned dim = job->value_dim;
    pcast_row_piece piece = {0, 0, (unsigned)range.count, 1.0f};
    if (job->v_descale != NULL)
        piece.descale = job->v_descale[range.first / job->plan->kernel.block];
    for (; piece.first < piece.total; piece.first += PCAST_ROW_TILE_KEYS) {
        const unsigned left = piece.total - piece.first;
        piece.count = left < PCAST_ROW_TILE_KEYS ? left : PCAST_ROW_TILE_KEYS;
        pcast_row_load(self, at->tile, dim, job->v + (range.first + piece.first) * dim, piece.count,
                       dim);
        pcast_block_sync(self);
        for (unsigned n = self->thread; n < job->rows * dim; n += PCAST_ROW_THREADS)
            pcast_row_add_channel(job, at, n, piece);
        pcast_block_sync(self);
    }
}

#endif
