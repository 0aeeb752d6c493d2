/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial walks its keys block by block and brings every configuration one block further, so that
 * memory stays O(block) and a block of V is read while it is in the cache: once for the exact
 * references, then once for each group of kernels that visit the same blocks in the same order. */
#include "experiment/synthetic_trial.h"

#include "base/bits.h"
#include "base/error.h"
#include "experiment/synthetic_device.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>

void pcast_workspace_free(pcast_workspace *space, size_t configs)
{
    pcast_draws_free(&space->draws);
    pcast_row_scratch_free(&space->scratch);
    free(space->scores);
    free(space->is_sink);
    free(space->references);
    free(space->reference_o);
    free(space->kernel_scores);
    free(space->batch.rows);
    for (int f = 0; f < 2; f++) {
        free(space->v[f].codes);
        free(space->v[f].rounded);
    }
    for (size_t i = 0; space->rows != NULL && i < configs; i++)
        pcast_row_free(&space->rows[i]);
    free(space->rows);
    free(space->meters);
    free(space->parts);
}

static pcast_status init_codes(pcast_workspace *space, const pcast_synthetic_state *self,
                               pcast_error *err)
{
    const size_t size = self->block * self->experiment->dim;
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        pcast_value_codes *v = &space->v[self->plans[n].v_format == PCAST_E5M2];
        if (!self->plans[n].reads_codes || v->codes != NULL)
            continue;
        v->codes = malloc(size);
        v->rounded = malloc(size * sizeof *v->rounded);
        if (v->codes == NULL || v->rounded == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for codes of V");
    }
    return PCAST_OK;
}

pcast_status pcast_workspace_init(pcast_workspace *space, const pcast_synthetic_state *self,
                                  pcast_error *err)
{
    const pcast_synthetic *experiment = self->experiment;
    const size_t deltas = experiment->delta_count, dim = experiment->dim;
    const size_t configs = self->run->kernel_count * deltas;
    pcast_status status =
        pcast_draws_init(&space->draws, self->run->cpu, experiment->seed, experiment->draw,
                         experiment->keys, dim, self->block, err);
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&space->scratch, self->block, dim, err);
    if (status == PCAST_OK)
        status = init_codes(space, self, err);
    if (status != PCAST_OK)
        return status;
    space->scores = calloc(self->block, sizeof *space->scores);
    space->is_sink = calloc(2 * self->block, sizeof *space->is_sink);
    space->references = calloc(deltas, sizeof *space->references);
    space->reference_o = calloc((deltas + 1) * 2, dim * sizeof *space->reference_o);
    space->kernel_scores = calloc(self->block, sizeof *space->kernel_scores);
    space->batch.rows = calloc(PCAST_BATCH * self->block, sizeof *space->batch.rows);
    space->rows = calloc(configs, sizeof *space->rows);
    space->meters = calloc(configs, sizeof *space->meters);
    space->parts = calloc(deltas * self->first_part[self->run->kernel_count], sizeof *space->parts);
    if (space->scores == NULL || space->is_sink == NULL || space->references == NULL ||
        space->reference_o == NULL || space->kernel_scores == NULL || space->batch.rows == NULL ||
        space->rows == NULL || space->meters == NULL || space->parts == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY,
                          "out of memory for %zu configurations of %zu channels", configs, dim);
    for (size_t i = 0; i < experiment->sinks && i < self->block; i++)
        space->is_sink[i] = 1;
    for (size_t i = 0; status == PCAST_OK && i < configs; i++)
        status =
            pcast_row_init(&space->rows[i], &self->plans[i / deltas], experiment->keys, dim, err);
    return status;
}

/* V of the visit as a kernel reads it. */
static pcast_values kernel_values(const pcast_synthetic_state *self, pcast_workspace *space,
                                  const pcast_plan *plan, const float *values, size_t count)
{
    pcast_value_codes *v = &space->v[plan->v_format == PCAST_E5M2];
    if (!plan->reads_codes)
        return (pcast_values){values, NULL};
    if (!v->filled)
        pcast_plan_codes(plan, values, count * self->experiment->dim, v->codes, v->rounded);
    v->filled = 1;
    return (pcast_values){v->rounded, v->codes};
}

static void flush_batch(const pcast_synthetic_state *self, pcast_workspace *space,
                        const float *values, size_t count)
{
    pcast_row_batch *batch = &space->batch;
    self->plans[0].engine->accumulate(batch->o, batch->alpha, batch->p, batch->count, values, count,
                                      self->experiment->dim);
    batch->count = 0;
}

/* One configuration on one visit: its loss, and P.V at once or into the batch. */
static void step_row(const pcast_synthetic_state *self, pcast_workspace *space, size_t config,
                     const pcast_row *leader, const pcast_visit *visit, const float *scores,
                     const float *values)
{
    pcast_row *row = &space->rows[config];
    const size_t count = visit->range.count;
    const int batched = pcast_row_is_plain(row) && !row->plan->reads_codes && !visit->sums_only;
    pcast_row_batch *batch = &space->batch;
    pcast_row_scratch scratch = space->scratch;
    if (batched)
        scratch.p8_value = batch->rows + batch->count * self->block;
    const pcast_tile tile = pcast_row_weigh(row, visit, scores, leader, &scratch);
    if (!visit->sums_only)
        pcast_loss_tile(&space->meters[config], &tile,
                        space->is_sink + (visit->range.first == 0 ? 0 : self->block));
    if (batched) {
        batch->o[batch->count] = row->o;
        batch->alpha[batch->count] = tile.alpha;
        batch->p[batch->count++] = scratch.p8_value;
        if (batch->count == PCAST_BATCH)
            flush_batch(self, space, values, count);
    } else if (!visit->sums_only) {
        pcast_row_add_values(row, &tile, kernel_values(self, space, row->plan, values, count),
                             &scratch);
    }
}

