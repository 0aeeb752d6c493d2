/* SPDX-License-Identifier: MIT */
/* Accumulating a pcast_loss along one row. Needs the environment of base/fpenv.h. */
#ifndef PCAST_MEASURE_LOSS_H
#define PCAST_MEASURE_LOSS_H

#include "pcast/measure.h"
#include "pcast/softmax.h"

/* What each code stands for under a kernel's S. */
typedef struct pcast_code_values {
    float scale;
    double value[256]; /* decode(code) / S */
} pcast_code_values;

typedef struct pcast_loss_meter {
    const pcast_code_values *codes;
    pcast_loss loss;
} pcast_loss_meter;

void pcast_code_values_init(pcast_code_values *codes, const pcast_kernel *kernel);

/* codes is kept by reference. */
void pcast_loss_start(pcast_loss_meter *meter, const pcast_code_values *codes);

/* The larger of two numbers; NaN if either is. */
static inline double pcast_larger(double a, double b)
{
    return a != a || a >= b ? a : b;
}

/* One visited block; is_sink[count] marks its sinks. */
void pcast_loss_tile(pcast_loss_meter *meter, const pcast_tile *tile, const uint8_t *is_sink);

/* Closes the row with its row sum, output o[dim] and exact output reference[dim]. */
pcast_loss pcast_loss_finish(pcast_loss_meter *meter, float l, const float *o,
                             const double *reference, size_t dim);

#endif
