/* SPDX-License-Identifier: MIT */
/* Accumulating a pcast_loss along one row. Needs the environment of base/fpenv.h. */
#ifndef PCAST_MEASURE_LOSS_H
#define PCAST_MEASURE_LOSS_H

#include "measure/engine.h"
#include "pcast/measure.h"
#include "softmax/row.h"

/* What a kernel's P and its codes stand for. */
typedef struct pcast_loss_units {
    const pcast_measure_engine *engine;
    double scale;                /* S */
    double p_scale;              /* S where the exponential already contains it, else 1 */
    double inside;               /* S where the row sum contains it, else 1 */
    double overflow_bound;       /* a larger scaled p is saturated */
    uint32_t sign, least_normal; /* bits of a code */
    int narrow, sum_of_casts, normalised;
    double value[256]; /* decode(code) / S of an 8-bit P */
} pcast_loss_units;

void pcast_loss_units_init(pcast_loss_units *units, const pcast_kernel *kernel, pcast_cpu cpu);

/* Sums over the keys of one split, with P and its cast free of S. */
typedef struct pcast_loss_part {
    double mass, kept;    /* of the other keys: p, and its cast q */
    double error;         /* (p - q)^2 of all keys */
    double p, pp, pq, qq; /* of all keys, kept where the row sum is of casts */
} pcast_loss_part;

typedef struct pcast_loss_meter {
    const pcast_loss_units *units;
    pcast_loss_part *parts; /* [splits] */
    pcast_loss loss;
} pcast_loss_meter;

/* units and parts[splits of the row] are kept by reference. */
void pcast_loss_start(pcast_loss_meter *meter, const pcast_loss_units *units,
                      pcast_loss_part *parts, size_t splits);

/* The larger of two numbers; NaN if either is. */
static inline double pcast_larger(double a, double b)
{
    return a != a || a >= b ? a : b;
}

/* One visited block; is_sink[count] marks its sinks. */
void pcast_loss_tile(pcast_loss_meter *meter, const pcast_tile *tile, const uint8_t *is_sink);

/* Closes a finished row that sees a key; reference[dim] is its exact output. */
pcast_loss pcast_loss_finish(pcast_loss_meter *meter, const pcast_row *row,
                             const double *reference);

#endif
