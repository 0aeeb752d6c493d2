/* SPDX-License-Identifier: MIT */
/* The strict kernel: a block of threads for each group of rows. Tiles of K, then of V, pass through
 * shared memory once and serve all rows of the group. */
#ifndef PCAST_CUDA_ROW_KERNEL_H
#define PCAST_CUDA_ROW_KERNEL_H

#include "cuda/row_scores.h"
#include "cuda/row_values.h"
#include "cuda/row_weigh.h"

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
