/* SPDX-License-Identifier: MIT */
/* One row, the scalar reference (docs/numerics.md, section 4; step numbers beside the lines). */
#include "softmax/row.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/seeded.h"
#include "softmax/accumulate.h"
#include "softmax/epilogue.h"
#include "softmax/probabilities.h"
#include "softmax/row_sum.h"
#include "softmax/units.h"

#include <math.h>
#include <stdlib.h>

pcast_status pcast_row_scratch_init(pcast_row_scratch *scratch, size_t block, size_t dim,
                                    pcast_error *err)
{
    scratch->scores = malloc(block * sizeof *scratch->scores);
    scratch->p = malloc(block * sizeof *scratch->p);
    scratch->scaled = malloc(block * sizeof *scratch->scaled);
    scratch->p8_value = malloc(block * sizeof *scratch->p8_value);
    scratch->p8 = malloc(block * sizeof *scratch->p8);
    scratch->codes = malloc(block * sizeof *scratch->codes);
    scratch->o_tile = malloc(dim * sizeof *scratch->o_tile);
    if (scratch->scores != NULL && scratch->p != NULL && scratch->scaled != NULL &&
        scratch->p8_value != NULL && scratch->p8 != NULL && scratch->codes != NULL &&
        scratch->o_tile != NULL)
        return PCAST_OK;
    pcast_row_scratch_free(scratch);
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a block of %zu keys", block);
}

void pcast_row_scratch_free(pcast_row_scratch *scratch)
{
    free(scratch->scores);
    free(scratch->p);
    free(scratch->scaled);
    free(scratch->p8_value);
    free(scratch->p8);
    free(scratch->codes);
    free(scratch->o_tile);
    *scratch = (pcast_row_scratch){0};
}

pcast_status pcast_row_init(pcast_row *row, const pcast_plan *plan, size_t keys, size_t dim,
                            pcast_error *err)
{
    const size_t splits = pcast_plan_splits(plan, keys);
    const int wide = plan->kernel.accumulator == PCAST_ACCUMULATOR_FP64;
    *row = (pcast_row){.plan = plan, .dim = dim, .split_max = splits};
    row->splits = calloc(splits, sizeof *row->splits);
    row->o = calloc(dim, sizeof *row->o);
    if (splits > 1)
        row->partials = calloc(splits, dim * sizeof *row->partials);
    if (wide)
        row->wide = calloc(dim, sizeof *row->wide);
    if (row->splits != NULL && row->o != NULL && (splits == 1 || row->partials != NULL) &&
        (!wide || row->wide != NULL))
        return PCAST_OK;
    pcast_row_free(row);
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu splits of %zu channels", splits,
                      dim);
}

void pcast_row_free(pcast_row *row)
{
    free(row->splits);
    free(row->partials);
    free(row->o);
    free(row->wide);
    *row = (pcast_row){0};
}

/* A learned sink in the denominator, once the split that holds it has its sum (step 4.7). */
static void add_sink(pcast_row *row)
{
    const pcast_plan *plan = row->plan;
    if (row->split_count != 1 || !plan->sink_given || row->has_sink ||
        plan->kernel.learned_sink != PCAST_LEARNED_SINK_DENOMINATOR)
        return;
    row->has_sink = 1;
    pcast_plan_add_sink(plan, &row->m, &row->l);
}

/* Normalises the current split, into its partial or in place. */
static void close_split(pcast_row *row)
{
    const pcast_plan *plan = row->plan;
    const size_t split = row->split_count - 1;
    const int two_passes = plan->kernel.normalise == PCAST_NORMALISE_PARTITION;
    float *out = row->partials != NULL ? row->partials + split * row->dim : row->o;
    if (!row->open)
        return;
    add_sink(row);
    row->splits[split] = (pcast_split){row->l, pcast_plan_lse(plan, row->m, row->l), 1.0f};
    pcast_normalise_output(plan, row->o, two_passes ? 1.0f : row->l, out, row->dim);
    if (row->partials != NULL)
        pcast_round_output(plan->kernel.partials, out, row->dim);
    row->open = 0;
}

