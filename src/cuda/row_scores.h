/* SPDX-License-Identifier: MIT */
/* Scores of a block of keys: products of Q and K, or given ones. */
#ifndef PCAST_CUDA_ROW_SCORES_H
#define PCAST_CUDA_ROW_SCORES_H

#include "cuda/row_shared.h"
#include "softmax/lanes.h"
#include "softmax/steps.h"

PCAST_INLINE float pcast_row_masked(const pcast_row_job *job, size_t row, size_t key, float product)
{
    const pcast_range visible = job->where[row].visible;
    const int seen = key >= visible.first && key < visible.first + visible.count;
    return seen ? pcast_plan_score(job->plan, product) : job->plan->mask_value;
}

PCAST_INLINE void pcast_row_read_scores(const pcast_block *self, const pcast_row_job *job,
                                        const pcast_row_shared *at, pcast_range range)
{
    const size_t block = job->plan->kernel.block;
    const unsigned rows = job->rows, columns = (unsigned)range.count;
    for (unsigned n = self->thread; n < rows * columns; n += PCAST_ROW_THREADS) {
        const unsigned row = n / columns, i = n % columns;
        const size_t key = range.first + i;
        at->p[row * block + i] =
            pcast_row_masked(job, row, key, job->products[row * job->keys + key]);
    }
    pcast_block_sync(self);
}

PCAST_INLINE void pcast_row_multiply_scores(const pcast_block *self, const pcast_row_job *job,
                                            const pcast_row_shared *at, pcast_range range)
{
    const size_t block = job->plan->kernel.block;
    const unsigned dim = job->dim, stride = dim + 1;
    for (size_t first = 0; first < range.count; first += PCAST_ROW_TILE_KEYS) {
        const size_t left = range.count - first;
        const unsigned count = left < PCAST_ROW_TILE_KEYS ? (unsigned)left : PCAST_ROW_TILE_KEYS;
        pcast_row_load(self, at->tile, stride, job->k + (range.first + first) * dim, count, dim);
        pcast_block_sync(self);
        for (unsigned n = self->thread; n < job->rows * count; n += PCAST_ROW_THREADS) {
            const unsigned row = n / count, i = n % count;
            const float product = pcast_lanes_dot(at->q + row * dim, at->tile + i * stride, dim);
            at->p[row * block + first + i] =
                pcast_row_masked(job, row, range.first + first + i, product);
        }
        pcast_block_sync(self);
    }
}

#endif
