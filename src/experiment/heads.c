/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every query of every head of a model under every configuration. A head is one piece of work:
 * first its sinks, then a row at a time its scores, gap, exact reference and all kernels. */
#include "pcast/experiment.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/memory.h"
#include "experiment/heads_check.h"
#include "experiment/heads_values.h"
#include "experiment/heads_view.h"
#include "experiment/parallel.h"
#include "math/math.h"
#include "measure/loss.h"
#include "measure/reference.h"
#include "softmax/row.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct workspace {
    pcast_row_scratch scratch;
    pcast_head_keys keys;      /* of the current head */
    float *v;                  /* [keys][value dim] likewise */
    float *products;           /* [keys] Q.K */
    float *scores;             /* [keys] of the exact reference */
    float *kernel_scores;      /* [keys] as a kernel reads them */
    double *mass;              /* [keys] attention mass by key */
    uint8_t *is_sink;          /* [keys] */
    double *reference;         /* [2][value dim]: output, lost parts */
    pcast_plan *plans;         /* [kernels] with the head's descale of V */
    pcast_head_values *values; /* [kernels] */
    pcast_row *rows;           /* [kernels] */
    pcast_loss_part *parts;    /* [most splits of a kernel] */
    pcast_tally *tallies;      /* [kernels] */
} workspace;

/* Sums over queries behind gap and gap_sigma. */
typedef struct gap_sums {
    double gap, variance;
    uint64_t queries;
} gap_sums;

/* The first score of a head that is not finite in FP32, if any. */
typedef struct overflow {
    int found;
    size_t query, key;
} overflow;

typedef struct heads_run {
    const pcast_heads *experiment;
    const pcast_run *run;
    pcast_heads_shape shape;
    pcast_plan *plans;       /* [kernels] */
    pcast_loss_units *units; /* [kernels] */
    size_t splits, block;    /* the most and the largest of any kernel */
    workspace *workspaces;   /* [threads] */
    pcast_head *heads;
    pcast_summary *summaries;
    overflow *overflows; /* [heads] */
} heads_run;

static void workspace_free(workspace *space, size_t kernels)
{
    pcast_row_scratch_free(&space->scratch);
    pcast_head_keys_free(&space->keys);
    free(space->v);
    free(space->products);
    free(space->scores);
    free(space->kernel_scores);
    free(space->mass);
    free(space->is_sink);
    free(space->reference);
    for (size_t n = 0; space->rows != NULL && n < kernels; n++)
        pcast_row_free(&space->rows[n]);
    free(space->rows);
    free(space->plans);
    pcast_head_values_free(space->values, kernels);
    free(space->values);
    free(space->parts);
    free(space->tallies);
}