/* Nats of a 1 in the scores that the maximum is over. */
static float one_of(const pcast_plan *plan)
{
    return plan->kernel.max_over == PCAST_MAX_OVER_RAW ? plan->score_scale : 1.0f;
}

static void begin_split(pcast_row *row, size_t split)
{
    const pcast_plan *plan = row->plan;
    const int sink_first =
        split == 0 && plan->sink_given && plan->kernel.learned_sink == PCAST_LEARNED_SINK_INITIAL;
    row->m = sink_first                         ? plan->sink_score
             : PCAST_SEEDED(MAX_STARTS_AT_ZERO) ? 0.0f
             : PCAST_SEEDED(MAX_STARTS_AT_ONE)  ? 1.0f / one_of(plan)
                                                : plan->initial_max;
    pcast_row_sum_start(row, sink_first);
    for (size_t c = 0; c < row->dim; c++)
        row->o[c] = 0.0f;
    for (size_t c = 0; row->wide != NULL && c < row->dim; c++)
        row->wide[c] = 0.0;
    row->split_count = split + 1;
    row->open = 1;
    row->has_sink = 0;
}

void pcast_row_start(pcast_row *row)
{
    begin_split(row, 0);
}

/* The second of two passes, under the split's final maximum and sum. */
static void weigh_normalised(pcast_row *row, size_t count, const float *scores,
                             pcast_row_scratch *scratch)
{
    const pcast_plan *plan = row->plan;
    pcast_exponentials(plan, row->m, scores, count, scratch->p);
    for (size_t i = 0; i < count; i++)
        scratch->p[i] = pcast_unit_quotient(plan, scratch->p[i], row->l);
    pcast_cast_row(plan, scratch->p, count, scratch->scaled, scratch->p8, scratch->p8_value);
    row->alpha = 1.0f;
}

/* Maximum, factor and P of the block, in scratch. */
static void find_front(pcast_row *row, size_t count, const float *scores,
                       pcast_row_scratch *scratch)
{
    const pcast_plan *plan = row->plan;
    const float m = pcast_next_max(plan, row->m, scores, count); /* 4.1 */
    row->alpha = pcast_plan_alpha(plan, row->m, m);              /* 4.2 */
    pcast_exponentials(plan, m, scores, count, scratch->p);      /* 4.3 */
    row->m = m;
}

/* Row sum and, unless only the sums are wanted, cast. */
static void weigh_online(pcast_row *row, size_t count, int sums_only, const pcast_row *leader,
                         pcast_row_scratch *scratch)
{
    const pcast_plan *plan = row->plan;
    const pcast_kernel *kernel = &plan->kernel;
    const float *summed = scratch->p;
    if (!sums_only) {
        pcast_cast_row(plan, scratch->p, count, scratch->scaled, scratch->p8,
                       scratch->p8_value); /* 4.5 */
        if (kernel->row_sum == PCAST_ROW_SUM_CAST)
            summed = scratch->p8_value;
        else if (kernel->sum_scale == PCAST_SUM_SCALE_IN)
            summed = scratch->scaled;
    }
    if (leader != NULL && pcast_plan_same_sum(plan, leader->plan))
        pcast_row_sum_copy(row, leader);
    else
        pcast_row_sum_add(row, PCAST_SEEDED(SUM_NOT_RESCALED) && row->alpha != 0 ? 1 : row->alpha,
                          summed, count); /* 4.4 */
}

pcast_tile pcast_row_weigh(pcast_row *row, const pcast_visit *visit, const float *scores,
                           const pcast_row *leader, pcast_row_scratch *scratch)
{
    const size_t count = visit->range.count;
    const int two_passes = row->plan->kernel.normalise == PCAST_NORMALISE_PARTITION;
    if (visit->begins_split && visit->split > 0) {
        close_split(row);
        begin_split(row, visit->split);
    }
    row->tile_descale = row->v_descale != NULL
                            ? row->v_descale[visit->range.first / row->plan->kernel.block]
                            : 1.0f;
    if (two_passes && !visit->sums_only) {
        weigh_normalised(row, count, scores, scratch);
    } else {
        if (leader != NULL) {
            row->m = leader->m;
            row->alpha = leader->alpha;
        } else {
            find_front(row, count, scores, scratch);
        }
        weigh_online(row, count, visit->sums_only, leader, scratch);
    }
    const pcast_tile tile = {
        .first_key = visit->range.first,
        .count = count,
        .visible = count,
        .split = visit->split,
        .alpha = row->alpha,
        .m = row->m,
        .l = row->l,
        .p = scratch->p,
        .scaled = scratch->scaled,
        .p8 = visit->sums_only ? NULL : scratch->p8,
        .p8_value = scratch->p8_value,
        .o = row->o,
    };
    if (two_passes && visit->sums_only && visit->last)
        add_sink(row);
    return tile;
}

