/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The draws of one trial: standard normals behind the scores, and V. Kept whole while they fit a
 * cache, drawn again block by block where they do not; the numbers are the same. */
#ifndef PCAST_EXPERIMENT_SYNTHETIC_DRAWS_H
#define PCAST_EXPERIMENT_SYNTHETIC_DRAWS_H

#include "pcast/experiment.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pcast_draws {
    uint64_t seed;
    uint32_t trial;
    pcast_cpu cpu;
    size_t keys, dim;
    int cached;
    pcast_draw draw;
    double *normals; /* [keys], or of one block */
    float *values;   /* [keys][dim], or of one block */
} pcast_draws;

/* block is the largest number of keys a later call asks for. */
pcast_status pcast_draws_init(pcast_draws *draws, pcast_cpu cpu, uint64_t seed, pcast_draw draw,
                              size_t keys, size_t dim, size_t block, pcast_error *err);
void pcast_draws_free(pcast_draws *draws);

void pcast_draws_start_trial(pcast_draws *draws, uint32_t trial);

/* Normals of keys first .. first + count - 1, valid until the next call of this function. */
const double *pcast_draws_normals(pcast_draws *draws, size_t first, size_t count);

/* V of the same keys, [count][dim]. */
const float *pcast_draws_values(pcast_draws *draws, size_t first, size_t count);

#endif
