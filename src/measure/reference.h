/* SPDX-License-Identifier: MIT */
/* The exact reference of one attention row: binary64 weights exp(z - max), compensated sums
 * (docs/numerics.md, section 5). Needs the environment of base/fpenv.h. */
#ifndef PCAST_MEASURE_REFERENCE_H
#define PCAST_MEASURE_REFERENCE_H

#include "measure/engine.h"

#include <stddef.h>

/* A sum and what its additions have lost. */
typedef struct pcast_sum {
    double value, lost;
} pcast_sum;

/* Adds x by the two-sum of Knuth; sum->value + sum->lost is the compensated result. */
static inline void pcast_sum_add(pcast_sum *sum, double x)
{
    const double s = sum->value + x;
    const double part = s - sum->value;
    sum->lost += (sum->value - (s - part)) + (x - part);
    sum->value = s;
}

typedef struct pcast_reference {
    const pcast_measure_engine *engine;
    double max;
    pcast_sum l;
    size_t dim;
    double *o;      /* [dim] */
    double *o_lost; /* [dim] */
} pcast_reference;

/* max is the largest visible score; o and o_lost are the caller's. */
void pcast_reference_start(pcast_reference *reference, const pcast_measure_engine *engine,
                           double max, double *o, double *o_lost, size_t dim);

/* Adds keys in ascending order; scores [count] in nats, -Inf for masked keys, whose values are not
 * read. */
void pcast_reference_add(pcast_reference *reference, const float *scores, const float *values,
                         size_t count);

/* A learned sink: a weight without a value. */
void pcast_reference_add_sink(pcast_reference *reference, double logit);

/* Adds the sums over other keys of the same row. Neither is finished; at least one has a finite
 * maximum. */
void pcast_reference_merge(pcast_reference *reference, const pcast_reference *other);

/* Leaves the output in reference->o. */
void pcast_reference_finish(pcast_reference *reference);

/* All of that for one row: visible scores[count] and their values, a learned sink's logit or NULL,
 * o[2][dim] the caller's. */
void pcast_reference_row(pcast_reference *reference, const pcast_measure_engine *engine,
                         const float *scores, const float *values, size_t count,
                         const float *sink_logit, double *o, size_t dim);

#endif
