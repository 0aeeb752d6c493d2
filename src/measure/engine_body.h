/* SPDX-License-Identifier: MIT */
/* What all levels share: the ends of vectors, and the definition. */
#ifndef PCAST_MEASURE_ENGINE_BODY_H
#define PCAST_MEASURE_ENGINE_BODY_H

#include "measure/engine.h"

/* Channels from `first` on; a weight of zero adds nothing, whatever V is. */
static void reference_channels(double *o, double *lost, const double *w, const float *v,
                               size_t count, size_t dim, size_t first)
{
    for (size_t key = 0; key < count; key++) {
        if (w[key] == 0)
            continue;
        for (size_t c = first; c < dim; c++) {
            const double x = w[key] * (double)v[key * dim + c];
            const double s = o[c] + x;
            const double part = s - o[c];
            lost[c] += (o[c] - (s - part)) + (x - part);
            o[c] = s;
        }
    }
}

/* Keys first .. count - 1 of a block. */
static inline void loss_keys(const pcast_loss_block *block, size_t first, pcast_loss_sums *sums)
{
    for (size_t i = first; i < block->count; i++) {
        const double p = (double)block->p[i] / block->p_scale, q = block->value[block->codes[i]];
        const uint32_t magnitude = block->codes[i] & ~block->sign;
        const uint64_t positive = p > 0;
        sums->mass[i % PCAST_LOSS_LANES] += p;
        sums->kept[i % PCAST_LOSS_LANES] += q;
        sums->error[i % PCAST_LOSS_LANES] += (p - q) * (p - q);
        sums->positive += positive;
        sums->flushed += positive & (q == 0);
        sums->subnormal += positive & (magnitude > 0) & (magnitude < block->least_normal);
        sums->saturated += positive & ((double)block->scaled[i] > block->overflow_bound);
    }
}

#endif
