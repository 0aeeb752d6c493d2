/* SPDX-License-Identifier: MIT */
/* Accumulators of P.V. */
#include "softmax/accumulate.h"

#include "base/bits.h"
#include "base/seeded.h"
#include "math/strict.h"

/* Keys first .. first + count - 1 of a block. */
typedef struct keys {
    const float *p;
    const uint8_t *codes; /* of p, for a tensor core */
    pcast_values values;
    size_t count;
} keys;

static keys keys_from(const keys *all, size_t first, size_t count, size_t dim)
{
    return (keys){all->p + first,
                  all->codes + first,
                  {all->values.values + first * dim,
                   all->values.codes != NULL ? all->values.codes + first * dim : NULL},
                  count};
}

/* One rounding to binary16 per product. */
static void add_f16(float *o, const keys *k, size_t dim)
{
    for (size_t c = 0; c < dim; c++)
        for (size_t key = 0; key < k->count; key++)
            o[c] = pcast_fma_f16(k->p[key], k->values.values[key * dim + c], o[c]);
}

static void add_f64(double *o, float alpha, const keys *k, size_t dim)
{
    for (size_t c = 0; c < dim; c++)
        o[c] = (double)alpha * o[c];
    for (size_t key = 0; key < k->count; key++) {
        const double p = (double)k->p[key];
        const float *row = k->values.values + key * dim;
        for (size_t c = 0; c < dim; c++) /* the product of two FP32 numbers is exact: one fma */
            o[c] = o[c] + p * (double)row[c];
    }
}

static void accumulate_one(const pcast_plan *plan, float *o, float alpha, const keys *k, size_t dim)
{
    plan->engine->accumulate(&o, &alpha, &k->p, 1, k->values.values, k->count, dim);
}

/* o += P.V, in the accumulator's arithmetic. */
static void add(const pcast_row *row, float *o, const keys *k)
{
    const pcast_plan *plan = row->plan;
    if (plan->by_machine)
        pcast_tensor_core_row(&plan->core, k->codes, k->values.codes, k->count, row->dim, row->dim,
                              o);
    else if (plan->kernel.accumulator == PCAST_ACCUMULATOR_FP16)
        add_f16(o, k, row->dim);
    else
        accumulate_one(plan, o, 1.0f, k, row->dim);
}

/* O = alpha*O in the accumulator's format, then o += P.V. */
static void add_in_place(pcast_row *row, float alpha, const keys *k)
{
    const int f16 = row->plan->kernel.accumulator == PCAST_ACCUMULATOR_FP16;
    if (!f16 && !row->plan->by_machine) { /* one pass over O */
        accumulate_one(row->plan, row->o, alpha, k, row->dim);
        return;
    }
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = f16 ? pcast_round_through(PCAST_F16, (double)alpha * (double)row->o[c])
                        : alpha * row->o[c];
    add(row, row->o, k);
}

/* Keys of one tile from zero, then added to O in FP32. */
static void add_promoted(pcast_row *row, const keys *k, float *o_tile)
{
    for (size_t c = 0; c < row->dim; c++)
        o_tile[c] = 0.0f;
    add(row, o_tile, k);
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = row->o[c] + o_tile[c] * row->tile_descale;
}

void pcast_accumulate(pcast_row *row, float alpha, pcast_values values, size_t count,
                      pcast_row_scratch *scratch)
{
    const pcast_kernel *kernel = &row->plan->kernel;
    if (PCAST_SEEDED(OUTPUT_NOT_RESCALED) && alpha != 0)
        alpha = 1;
    const keys all = {scratch->p8_value, scratch->codes, values, count};
    for (size_t i = 0; row->plan->by_machine && i < count; i++)
        scratch->codes[i] = (uint8_t)scratch->p8[i];
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP64) {
        add_f64(row->wide, alpha, &all, row->dim);
        for (size_t c = 0; c < row->dim; c++) /* what an observer sees */
            row->o[c] = (float)row->wide[c];
        return;
    }
    if (kernel->promotion == PCAST_PROMOTION_NEVER) {
        add_in_place(row, alpha, &all);
        return;
    }
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = alpha * row->o[c];
    const size_t chunk = kernel->promotion == PCAST_PROMOTION_TILE
                             ? count
                             : (size_t)kernel->promotion * PCAST_TENSOR_CORE_KEYS;
    for (size_t first = 0; first < count; first += chunk) {
        const keys some =
            keys_from(&all, first, count - first < chunk ? count - first : chunk, row->dim);
        add_promoted(row, &some, scratch->o_tile);
    }
}
