/* SPDX-License-Identifier: MIT */
/* What the strict kernel holds in shared memory. */
#ifndef PCAST_CUDA_ROW_SHARED_H
#define PCAST_CUDA_ROW_SHARED_H

#include "cuda/block.h"
#include "cuda/rows.h"

enum { PCAST_ROW_WARPS = PCAST_ROW_THREADS / PCAST_WARP, PCAST_ROW_TILE_KEYS = 32 };

/* A row of the group. */
typedef struct pcast_row_state {
    double wide_l; /* l where sum_order=fp64 */
    float m, l, alpha;
    int has_sink;
} pcast_row_state;

/* Shared memory. */
typedef struct pcast_row_shared {
    pcast_row_state *states; /* [rows] */
    double *wide;            /* [rows][value_dim] O where the accumulator is FP64 */
    float *q;                /* [rows][dim] */
    float *tile;             /* [PCAST_ROW_TILE_KEYS][dim + 1] of K, or [..][value_dim] of V */
    float *o, *part;         /* [rows][value_dim] O, and P.V of a promotion's interval */
    float *p, *values;       /* [rows][block] scores, then P; values of the cast P */
} pcast_row_shared;

/* The next so many bytes of shared memory; NULL where only its size is asked for. */
PCAST_INLINE void *pcast_row_take(void *memory, size_t *used, size_t bytes)
{
    char *here = memory != NULL ? (char *)memory + *used : NULL;
    *used += (bytes + 15) / 16 * 16;
    return here;
}

/* Lays shared memory out, unless it is NULL; returns its size. */
PCAST_INLINE size_t pcast_row_layout(const pcast_row_group *group, void *memory,
                                     pcast_row_shared *at)
{
    const pcast_row_job *job = &group->job;
    const pcast_kernel *kernel = &job->plan->kernel;
    const size_t outputs = (size_t)job->rows * job->value_dim;
    const size_t weights = job->rows * kernel->block;
    const unsigned wider = job->dim + 1 > job->value_dim ? job->dim + 1 : job->value_dim;
    const int wide = kernel->accumulator == PCAST_ACCUMULATOR_FP64;
    const size_t number = sizeof(float);
    size_t used = 0;
    at->states = (pcast_row_state *)pcast_row_take(memory, &used, job->rows * sizeof *at->states);
    at->wide = (double *)pcast_row_take(memory, &used, wide ? outputs * sizeof *at->wide : 0);
    at->q = (float *)pcast_row_take(memory, &used, number * job->rows * job->dim);
    at->tile = (float *)pcast_row_take(memory, &used, number * PCAST_ROW_TILE_KEYS * wider);
    at->o = (float *)pcast_row_take(memory, &used, outputs * number);
    at->part = (float *)pcast_row_take(memory, &used, outputs * number);
    if (group->weights_outside) {
        at->p = group->weights;
        at->values = group->weights != NULL ? group->weights + weights : NULL;
    } else {
        at->p = (float *)pcast_row_take(memory, &used, weights * number);
        at->values = (float *)pcast_row_take(memory, &used, weights * number);
    }
    return used;
}

/* [rows][stride] of shared memory from [rows][columns]; neighbouring threads read neighbours. */
PCAST_INLINE void pcast_row_load(const pcast_block *self, float *to, unsigned stride,
                                 const float *from, unsigned rows, unsigned columns)
{
    for (unsigned n = self->thread; n < rows * columns; n += PCAST_ROW_THREADS)
        to[n / columns * stride + n % columns] = from[n];
}

#endif