int pcast_row_is_plain(const pcast_row *row)
{
    const pcast_kernel *kernel = &row->plan->kernel;
    return kernel->accumulator == PCAST_ACCUMULATOR_FP32_FMA &&
           kernel->promotion == PCAST_PROMOTION_NEVER;
}

void pcast_row_add_values(pcast_row *row, const pcast_tile *tile, pcast_values values,
                          pcast_row_scratch *scratch)
{
    pcast_accumulate(row, tile->alpha, values, tile->count, scratch); /* 4.6 */
}

pcast_tile pcast_row_step(pcast_row *row, const pcast_visit *visit, const float *scores,
                          pcast_values values, pcast_row_scratch *scratch)
{
    const pcast_tile tile = pcast_row_weigh(row, visit, scores, NULL, scratch);
    if (!visit->sums_only)
        pcast_row_add_values(row, &tile, values, scratch);
    return tile;
}

void pcast_row_finish(pcast_row *row, int sees_keys)
{
    const pcast_kernel *kernel = &row->plan->kernel;
    close_split(row);
    float lse = row->partials != NULL ? pcast_merge_splits(row) : row->splits[0].lse;
    const int zero = kernel->masked_rows == PCAST_MASKED_ROWS_ZERO;
    if (!sees_keys && (zero || kernel->masked_rows == PCAST_MASKED_ROWS_NAN)) { /* 4.9 */
        for (size_t c = 0; c < row->dim; c++)
            row->o[c] = zero ? 0.0f : NAN;
        lse = PCAST_SEEDED(MASKED_LSE_ZERO) ? 0.0f : pcast_plan_sink_lse(row->plan);
    }
    row->lse = pcast_plain_nan(pcast_plan_returned_lse(row->plan, lse));
    pcast_round_output(kernel->out_format, row->o, row->dim); /* 4.10 */
}

/* The block's scores with masked keys at the mask value: the row's own where nothing is masked. */
static const float *masked_scores(const pcast_plan *plan, const pcast_row_keys *keys,
                                  pcast_range range, const float *scores,
                                  pcast_row_scratch *scratch)
{
    const size_t from = keys->visible.first, to = from + keys->visible.count;
    if (range.first >= from && range.first + range.count <= to)
        return scores + range.first;
    for (size_t i = 0; i < range.count; i++) {
        const size_t key = range.first + i;
        scratch->scores[i] = key >= from && key < to ? scores[key] : plan->mask_value;
    }
    return scratch->scores;
}

/* Which keys of the block the row sees. */
static void mark_visible(pcast_tile *tile, pcast_range visible)
{
    const size_t first = visible.first > tile->first_key ? visible.first : tile->first_key;
    const size_t block_end = tile->first_key + tile->count, end = visible.first + visible.count;
    const size_t last = end < block_end ? end : block_end;
    tile->visible = last > first ? last - first : 0;
    tile->first_visible = tile->visible > 0 ? first - tile->first_key : 0;
}

