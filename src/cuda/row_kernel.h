/* SPDX-License-Identifier: MIT */
/* The strict kernel: a block of threads for each group of rows. Tiles of K, then of V, pass through
 * shared memory once and serve all rows of the group; a warp has a row's maximum, P and row sum, a
 * thread a channel of O. */
#ifndef PCAST_CUDA_ROW_KERNEL_H
#define PCAST_CUDA_ROW_KERNEL_H

#include "cuda/block.h"
#include "cuda/rows.h"
#include "softmax/lanes.h"
#include "softmax/steps.h"

enum { PCAST_ROW_WARPS = PCAST_ROW_THREADS / PCAST_WARP, PCAST_TILE_KEYS = 32 };

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
    float *tile;             /* [PCAST_TILE_KEYS][dim + 1] of K, or [..][value_dim] of V */
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
    at->tile = (float *)pcast_row_take(memory, &used, number * PCAST_TILE_KEYS * wider);
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

/* ---- Scores ---- */

PCAST_INLINE float pcast_row_masked(const pcast_row_job *job, size_t row, size_t key, float product)
{
    const pcast_range visible = job->where[row].visible;
    const int seen = key >= visible.first && key < visible.first + visible.count;
    return seen ? pcast_plan_score(job->plan, product) : job->plan->mask_value;
}

PCAST_INLINE void pcast_row_read_scores(const pcast_block *self, const pcast_row_job *job,
                                        const pcast_row_shared *at, pcast_range range)
{
    const size_t block = job->plan->kernel.block;
    const unsigned rows = job->rows, columns = (unsigned)range.count;
    for (unsigned n = self->thread; n < rows * columns; n += PCAST_ROW_THREADS) {
        const unsigned row = n / columns, i = n % columns;
        const size_t key = range.first + i;
        at->p[row * block + i] =
            pcast_row_masked(job, row, key, job->products[row * job->keys + key]);
    }
    pcast_block_sync(self);
}

PCAST_INLINE void pcast_row_multiply_scores(const pcast_block *self, const pcast_row_job *job,
                                            const pcast_row_shared *at, pcast_range range)
{
    const size_t block = job->plan->kernel.block;
    const unsigned dim = job->dim, stride = dim + 1;
    for (size_t first = 0; first < range.count; first += PCAST_TILE_KEYS) {
        const size_t left = range.count - first;
        const unsigned count = left < PCAST_TILE_KEYS ? (unsigned)left : PCAST_TILE_KEYS;
        pcast_row_load(self, at->tile, stride, job->k + (range.first + first) * dim, count, dim);
        pcast_block_sync(self);
        for (unsigned n = self->thread; n < job->rows * count; n += PCAST_ROW_THREADS) {
            const unsigned row = n / count, i = n % count;
            const float product = pcast_lanes_dot(at->q + row * dim, at->tile + i * stride, dim);
            at->p[row * block + first + i] =
                pcast_row_masked(job, row, range.first + first + i, product);
        }
        pcast_block_sync(self);
    }
}

/* ---- Maximum, P and row sum: a warp for each row ---- */

/* The larger of m and the scores, the first of equals, as if compared in order; NaN is passed
 * over. */
PCAST_INLINE float pcast_row_largest(const pcast_block *self, float m, const float *scores,
                                     size_t count)
{
    const unsigned lane = self->thread % PCAST_WARP;
    uint32_t place = 0; /* of the largest, from 1 on; 0: m itself */
    for (size_t i = lane; i < count; i += PCAST_WARP)
        if (scores[i] > m) {
            m = scores[i];
            place = (uint32_t)i + 1;
        }
    for (unsigned apart = PCAST_WARP / 2; apart >= 1; apart /= 2) {
        const float other =
            pcast_f32_from_bits(pcast_warp_read(self, pcast_bits_f32(m), lane ^ apart));
        const uint32_t other_place = pcast_warp_read(self, place, lane ^ apart);
        if (other > m || (other == m && other_place < place)) {
            m = other;
            place = other_place;
        }
    }
    return m;
}

