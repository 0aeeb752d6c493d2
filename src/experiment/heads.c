/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every query of every head of a model under every configuration. A head is one piece of work:
 * first its sinks, then a row at a time its scores, gap, exact reference and all kernels. */
#include "pcast/experiment.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/heads_check.h"
#include "experiment/parallel.h"
#include "experiment/tally.h"
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
    float *scores;        /* [keys] */
    double *mass;         /* [keys] attention mass by key */
    uint8_t *is_sink;     /* [keys] */
    double *reference;    /* [2][value dim]: output, lost parts */
    float *o;             /* [value dim] */
    pcast_tally *tallies; /* [kernels] */
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
    const pcast_engine *engine;
    size_t queries, keys, dim, value_dim, group; /* group: query heads for one KV head */
    float softmax_scale;
    pcast_mask mask;
    pcast_code_values *codes; /* [kernels] */
    workspace *workspaces;    /* [threads] */
    pcast_head *heads;
    pcast_summary *summaries;
    overflow *overflows; /* [heads] */
} heads_run;

static void workspace_free(workspace *space)
{
    pcast_row_scratch_free(&space->scratch);
    free(space->scores);
    free(space->mass);
    free(space->is_sink);
    free(space->reference);
    free(space->o);
    free(space->tallies);
}

static pcast_status workspace_init(workspace *space, const heads_run *self, size_t block,
                                   pcast_error *err)
{
    const pcast_status status = pcast_row_scratch_init(&space->scratch, block, err);
    if (status != PCAST_OK)
        return status;
    space->scores = calloc(self->keys, sizeof *space->scores);
    space->mass = calloc(self->keys, sizeof *space->mass);
    space->is_sink = calloc(self->keys, sizeof *space->is_sink);
    space->reference = calloc(2 * self->value_dim, sizeof *space->reference);
    space->o = calloc(self->value_dim, sizeof *space->o);
    space->tallies = calloc(self->run->kernel_count, sizeof *space->tallies);
    if (space->scores == NULL || space->mass == NULL || space->is_sink == NULL ||
        space->reference == NULL || space->o == NULL || space->tallies == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for rows of %zu keys", self->keys);
    return PCAST_OK;
}

static size_t visible_keys(const heads_run *self, size_t query)
{
    return self->mask == PCAST_MASK_CAUSAL ? query + 1 + (self->keys - self->queries) : self->keys;
}

/* Scores of the keys that the query sees; returns their number. */
static size_t row_scores(const heads_run *self, workspace *space, size_t head, size_t query)
{
    const size_t visible = visible_keys(self, query);
    const float *q = self->experiment->q->data + (head * self->queries + query) * self->dim;
    const float *k = self->experiment->k->data + head / self->group * self->keys * self->dim;
    pcast_scores(self->engine, q, k, visible, self->dim, self->softmax_scale, space->scores);
    for (size_t i = 0; i < visible; i++)
        if (!isfinite(space->scores[i]) && !self->overflows[head].found)
            self->overflows[head] = (overflow){1, query, i};
    return visible;
}

/* Adds the query's exact softmax to space->mass. */
static void add_mass(const heads_run *self, workspace *space, size_t visible)
{
    const double max = (double)self->engine->max(-INFINITY, space->scores, visible);
    double l = 0;
    for (size_t i = 0; i < visible; i++)
        l += pcast_exp_f64((double)space->scores[i] - max);
    for (size_t i = 0; i < visible; i++)
        space->mass[i] += pcast_exp_f64((double)space->scores[i] - max) / l;
}

/* Marks the head's sinks: those with most mass over all queries (the first of equals), or the first
 * keys. */
static void find_sinks(const heads_run *self, workspace *space, size_t head)
{
    const size_t sinks = self->experiment->sinks;
    memset(space->is_sink, 0, self->keys);
    if (!self->experiment->auto_sinks) {
        memset(space->is_sink, 1, sinks);
        return;
    }
    for (size_t i = 0; i < self->keys; i++)
        space->mass[i] = 0;
    for (size_t query = 0; query < self->queries; query++)
        add_mass(self, space, row_scores(self, space, head, query));
    for (size_t n = 0; n < sinks; n++) {
        size_t best = self->keys;
        for (size_t i = 0; i < self->keys; i++)
            if (!space->is_sink[i] && (best == self->keys || space->mass[i] > space->mass[best]))
                best = i;
        space->is_sink[best] = 1;
    }
}

static void add_gap(gap_sums *sums, const workspace *space, size_t visible)
{
    double sink_max = -INFINITY, sum = 0;
    size_t others = 0;
    for (size_t i = 0; i < visible; i++) {
        const double z = (double)space->scores[i];
        if (space->is_sink[i]) {
            sink_max = z > sink_max ? z : sink_max;
        } else {
            sum += z;
            others++;
        }
    }
    if (others < 2 || others == visible)
        return;
    const double mean = sum / (double)others;
    double squares = 0;
    for (size_t i = 0; i < visible; i++) {
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

/* All kernels on the row whose scores are in the workspace. */
static void run_row(const heads_run *self, workspace *space, size_t head, size_t visible)
{
    const float *values =
        self->experiment->v->data + head / self->group * self->keys * self->value_dim;
    pcast_reference reference;
    pcast_reference_start(&reference, (double)self->engine->max(-INFINITY, space->scores, visible),
                          space->reference, space->reference + self->value_dim, self->value_dim);
    pcast_reference_add(&reference, space->scores, values, visible);
    pcast_reference_finish(&reference);

    const pcast_row_input input = {
        .scores = space->scores,
        .values = values,
        .keys = self->keys,
        .dim = self->value_dim,
        .visible = visible,
    };
    for (size_t n = 0; n < self->run->kernel_count; n++) {
        observation seen = {.is_sink = space->is_sink};
        pcast_row_output output = {.o = space->o};
        pcast_loss_start(&seen.meter, &self->codes[n]);
        pcast_row_run(&self->run->kernels[n], self->engine, &input, observe, &seen, &space->scratch,
                      &output);
        const pcast_loss loss =
            pcast_loss_finish(&seen.meter, output.l, space->o, reference.o, self->value_dim);
        pcast_tally_add(&space->tallies[n], &loss);
    }
}

static void run_head(void *context, int thread, size_t head)
{
    const heads_run *self = context;
    const size_t kernels = self->run->kernel_count;
    workspace *space = &self->workspaces[thread];
    gap_sums gaps = {0};

    find_sinks(self, space, head);
    memset(space->tallies, 0, kernels * sizeof *space->tallies);
    for (size_t query = 0; query < self->queries; query++) {
        const size_t visible = row_scores(self, space, head, query);
        add_gap(&gaps, space, visible);
        run_row(self, space, head, visible);
    }
    for (size_t n = 0; n < kernels; n++)
        self->summaries[head * kernels + n] = pcast_tally_summary(&space->tallies[n]);

    pcast_head *result = &self->heads[head];
    result->queries = self->queries;
    result->gap = gaps.gap / (double)gaps.queries;
    result->gap_sigma = result->gap / sqrt(gaps.variance / (double)gaps.queries);
    for (size_t i = 0, n = 0; i < self->keys; i++)
        if (space->is_sink[i])
            result->sinks[n++] = i;
}

static size_t largest_block(const pcast_run *run)
{
    size_t block = 1;
    for (size_t n = 0; n < run->kernel_count; n++)
        if (run->kernels[n].block > block)
            block = run->kernels[n].block;
    return block;
}

pcast_status pcast_heads_run(const pcast_heads *experiment, const pcast_run *run, pcast_head *heads,
                             pcast_summary *summaries, pcast_error *err)
{
    pcast_status status = pcast_heads_check(experiment, run, err);
    if (status != PCAST_OK)
        return status;
    const size_t count = experiment->q->shape[0];
    const size_t threads = (size_t)pcast_thread_count(run, count);
    heads_run self = {
        .experiment = experiment,
        .run = run,
        .engine = pcast_engine_for(run->cpu),
        .queries = experiment->q->shape[1],
        .keys = experiment->k->shape[1],
        .dim = experiment->q->shape[2],
        .value_dim = experiment->v->shape[2],
        .group = count / experiment->k->shape[0],
        .softmax_scale = experiment->softmax_scale,
        .mask = run->kernels[0].mask,
        .heads = heads,
        .summaries = summaries,
    };
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    if (self.softmax_scale == 0)
        self.softmax_scale = pcast_default_softmax_scale(self.dim);
    self.codes = calloc(run->kernel_count, sizeof *self.codes);
    self.workspaces = calloc(threads, sizeof *self.workspaces);
    self.overflows = calloc(count, sizeof *self.overflows);
    if (self.codes == NULL || self.workspaces == NULL || self.overflows == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu threads", threads);
    for (size_t n = 0; status == PCAST_OK && n < run->kernel_count; n++)
        pcast_code_values_init(&self.codes[n], &run->kernels[n]);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = workspace_init(&self.workspaces[t], &self, largest_block(run), err);
    if (status == PCAST_OK)
        pcast_parallel(run, (int)threads, 0, count, count, run_head, &self);
    for (size_t h = 0; status == PCAST_OK && h < count; h++)
        if (self.overflows[h].found)
            status = pcast_fail(
                err, PCAST_ERR_INPUT,
                "%s: the score of [head %zu, query %zu] against key %zu overflows float32",
                pcast_heads_name(experiment, 0), h, self.overflows[h].query, self.overflows[h].key);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        workspace_free(&self.workspaces[t]);
    free(self.codes);
    free(self.workspaces);
    free(self.overflows);
    return status;
}
