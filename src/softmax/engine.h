/* SPDX-License-Identifier: MIT */
/* The inner loops of the online softmax as a table of functions, one table per CPU level. Each
 * function performs the reference's operations in the reference's order for every element, so all
 * tables give the same bits. */
#ifndef PCAST_SOFTMAX_ENGINE_H
#define PCAST_SOFTMAX_ENGINE_H

#include "pcast/cpu.h"

#include <stddef.h>

typedef struct pcast_engine {
    /* Dot product over n channels: 16 lanes, element i by fma into lane i mod 16 in index order,
     * then the tree 8, 4, 2, 1. */
    float (*dot)(const float *a, const float *b, size_t n);
    /* Sum of n numbers, lanes and tree as in dot, with additions. */
    float (*sum)(const float *x, size_t n);
    /* The larger of m and the largest of n numbers, compared in index order; NaN is passed over. */
    float (*max)(float m, const float *x, size_t n);
    /* o[c] = alpha * o[c]; then for each key in ascending order o[c] = fma(p[key], v[key][c],
     * o[c]). */
    void (*accumulate)(float *o, float alpha, const float *p, const float *v, size_t count,
                       size_t dim);
} pcast_engine;

/* The fastest engine at or below the level. */
const pcast_engine *pcast_engine_for(pcast_cpu level);

extern const pcast_engine pcast_engine_scalar;
extern const pcast_engine pcast_engine_avx2;

#endif