/* Code and value of the cast, by the device's instruction where there is one. */
PCAST_INLINE uint32_t pcast_row_cast(const pcast_plan *plan, float scaled, float *value)
{
    const pcast_format format = plan->kernel.p_format;
    const pcast_cast cast = {plan->kernel.overflow, PCAST_INF_AS_OVERFLOW, PCAST_NAN_CANONICAL};
    const int fp8 = format == PCAST_E4M3 || format == PCAST_E5M2;
    uint32_t code;
    if (format == PCAST_F32)
        code = pcast_bits_f32(pcast_plain_nan(scaled));
    else if (fp8 && plan->kernel.overflow == PCAST_OVERFLOW_SATURATE)
        code = pcast_cast_instruction(format, scaled);
    else
        code = pcast_encode_f32(format, scaled, cast);
    *value = format <= PCAST_E5M2FNUZ ? plan->value[code] : pcast_decode_f32(format, code);
    return code;
}

PCAST_INLINE float pcast_row_summed(const pcast_plan *plan, const float *p, const float *values,
                                    size_t i, int sums_only)
{
    if (!sums_only && plan->kernel.row_sum == PCAST_ROW_SUM_CAST)
        return values[i];
    if (!sums_only && plan->kernel.sum_scale == PCAST_SUM_SCALE_IN)
        return p[i] * plan->after;
    return p[i];
}

/* The row sum after the block, in the reference's 16 lanes or (sum_order=fp64) key by key. */
PCAST_INLINE float pcast_row_block_sum(const pcast_block *self, const pcast_plan *plan,
                                       const float *p, const float *values, size_t count,
                                       int sums_only, float alpha, const pcast_row_state *state,
                                       double *wide_l)
{
    const unsigned lane = self->thread % PCAST_WARP;
    if (plan->kernel.sum_order == PCAST_SUM_ORDER_FP64) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += (double)pcast_row_summed(plan, p, values, i, sums_only);
        *wide_l = fma((double)alpha, state->wide_l, sum);
        return (float)*wide_l;
    }
    float sum = 0.0f;
    for (size_t i = lane; lane < PCAST_SUM_LANES && i < count; i += PCAST_SUM_LANES)
        sum += pcast_row_summed(plan, p, values, i, sums_only);
    for (unsigned width = PCAST_SUM_LANES / 2; width >= 1; width /= 2)
        sum += pcast_f32_from_bits(
            pcast_warp_read(self, pcast_bits_f32(sum), (lane + width) % PCAST_WARP));
    sum = pcast_f32_from_bits(pcast_warp_read(self, pcast_bits_f32(sum), 0));
    return fmaf(alpha, state->l, sum);
}

PCAST_INLINE float pcast_row_exponential(const pcast_plan *plan, float score, float b)
{
    const float x = pcast_plan_exponent(plan, score, b);
    return plan->base2 ? pcast_unit_exp2(plan, x) : pcast_unit_exp(plan, x);
}

/* Step 4.3 and, but for sums alone, 4.5: this lane's keys of a row. */
PCAST_INLINE void pcast_row_probabilities(const pcast_block *self, const pcast_row_job *job,
                                          const pcast_row_shared *at, const pcast_visit *visit,
                                          size_t row, float m)
{
    const pcast_plan *plan = job->plan;
    const size_t first = row * job->keys + visit->range.first;
    const int divide = plan->kernel.normalise == PCAST_NORMALISE_PARTITION && !visit->sums_only;
    const int empty = pcast_plan_is_empty(plan, m);
    const float b = pcast_plan_bias(plan, m), l = at->states[row].l;
    float *p = at->p + row * plan->kernel.block, *values = at->values + row * plan->kernel.block;
    for (size_t i = self->thread % PCAST_WARP; i < visit->range.count; i += PCAST_WARP) {
        p[i] = empty ? 0.0f : pcast_row_exponential(plan, p[i], b);
        if (divide)
            p[i] = pcast_unit_quotient(plan, p[i], l);
        if (visit->sums_only)
            continue;
        const uint32_t code = pcast_row_cast(plan, p[i] * plan->after, &values[i]);
        if (job->codes != NULL)
            job->codes[first + i] = code;
        if (job->p != NULL)
            job->p[first + i] = p[i];
    }
    pcast_warp_sync(self);
}