static pcast_status workspace_init(workspace *space, const heads_run *self, pcast_error *err)
{
    const size_t keys = self->shape.keys, kernels = self->run->kernel_count;
    pcast_status status =
        pcast_row_scratch_init(&space->scratch, self->block, self->shape.value_dim, err);
    if (status == PCAST_OK)
        status = pcast_head_keys_init(&space->keys, self->experiment, &self->shape, err);
    if (status != PCAST_OK)
        return status;
    space->v = pcast_alloc_lines(keys, self->shape.value_dim * sizeof *space->v);
    space->products = calloc(keys, sizeof *space->products);
    space->scores = calloc(keys, sizeof *space->scores);
    space->kernel_scores = calloc(keys, sizeof *space->kernel_scores);
    space->mass = calloc(keys, sizeof *space->mass);
    space->is_sink = calloc(keys, sizeof *space->is_sink);
    space->reference = calloc(2 * self->shape.value_dim, sizeof *space->reference);
    space->plans = calloc(kernels, sizeof *space->plans);
    space->values = calloc(kernels, sizeof *space->values);
    space->rows = calloc(kernels, sizeof *space->rows);
    space->parts = calloc(self->splits, sizeof *space->parts);
    space->tallies = calloc(kernels, sizeof *space->tallies);
    if (space->v == NULL || space->products == NULL || space->scores == NULL ||
        space->kernel_scores == NULL || space->mass == NULL || space->is_sink == NULL ||
        space->reference == NULL || space->plans == NULL || space->values == NULL ||
        space->rows == NULL || space->parts == NULL || space->tallies == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for rows of %zu keys", keys);
    memcpy(space->plans, self->plans, kernels * sizeof *space->plans);
    status = pcast_head_values_init(space->values, self->run, keys * self->shape.value_dim, err);
    for (size_t n = 0; status == PCAST_OK && n < kernels; n++)
        status =
            pcast_row_init(&space->rows[n], &space->plans[n], keys, self->shape.value_dim, err);
    return status;
}

/* Products and scores of the keys that the query sees; returns those keys. */
static pcast_range row_scores(const heads_run *self, workspace *space, size_t head, size_t query)
{
    const pcast_kernel *kernel = &self->plans[0].kernel; /* all solve the same problem */
    const pcast_range visible =
        pcast_visible_keys(kernel, self->shape.queries, self->shape.keys, query);
    pcast_heads_products(self->experiment, &self->shape, self->plans[0].engine, &space->keys, head,
                         query, visible, space->products + visible.first);
    pcast_scores(space->products + visible.first, visible.count, self->shape.softmax_scale,
                 kernel->softcap, space->scores + visible.first);
    for (size_t i = visible.first; i < visible.first + visible.count; i++)
        if (!isfinite(space->scores[i]) && !self->overflows[head].found)
            self->overflows[head] = (overflow){1, query, i};
    return visible;
}

/* Adds the query's exact softmax to space->mass. */
static void add_mass(const heads_run *self, workspace *space, pcast_range visible)
{
    const double max =
        (double)self->plans[0].engine->max(-INFINITY, space->scores + visible.first, visible.count);
    const size_t first = visible.first, end = first + visible.count;
    double l = 0;
    for (size_t i = first; i < end; i++)
        l += pcast_exp_f64((double)space->scores[i] - max);
    for (size_t i = first; i < end; i++)
        space->mass[i] += pcast_exp_f64((double)space->scores[i] - max) / l;
}

/* Marks the head's sinks: those with most mass over all queries (the first of equals), or the first
 * keys. */
static void find_sinks(const heads_run *self, workspace *space, size_t head)
{
    const size_t sinks = self->experiment->sinks;
    memset(space->is_sink, 0, self->shape.keys);
    if (!self->experiment->auto_sinks) {
        memset(space->is_sink, 1, sinks);
        return;
    }
    for (size_t i = 0; i < self->shape.keys; i++)
        space->mass[i] = 0;
    for (size_t query = 0; query < self->shape.queries; query++)
        add_mass(self, space, row_scores(self, space, head, query));
    for (size_t n = 0; n < sinks; n++) {
        size_t best = self->shape.keys;
        for (size_t i = 0; i < self->shape.keys; i++)
            if (!space->is_sink[i] &&
                (best == self->shape.keys || space->mass[i] > space->mass[best]))
                best = i;
        space->is_sink[best] = 1;
    }
}

static void add_gap(gap_sums *sums, const workspace *space, pcast_range visible)
{
    const size_t first = visible.first, end = first + visible.count;
    double sink_max = -INFINITY, sum = 0;
    size_t others = 0;
    for (size_t i = first; i < end; i++) {
        const double z = (double)space->scores[i];
        if (space->is_sink[i]) {
            sink_max = z > sink_max ? z : sink_max;
        } else {
            sum += z;
            others++;
        }
    }
    if (others < 2 || others == visible.count)
        return;
    const double mean = sum / (double)others;
    double squares = 0;
    for (size_t i = first; i < end; i++) {
        const double deviation = (double)space->scores[i] - mean;
        squares += space->is_sink[i] ? 0 : deviation * deviation;
    }
    sums->gap += sink_max - mean;
    sums->variance += squares / (double)others;
    sums->queries++;
}

/* What the observer of a row needs. */
typedef struct observation {
    pcast_loss_meter meter;
    const uint8_t *is_sink;
} observation;

static void observe(void *context, const pcast_tile *tile)
{
    observation *seen = context;
    pcast_loss_tile(&seen->meter, tile, seen->is_sink + tile->first_key);
}

/* All kernels on that query. */
static void run_row(const heads_run *self, workspace *space, size_t query, pcast_range visible)
{
    const pcast_kernel *first = &self->plans[0].kernel; /* all solve the same problem */
    pcast_reference reference;
    pcast_reference_row(&reference, self->units[0].engine, space->scores + visible.first,
                        space->v + visible.first * self->shape.value_dim, visible.count,
                        first->sink_given ? &first->sink_logit : NULL, space->reference,
                        self->shape.value_dim);
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        const pcast_plan *plan = &space->plans[n];
        observation seen = {.is_sink = space->is_sink};
        const pcast_row_keys keys = {
            self->shape.keys, visible,
            pcast_visited_keys(&plan->kernel, self->shape.queries, self->shape.keys, query)};
        const float *scores =
            pcast_plan_scores(plan, space->products + visible.first, visible.count,
                              space->kernel_scores + visible.first) -
            visible.first;
        pcast_loss_start(&seen.meter, &self->units[n], space->parts,
                         pcast_plan_splits(plan, self->shape.keys));
        pcast_row_run(&space->rows[n], &keys, scores, (pcast_values){space->values[n].data, NULL},
                      observe, &seen, &space->scratch);
        const pcast_loss loss = pcast_loss_finish(&seen.meter, &space->rows[n], reference.o);
        pcast_tally_add(&space->tallies[n], &loss);
    }
}

