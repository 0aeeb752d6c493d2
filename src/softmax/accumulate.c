/* SPDX-License-Identifier: MIT */
/* Accumulators of P.V. */
#include "softmax/accumulate.h"

#include "base/bits.h"
#include "math/strict.h"

#include <math.h>

/* One rounding to binary16 per product. */
static void accumulate_f16(float *o, const float *p, const float *values, size_t count, size_t dim)
{
    for (size_t c = 0; c < dim; c++)
        for (size_t key = 0; key < count; key++)
            o[c] = pcast_fma_f16(p[key], values[key * dim + c], o[c]);
}

static void accumulate_f64(double *o, float alpha, const float *p, const float *values,
                           size_t count, size_t dim)
{
    for (size_t c = 0; c < dim; c++) {
        o[c] = (double)alpha * o[c];
        for (size_t key = 0; key < count; key++)
            o[c] = fma((double)p[key], (double)values[key * dim + c], o[c]);
    }
}

/* Keys of one tile from zero, then added to O in FP32. */
static void add_promoted(pcast_row *row, const float *p, const float *values, size_t count,
                         float *o_tile)
{
    const pcast_engine *engine = row->plan->engine;
    for (size_t c = 0; c < row->dim; c++)
        o_tile[c] = 0.0f;
    if (row->plan->kernel.accumulator == PCAST_ACCUMULATOR_FP16)
        accumulate_f16(o_tile, p, values, count, row->dim);
    else
        engine->accumulate(o_tile, 1.0f, p, values, count, row->dim);
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = row->o[c] + o_tile[c] * row->tile_descale;
}

void pcast_accumulate(pcast_row *row, float alpha, const float *p, const float *values,
                      size_t count, float *o_tile)
{
    const pcast_kernel *kernel = &row->plan->kernel;
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP64) {
        accumulate_f64(row->wide, alpha, p, values, count, row->dim);
        for (size_t c = 0; c < row->dim; c++) /* what an observer sees */
            row->o[c] = (float)row->wide[c];
        return;
    }
    if (kernel->promotion == PCAST_PROMOTION_NEVER) {
        if (kernel->accumulator != PCAST_ACCUMULATOR_FP16) {
            row->plan->engine->accumulate(row->o, alpha, p, values, count, row->dim);
            return;
        }
        for (size_t c = 0; c < row->dim; c++)
            row->o[c] = pcast_round_through(PCAST_F16, (double)alpha * (double)row->o[c]);
        accumulate_f16(row->o, p, values, count, row->dim);
        return;
    }
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = alpha * row->o[c];
    const size_t chunk = kernel->promotion == PCAST_PROMOTION_TILE
                             ? count
                             : (size_t)kernel->promotion * PCAST_INSTRUCTION_KEYS;
    for (size_t first = 0; first < count; first += chunk)
        add_promoted(row, p + first, values + first * row->dim,
                     count - first < chunk ? count - first : chunk, o_tile);
}
