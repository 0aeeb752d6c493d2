/* SPDX-License-Identifier: MIT */
/* The inner loops of the exact reference and of the loss as a table of functions, one table per CPU
 * level. All give the same bits. */
#ifndef PCAST_MEASURE_ENGINE_H
#define PCAST_MEASURE_ENGINE_H

#include "pcast/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { PCAST_LOSS_LANES = 16 };

/* A block whose keys are all visible and no sinks, P cast to 8 bits. */
typedef struct pcast_loss_block {
    size_t count;
    const float *p, *scaled; /* [count] p before the cast, and what was cast */
    const uint32_t *codes;   /* [count] */
    double p_scale;          /* S where p contains it, else 1 */
    const double *value;     /* [256] of the codes, free of S */
    double overflow_bound;   /* what is cast saturates above it */
    uint32_t sign, least_normal;
} pcast_loss_block;

/* Sums in 16 lanes, key i in lane i mod 16, and counts over keys with p > 0. */
typedef struct pcast_loss_sums {
    double mass[PCAST_LOSS_LANES], kept[PCAST_LOSS_LANES], error[PCAST_LOSS_LANES];
    uint64_t positive, flushed, subnormal, saturated;
} pcast_loss_sums;

typedef struct pcast_measure_engine {
    /* w[i] = exp(scores[i] - max) in binary64: that of math.h. */
    void (*weights)(const float *scores, double max, double *w, size_t n);
    /* For each key with a weight other than zero, in ascending order, and each channel:
     * x = w * v, s = o + x, lost += what the addition lost, o = s (docs/numerics.md, section 5). */
    void (*reference)(double *o, double *lost, const double *w, const float *v, size_t count,
                      size_t dim);
    /* Sums of a block (section 6). */
    void (*loss)(const pcast_loss_block *block, pcast_loss_sums *sums);
} pcast_measure_engine;

/* The fastest engine at or below the level. */
const pcast_measure_engine *pcast_measure_engine_for(pcast_cpu level);

extern const pcast_measure_engine pcast_measure_engine_scalar;
extern const pcast_measure_engine pcast_measure_engine_avx2;
extern const pcast_measure_engine pcast_measure_engine_avx512;

#endif