/* A visit of one row; its numbers are the same in all lanes. */
PCAST_INLINE void pcast_row_weigh_one(const pcast_block *self, const pcast_row_job *job,
                                      const pcast_row_shared *at, const pcast_visit *visit,
                                      size_t number, size_t row)
{
    const pcast_plan *plan = job->plan;
    const size_t count = visit->range.count, block = plan->kernel.block;
    const int second = plan->kernel.normalise == PCAST_NORMALISE_PARTITION && !visit->sums_only;
    pcast_row_state state = at->states[row];
    const float *p = at->p + row * block, *values = at->values + row * block;
    float m = state.m;
    state.alpha = 1.0f;
    if (!second) {
        m = pcast_plan_max(plan, m, pcast_row_largest(self, m, p, count));
        state.alpha = pcast_plan_alpha(plan, state.m, m);
    }
    pcast_row_probabilities(self, job, at, visit, row, m);
    if (!second)
        state.l = pcast_row_block_sum(self, plan, p, values, count, visit->sums_only, state.alpha,
                                      &state, &state.wide_l);
    state.m = m;
    if (self->thread % PCAST_WARP != 0)
        return;
    at->states[row] = state;
    if (job->trace != NULL) {
        pcast_row_trace *trace = &job->trace[row * job->visit_max + number];
        trace->alpha = state.alpha;
        trace->m = state.m;
        trace->l = state.l;
    }
}

PCAST_INLINE void pcast_row_weigh_group(const pcast_block *self, const pcast_row_job *job,
                                        const pcast_row_shared *at, const pcast_visit *visit,
                                        size_t number)
{
    for (size_t row = self->thread / PCAST_WARP; row < job->rows; row += PCAST_ROW_WARPS)
        pcast_row_weigh_one(self, job, at, visit, number, row);
    pcast_block_sync(self);
}

/* ---- P.V: a thread for each channel ---- */

/* Keys of a tile into x by the accumulator's arithmetic. */
PCAST_INLINE float pcast_row_add_keys(const pcast_kernel *kernel, float x, const float *values,
                                      const float *v, unsigned stride, unsigned count)
{
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP16)
        for (unsigned key = 0; key < count; key++)
            x = pcast_fma_f16(values[key], v[key * stride], x);
    else
        for (unsigned key = 0; key < count; key++)
            x = fmaf(values[key], v[key * stride], x);
    return x;
}

PCAST_INLINE double pcast_row_add_wide(double x, const float *values, const float *v,
                                       unsigned stride, unsigned count)
{
    for (unsigned key = 0; key < count; key++) /* the product is exact */
        x = x + (double)values[key] * (double)v[key * stride];
    return x;
}

/* A piece of a block's keys: from `first` on of `total`. */
typedef struct pcast_row_piece {
    unsigned first, count, total;
    float descale; /* of the block's V, where it is promoted */
} pcast_row_piece;

/* O of one channel; n is its place in [rows][value_dim]. */
PCAST_INLINE void pcast_row_add_channel(const pcast_row_job *job, const pcast_row_shared *at,
                                        unsigned n, pcast_row_piece piece)
{
    const pcast_kernel *kernel = &job->plan->kernel;
    const unsigned stride = job->value_dim, row = n / stride;
    const float alpha = at->states[row].alpha;
    const float *values = at->values + row * kernel->block + piece.first;
    const float *v = at->tile + n % stride;
    const int f16 = kernel->accumulator == PCAST_ACCUMULATOR_FP16;
    if (kernel->accumulator == PCAST_ACCUMULATOR_FP64) {
        const double x = piece.first == 0 ? (double)alpha * at->wide[n] : at->wide[n];
        at->wide[n] = pcast_row_add_wide(x, values, v, stride, piece.count);
        return;
    }
    if (kernel->promotion == PCAST_PROMOTION_NEVER) {
        float x = at->o[n];
        if (piece.first == 0)
            x = f16 ? pcast_round_through(PCAST_F16, (double)alpha * (double)x) : alpha * x;
        at->o[n] = pcast_row_add_keys(kernel, x, values, v, stride, piece.count);
        return;
    }
    const unsigned interval = kernel->promotion == PCAST_PROMOTION_TILE
                                  ? piece.total
                                  : (unsigned)kernel->promotion * PCAST_TILE_KEYS;
    const unsigned end = piece.first + piece.count;
    if (piece.first == 0)
        at->o[n] = alpha * at->o[n];
    const float part = pcast_row_add_keys(kernel, piece.first % interval == 0 ? 0.0f : at->part[n],
                                          values, v, stride, piece.count);
    if (end % interval == 0 || end == piece.total)
        at->o[n] = at->o[n] + part * piece.descale;
    else
        at->part[n] = part;
}