static void run_head(void *context, int thread, size_t head)
{
    const heads_run *self = context;
    const size_t kernels = self->run->kernel_count;
    workspace *space = &self->workspaces[thread];
    gap_sums gaps = {0};

    pcast_head_keys_load(&space->keys, self->experiment, &self->shape, head);
    pcast_heads_values(self->experiment, &self->shape, head, space->v);
    find_sinks(self, space, head);
    memset(space->tallies, 0, kernels * sizeof *space->tallies);
    pcast_head_values_load(space->values, kernels, space->v,
                           self->shape.keys * self->shape.value_dim);
    for (size_t n = 0; n < kernels; n++)
        space->plans[n].v_descale = space->values[n].descale;
    for (size_t query = 0; query < self->shape.queries; query++) {
        const pcast_range visible = row_scores(self, space, head, query);
        if (visible.count == 0)
            continue; /* nothing to attend to, nothing to lose */
        add_gap(&gaps, space, visible);
        run_row(self, space, query, visible);
    }
    for (size_t n = 0; n < kernels; n++)
        self->summaries[head * kernels + n] = pcast_tally_summary(&space->tallies[n]);

    pcast_head *result = &self->heads[head];
    result->queries = self->shape.queries;
    result->gap = gaps.gap / (double)gaps.queries;
    result->gap_sigma = result->gap / sqrt(gaps.variance / (double)gaps.queries);
    for (size_t i = 0, n = 0; i < self->shape.keys; i++)
        if (space->is_sink[i])
            result->sinks[n++] = i;
}

static pcast_status init_kernel(heads_run *self, size_t n, pcast_error *err)
{
    const pcast_kernel *kernel = &self->run->kernels[n];
    const pcast_head_scales scales = {self->shape.softmax_scale, 1, 1, kernel->sink_given,
                                      kernel->sink_logit};
    pcast_plan *plan = &self->plans[n];
    const pcast_status status =
        pcast_plan_init(plan, kernel, self->run->cpu, &scales, self->shape.dim, err);
    if (status != PCAST_OK)
        return status;
    const size_t splits = pcast_plan_splits(plan, self->shape.keys);
    pcast_loss_units_init(&self->units[n], kernel, self->run->cpu);
    self->splits = splits > self->splits ? splits : self->splits;
    self->block = plan->kernel.block > self->block ? plan->kernel.block : self->block;
    return PCAST_OK;
}

pcast_status pcast_heads_run(const pcast_heads *experiment, const pcast_run *run, pcast_head *heads,
                             pcast_summary *summaries, pcast_error *err)
{
    pcast_status status = pcast_heads_check(experiment, run, err);
    if (status != PCAST_OK)
        return status;
    const pcast_heads_shape shape = pcast_heads_shape_of(experiment);
    const size_t count = shape.heads;
    const size_t threads = (size_t)pcast_thread_count(run, count);
    heads_run self = {
        .experiment = experiment,
        .run = run,
        .shape = shape,
        .heads = heads,
        .summaries = summaries,
    };
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    self.plans = calloc(run->kernel_count, sizeof *self.plans);
    self.units = calloc(run->kernel_count, sizeof *self.units);
    self.workspaces = calloc(threads, sizeof *self.workspaces);
    self.overflows = calloc(count, sizeof *self.overflows);
    if (self.plans == NULL || self.units == NULL || self.workspaces == NULL ||
        self.overflows == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu threads", threads);
    for (size_t n = 0; status == PCAST_OK && n < run->kernel_count; n++)
        status = init_kernel(&self, n, err);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = workspace_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        pcast_parallel(run, (int)threads, 0, count, count, run_head, &self);
    for (size_t h = 0; status == PCAST_OK && h < count; h++)
        if (self.overflows[h].found)
            status = pcast_fail(
                err, PCAST_ERR_INPUT,
                "%s: the score of [head %zu, query %zu] against key %zu overflows float32",
                pcast_heads_name(experiment, PCAST_HEADS_Q), h, self.overflows[h].query,
                self.overflows[h].key);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        workspace_free(&self.workspaces[t], run->kernel_count);
    free(self.plans);
    free(self.units);
    free(self.workspaces);
    free(self.overflows);
    return status;
}