void pcast_row_run(pcast_row *row, const pcast_row_keys *keys, const float *scores,
                   pcast_values values, pcast_tile_observer *observer, void *context,
                   pcast_row_scratch *scratch)
{
    pcast_walk walk;
    pcast_visit visit;
    int ended = 0, sums_only = 0;
    pcast_row_start(row);
    pcast_walk_start(&walk, &row->plan->kernel, keys->keys, keys->visited.first,
                     keys->visited.first + keys->visited.count);
    while (pcast_walk_next(&walk, &visit)) {
        ended &= !visit.begins_split && sums_only == visit.sums_only;
        sums_only = visit.sums_only;
        if (ended)
            continue;
        const size_t first = visit.range.first * row->dim;
        const pcast_values block = {values.values + first,
                                    values.codes != NULL ? values.codes + first : NULL};
        pcast_tile tile = pcast_row_step(
            row, &visit, masked_scores(row->plan, keys, visit.range, scores, scratch), block,
            scratch);
        mark_visible(&tile, keys->visible);
        ended = PCAST_SEEDED(TILE_ENDS_ROW) && tile.visible == 0;
        if (observer != NULL && !visit.sums_only)
            observer(context, &tile);
    }
    pcast_row_finish(row, keys->visible.count > 0);
}

static pcast_status check_input(const pcast_row_input *input, pcast_error *err)
{
    if (input->keys == 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "keys: a row needs at least one key");
    if (input->dim == 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "dim: a value needs at least one channel");
    if (input->visible > input->keys || input->first_visible > input->visible)
        return pcast_fail(err, PCAST_ERR_VALUE, "visible: keys %zu to %zu of %zu",
                          input->first_visible, input->visible, input->keys);
    return PCAST_OK;
}

/* What one call of pcast_softmax_row holds. */
typedef struct row_call {
    pcast_plan plan;
    pcast_row row;
    pcast_row_scratch scratch;
    float *scores;  /* [keys] as the kernel reads them */
    float *values;  /* [keys][dim], only where the kernel reads codes */
    uint8_t *codes; /* [keys][dim], likewise */
} row_call;

static pcast_status row_call_init(row_call *call, const pcast_kernel *kernel, pcast_cpu cpu,
                                  const pcast_row_input *input, pcast_error *err)
{
    const pcast_head_scales scales = {1, 1, 1, kernel->sink_given, kernel->sink_logit};
    pcast_status status = pcast_plan_init(&call->plan, kernel, cpu, &scales, input->dim, err);
    if (status == PCAST_OK)
        status = pcast_row_init(&call->row, &call->plan, input->keys, input->dim, err);
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&call->scratch, call->plan.kernel.block, input->dim, err);
    call->scores = malloc(input->keys * sizeof *call->scores);
    if (status == PCAST_OK && call->scores == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu keys", input->keys);
    if (status != PCAST_OK || !call->plan.reads_codes)
        return status;
    call->values = malloc(input->keys * input->dim * sizeof *call->values);
    call->codes = malloc(input->keys * input->dim);
    if (call->values == NULL || call->codes == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for codes of V");
    pcast_plan_codes(&call->plan, input->values, input->keys * input->dim, call->codes,
                     call->values);
    return PCAST_OK;
}

pcast_status pcast_softmax_row(const pcast_kernel *kernel, pcast_cpu cpu,
                               const pcast_row_input *input, pcast_tile_observer *observer,
                               void *context, pcast_row_output *output, pcast_error *err)
{
    pcast_status status = pcast_kernel_validate(kernel, err);
    if (status == PCAST_OK)
        status = check_input(input, err);
    if (status != PCAST_OK)
        return status;
    row_call call = {0};
    status = row_call_init(&call, kernel, cpu, input, err);
    if (status == PCAST_OK) {
        const pcast_range visible = {input->first_visible, input->visible - input->first_visible};
        const pcast_row_keys keys = {input->keys, visible, visible};
        pcast_fpenv env;
        pcast_fpenv_enter(&env);
        const float *scores =
            pcast_plan_scores(&call.plan, input->scores, input->keys, call.scores);
        const pcast_values values = {call.codes != NULL ? call.values : input->values, call.codes};
        pcast_row_run(&call.row, &keys, scores, values, observer, context, &call.scratch);
        pcast_fpenv_leave(&env);
        output->m = call.row.m;
        output->l = pcast_plain_nan(call.row.l);
        output->lse = call.row.lse;
        memcpy(output->o, call.row.o, input->dim * sizeof *output->o);
    }
    pcast_row_free(&call.row);
    pcast_row_scratch_free(&call.scratch);
    free(call.scores);
    free(call.values);
    free(call.codes);
    return status;
}