PCAST_INLINE void pcast_row_add_values_of(const pcast_block *self, const pcast_row_job *job,
                                          const pcast_row_shared *at, pcast_range range)
{
    const unsigned dim = job->value_dim;
    pcast_row_piece piece = {0, 0, (unsigned)range.count, 1.0f};
    if (job->v_descale != NULL)
        piece.descale = job->v_descale[range.first / job->plan->kernel.block];
    for (; piece.first < piece.total; piece.first += PCAST_TILE_KEYS) {
        const unsigned left = piece.total - piece.first;
        piece.count = left < PCAST_TILE_KEYS ? left : PCAST_TILE_KEYS;
        pcast_row_load(self, at->tile, dim, job->v + (range.first + piece.first) * dim, piece.count,
                       dim);
        pcast_block_sync(self);
        for (unsigned n = self->thread; n < job->rows * dim; n += PCAST_ROW_THREADS)
            pcast_row_add_channel(job, at, n, piece);
        pcast_block_sync(self);
    }
}

/* ---- Splits ---- */

PCAST_INLINE void pcast_row_begin_split(const pcast_block *self, const pcast_row_job *job,
                                        const pcast_row_shared *at, size_t split)
{
    const pcast_plan *plan = job->plan;
    const int sink_first =
        split == 0 && plan->sink_given && plan->kernel.learned_sink == PCAST_LEARNED_SINK_INITIAL;
    const float l = sink_first ? plan->inside : plan->kernel.initial_sum;
    for (size_t row = self->thread; row < job->rows; row += PCAST_ROW_THREADS) {
        at->states[row].m = sink_first ? plan->sink_score : plan->initial_max;
        at->states[row].l = l;
        at->states[row].wide_l = (double)l;
        at->states[row].alpha = 1.0f;
        at->states[row].has_sink = 0;
    }
    for (unsigned n = self->thread; n < job->rows * job->value_dim; n += PCAST_ROW_THREADS) {
        at->o[n] = 0.0f;
        if (plan->kernel.accumulator == PCAST_ACCUMULATOR_FP64)
            at->wide[n] = 0.0;
    }
    pcast_block_sync(self);
}

/* The learned sink in split 0's denominator, once. */
PCAST_INLINE void pcast_row_add_sinks(const pcast_block *self, const pcast_row_job *job,
                                      const pcast_row_shared *at, size_t split)
{
    const pcast_plan *plan = job->plan;
    const int wanted = split == 0 && plan->sink_given &&
                       plan->kernel.learned_sink == PCAST_LEARNED_SINK_DENOMINATOR;
    for (size_t row = self->thread; wanted && row < job->rows; row += PCAST_ROW_THREADS) {
        pcast_row_state *state = &at->states[row];
        if (!state->has_sink)
            pcast_plan_add_sink(plan, &state->m, &state->l);
        state->has_sink = 1;
    }
    pcast_block_sync(self);
}

PCAST_INLINE void pcast_row_close_split(const pcast_block *self, const pcast_row_group *group,
                                        const pcast_row_shared *at, size_t split)
{
    const pcast_row_job *job = &group->job;
    const pcast_plan *plan = job->plan;
    const int two_passes = plan->kernel.normalise == PCAST_NORMALISE_PARTITION;
    pcast_row_add_sinks(self, job, at, split);
    for (size_t row = self->thread; row < job->rows; row += PCAST_ROW_THREADS) {
        pcast_split *closed = &job->splits[row * job->split_max + split];
        closed->l = at->states[row].l;
        closed->lse = pcast_plan_lse(plan, at->states[row].m, at->states[row].l);
        closed->weight = 1.0f;
    }
    for (unsigned n = self->thread; n < job->rows * job->value_dim; n += PCAST_ROW_THREADS) {
        const unsigned row = n / job->value_dim, c = n % job->value_dim;
        const pcast_divider divider =
            pcast_plan_divider(plan, two_passes ? 1.0f : at->states[row].l);
        if (plan->kernel.accumulator == PCAST_ACCUMULATOR_FP64)
            at->o[n] = (float)at->wide[n];
        const float x = pcast_plan_divide(plan, &divider, at->o[n]);
        if (group->partials == NULL)
            at->o[n] = x;
        else
            group->partials[(row * job->split_max + split) * job->value_dim + c] =
                pcast_round_result(plan->kernel.partials, x);
    }
    pcast_block_sync(self);
}