/* One visit of every configuration in the group of kernel `leader`; those of one front after the
 * first of them, whose maximum and P they share. */
static void step_group(const pcast_synthetic_state *self, pcast_workspace *space, size_t leader,
                       const pcast_visit *visit)
{
    const pcast_synthetic *experiment = self->experiment;
    const size_t kernels = self->run->kernel_count, deltas = experiment->delta_count;
    const pcast_range range = visit->range;
    const double *normals = pcast_draws_normals(&space->draws, range.first, range.count);
    const float *values = pcast_draws_values(&space->draws, range.first, range.count);
    space->v[0].filled = space->v[1].filled = 0;
    for (size_t d = space->first_delta; d < space->end_delta; d++) {
        pcast_fill_scores(space->scores, normals, range, experiment, experiment->deltas[d]);
        for (size_t n = leader; n < kernels; n++) {
            if (self->front[n] != n ||
                !pcast_same_walk(&self->plans[n].kernel, &self->plans[leader].kernel))
                continue;
            const float *scores = pcast_plan_scores(&self->plans[n], space->scores, range.count,
                                                    space->kernel_scores);
            step_row(self, space, n * deltas + d, NULL, visit, scores, values);
            for (size_t k = n + 1; k < kernels; k++)
                if (self->front[k] == n)
                    step_row(self, space, k * deltas + d, &space->rows[n * deltas + d], visit,
                             scores, values);
        }
    }
    flush_batch(self, space, values, range.count);
}

/* Where the parts of a configuration's splits are, and how many. */
static pcast_loss_part *config_parts(const pcast_synthetic_state *self,
                                     const pcast_workspace *space, size_t config, size_t *splits)
{
    const size_t deltas = self->experiment->delta_count;
    const size_t kernel = config / deltas, delta = config % deltas;
    const size_t *first = self->first_part;
    *splits = first[kernel + 1] - first[kernel];
    return space->parts + delta * first[self->run->kernel_count] + first[kernel];
}

/* Is the configuration part of the current piece of work? */
static int is_ours(const pcast_synthetic_state *self, const pcast_workspace *space, size_t config)
{
    const size_t delta = config % self->experiment->delta_count;
    return delta >= space->first_delta && delta < space->end_delta;
}

static void start_trial(const pcast_synthetic_state *self, pcast_workspace *space, size_t trial)
{
    const size_t deltas = self->experiment->delta_count;
    pcast_draws_start_trial(&space->draws, (uint32_t)(self->experiment->first_trial + trial));
    pcast_compute_references(self, space);
    for (size_t i = 0; i < self->run->kernel_count * deltas; i++) {
        size_t splits;
        if (!is_ours(self, space, i))
            continue;
        pcast_loss_part *parts = config_parts(self, space, i, &splits);
        pcast_row_start(&space->rows[i]);
        pcast_loss_start(&space->meters[i], &self->units[i / deltas], parts, splits);
    }
}

/* Losses of rows that are finished. */
static void finish_trial(const pcast_synthetic_state *self, pcast_workspace *space, size_t trial)
{
    const size_t deltas = self->experiment->delta_count;
    const size_t configs = self->run->kernel_count * deltas;
    for (size_t i = 0; i < configs; i++)
        if (is_ours(self, space, i))
            self->losses[(trial - self->chunk_first) * configs + i] = pcast_loss_finish(
                &space->meters[i], &space->rows[i], space->references[i % deltas].o);
}

/* A trial, or some Delta of it. */
void pcast_synthetic_piece(void *context, int thread, size_t piece)
{
    const pcast_synthetic_state *self = context;
    const pcast_synthetic *experiment = self->experiment;
    const size_t deltas = experiment->delta_count, keys = experiment->keys;
    const size_t configs = self->run->kernel_count * deltas;
    const size_t trial = piece / self->groups, group = piece % self->groups;
    pcast_workspace *space = &self->workspaces[thread];
    space->first_delta = group * deltas / self->groups;
    space->end_delta = (group + 1) * deltas / self->groups;
    if (space->status != PCAST_OK)
        return; /* the device has failed */

    start_trial(self, space, trial);
    if (self->run->device != NULL) {
        space->status = pcast_synthetic_on_device(self, space, &space->error);
        if (space->status == PCAST_OK)
            finish_trial(self, space, trial);
        return;
    }
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        size_t leader = 0;
        while (!pcast_same_walk(&self->plans[leader].kernel, &self->plans[n].kernel))
            leader++;
        if (leader != n)
            continue; /* done with its leader */
        pcast_walk walk;
        pcast_visit visit;
        pcast_walk_start(&walk, &self->plans[n].kernel, keys, 0, keys);
        while (pcast_walk_next(&walk, &visit))
            step_group(self, space, n, &visit);
    }
    for (size_t i = 0; i < configs; i++)
        if (is_ours(self, space, i))
            pcast_row_finish(&space->rows[i], 1);
    finish_trial(self, space, trial);
}
