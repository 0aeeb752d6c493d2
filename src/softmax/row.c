/* SPDX-License-Identifier: MIT */
/* Algorithm 1, the scalar reference (docs/numerics.md, section 4; step numbers beside the lines).
 */
#include "softmax/row.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "math/math.h"

#include <math.h>
#include <stdlib.h>

pcast_status pcast_row_scratch_init(pcast_row_scratch *scratch, size_t block, pcast_error *err)
{
    scratch->scores = malloc(block * sizeof *scratch->scores);
    scratch->p = malloc(block * sizeof *scratch->p);
    scratch->p8_value = malloc(block * sizeof *scratch->p8_value);
    scratch->p8 = malloc(block * sizeof *scratch->p8);
    if (scratch->scores != NULL && scratch->p != NULL && scratch->p8_value != NULL &&
        scratch->p8 != NULL)
        return PCAST_OK;
    pcast_row_scratch_free(scratch);
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a block of %zu keys", block);
}

void pcast_row_scratch_free(pcast_row_scratch *scratch)
{
    free(scratch->scores);
    free(scratch->p);
    free(scratch->p8_value);
    free(scratch->p8);
    *scratch = (pcast_row_scratch){0};
}

size_t pcast_block_count(size_t keys, size_t block)
{
    return keys / block + (keys % block != 0);
}

pcast_range pcast_block_at(const pcast_kernel *kernel, size_t keys, size_t steps, size_t step)
{
    const size_t j = kernel->order == PCAST_ORDER_FORWARD ? step : steps - 1 - step;
    const size_t first = j * kernel->block;
    const size_t rest = keys - first;
    return (pcast_range){first, rest < kernel->block ? rest : kernel->block};
}

void pcast_row_start(pcast_row *row, float *o, size_t dim)
{
    row->m = -INFINITY;
    row->l = 0.0f;
    row->dim = dim;
    row->o = o;
    for (size_t c = 0; c < dim; c++)
        o[c] = 0.0f;
}

pcast_tile pcast_row_step(const pcast_kernel *kernel, const pcast_engine *engine, pcast_row *row,
                          pcast_range range, const float *scores, const float *values,
                          pcast_row_scratch *scratch)
{
    const pcast_cast cast = {.overflow = kernel->overflow};
    const size_t count = range.count;

    const float m = engine->max(row->m, scores, count); /* 4.1 */
    const float origin = m == -INFINITY ? 0.0f : m;
    const float alpha = pcast_exp_f32(row->m - origin); /* 4.2 */
    for (size_t i = 0; i < count; i++) {
        scratch->p[i] = pcast_exp_f32(scores[i] - origin); /* 4.3 */
        const float scaled = scratch->p[i] * kernel->scale;
        scratch->p8[i] = (uint8_t)pcast_encode_f32(PCAST_E4M3, scaled, cast); /* 4.5 */
        scratch->p8_value[i] = pcast_decode_f32(PCAST_E4M3, scratch->p8[i]);
    }
    row->l = fmaf(alpha, row->l, engine->sum(scratch->p, count));                  /* 4.4 */
    engine->accumulate(row->o, alpha, scratch->p8_value, values, count, row->dim); /* 4.6 */
    row->m = m;

    return (pcast_tile){
        .first_key = range.first,
        .count = count,
        .alpha = alpha,
        .m = m,
        .l = row->l,
        .p = scratch->p,
        .p8 = scratch->p8,
        .o = row->o,
    };
}

void pcast_row_finish(const pcast_kernel *kernel, const pcast_row *row, float *out)
{
    const float divisor = kernel->scale * row->l; /* 4.7 */
    for (size_t c = 0; c < row->dim; c++)
        out[c] = row->o[c] / divisor; /* 4.8 */
}

/* The block's scores with masked keys at -Inf: the row's own where nothing is masked. */
static const float *visible_scores(const pcast_row_input *input, pcast_range range,
                                   pcast_row_scratch *scratch)
{
    const float *scores = input->scores + range.first;
    if (range.first + range.count <= input->visible)
        return scores;
    for (size_t i = 0; i < range.count; i++)
        scratch->scores[i] = range.first + i < input->visible ? scores[i] : -INFINITY;
    return scratch->scores;
}

void pcast_row_run(const pcast_kernel *kernel, const pcast_engine *engine,
                   const pcast_row_input *input, pcast_tile_observer *observer, void *context,
                   pcast_row_scratch *scratch, pcast_row_output *output)
{
    pcast_row row;
    pcast_row_start(&row, output->o, input->dim);
    const size_t steps = pcast_block_count(input->visible, kernel->block);
    for (size_t step = 0; step < steps; step++) {
        const pcast_range range = pcast_block_at(kernel, input->keys, steps, step);
        const float *scores = visible_scores(input, range, scratch);
        const pcast_tile tile = pcast_row_step(kernel, engine, &row, range, scores,
                                               input->values + range.first * input->dim, scratch);
        if (observer != NULL)
            observer(context, &tile);
    }
    output->m = row.m;
    output->l = row.l;
    pcast_row_finish(kernel, &row, output->o);
}

static pcast_status check_input(const pcast_row_input *input, pcast_error *err)
{
    if (input->keys == 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "keys: a row needs at least one key");
    if (input->dim == 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "dim: a value needs at least one channel");
    if (input->visible > input->keys)
        return pcast_fail(err, PCAST_ERR_VALUE, "visible: %zu of %zu keys", input->visible,
                          input->keys);
    return PCAST_OK;
}

pcast_status pcast_softmax_row(const pcast_kernel *kernel, pcast_cpu cpu,
                               const pcast_row_input *input, pcast_tile_observer *observer,
                               void *context, pcast_row_output *output, pcast_error *err)
{
    pcast_status status = pcast_kernel_validate(kernel, err);
    if (status == PCAST_OK)
        status = check_input(input, err);
    pcast_row_scratch scratch;
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&scratch, kernel->block, err);
    if (status != PCAST_OK)
        return status;

    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    pcast_row_run(kernel, pcast_engine_for(cpu), input, observer, context, &scratch, output);
    pcast_fpenv_leave(&env);
    pcast_row_scratch_free(&scratch);
    return PCAST_OK;
}