/* ---- Results ---- */

/* Weights of a row's splits, and its log-sum-exp. */
PCAST_INLINE void pcast_row_merge(const pcast_row_group *group, size_t row, size_t split_count)
{
    const pcast_row_job *job = &group->job;
    const pcast_plan *plan = job->plan;
    pcast_split *splits = job->splits + row * job->split_max;
    const pcast_masked_rows masked = plan->kernel.masked_rows;
    float lse = splits[0].lse;
    if (group->partials != NULL) {
        float max;
        const float sum = pcast_plan_weigh_splits(plan, splits, split_count, &max);
        for (size_t s = 0; s < split_count; s++)
            if (splits[s].lse != -INFINITY)
                splits[s].weight = pcast_unit_quotient(plan, splits[s].weight, sum);
        lse = pcast_plan_merged_lse(plan, max, sum);
    }
    if (job->where[row].visible.count == 0 &&
        (masked == PCAST_MASKED_ROWS_ZERO || masked == PCAST_MASKED_ROWS_NAN))
        lse = pcast_plan_sink_lse(plan);
    job->lse[row] = pcast_plain_nan(pcast_plan_returned_lse(plan, lse));
}

/* One channel of a row's output. */
PCAST_INLINE float pcast_row_result(const pcast_row_group *group, const pcast_row_shared *at,
                                    unsigned n, size_t split_count)
{
    const pcast_row_job *job = &group->job;
    const unsigned row = n / job->value_dim, c = n % job->value_dim;
    const pcast_split *splits = job->splits + row * job->split_max;
    const pcast_masked_rows masked = job->plan->kernel.masked_rows;
    const int sees = job->where[row].visible.count > 0;
    float x = at->o[n];
    if (group->partials != NULL) {
        x = 0.0f;
        for (size_t s = 0; s < split_count; s++)
            if (splits[s].lse != -INFINITY)
                x = fmaf(splits[s].weight,
                         group->partials[(row * job->split_max + s) * job->value_dim + c], x);
    }
    if (!sees && masked == PCAST_MASKED_ROWS_ZERO)
        x = 0.0f;
    if (!sees && masked == PCAST_MASKED_ROWS_NAN)
        x = pcast_f32_from_bits(0x7FC00000);
    return pcast_round_result(job->plan->kernel.out_format, x);
}

/* The kernel. */
PCAST_INLINE void pcast_row_group_run(const pcast_block *self, const pcast_row_group *group,
                                      void *memory)
{
    const pcast_row_job *job = &group->job;
    pcast_row_shared at;
    size_t split = 0;
    pcast_row_layout(group, memory, &at);
    if (job->q != NULL)
        pcast_row_load(self, at.q, job->dim, job->q, job->rows, job->dim);
    pcast_row_begin_split(self, job, &at, 0);
    for (size_t n = 0; n < group->visit_count; n++) {
        const pcast_visit visit = group->visits[n];
        if (visit.split > split) {
            pcast_row_close_split(self, group, &at, split);
            split = visit.split;
            pcast_row_begin_split(self, job, &at, split);
        }
        if (job->q != NULL)
            pcast_row_multiply_scores(self, job, &at, visit.range);
        else
            pcast_row_read_scores(self, job, &at, visit.range);
        pcast_row_weigh_group(self, job, &at, &visit, n);
        if (!visit.sums_only)
            pcast_row_add_values_of(self, job, &at, visit.range);
        else if (visit.last)
            pcast_row_add_sinks(self, job, &at, split);
    }
    pcast_row_close_split(self, group, &at, split);
    for (size_t row = self->thread; row < job->rows; row += PCAST_ROW_THREADS)
        pcast_row_merge(group, row, split + 1);
    pcast_block_sync(self);
    for (unsigned n = self->thread; n < job->rows * job->value_dim; n += PCAST_ROW_THREADS)
        job->o[n] = pcast_row_result(group, &at, n, split + 1);
}

#endif
