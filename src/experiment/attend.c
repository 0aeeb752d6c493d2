/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kernel on every query of every head of every sequence. A (sequence, head) is one piece of
 * work. */
#include "pcast/attend.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/attend_view.h"
#include "experiment/parallel.h"
#include "experiment/tally.h"
#include "math/math.h"
#include "measure/loss.h"
#include "measure/reference.h"
#include "softmax/row.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>

typedef struct workspace {
    pcast_plan plan; /* of the current head */
    pcast_row row;
    pcast_row_scratch scratch;
    pcast_loss_part *parts;
    float *k, *v;                             /* [keys][dim] of the current head */
    float *products, *scores, *kernel_scores; /* [keys] */
    double *reference;                        /* [2][value dim] */
    uint8_t *is_sink;                         /* [block], none */
} workspace;

typedef struct attend_run {
    const pcast_attend *attend;
    const pcast_kernel *kernel;
    const pcast_run *run;
    const pcast_attend_result *result;
    pcast_attend_shape shape;
    pcast_view q, k, v;
    pcast_loss_units units;
    float softmax_scale;
    workspace *workspaces; /* [threads] */
} attend_run;

static void workspace_free(workspace *space)
{
    pcast_row_free(&space->row);
    pcast_row_scratch_free(&space->scratch);
    free(space->parts);
    free(space->k);
    free(space->v);
    free(space->products);
    free(space->scores);
    free(space->kernel_scores);
    free(space->reference);
    free(space->is_sink);
}

/* Constants of a head. Their checks are done before any thread starts. */
static pcast_status plan_head(const attend_run *self, size_t batch, size_t head, pcast_plan *plan,
                              pcast_error *err)
{
    const pcast_attend *attend = self->attend;
    const size_t heads = self->shape.heads, kv_heads = self->shape.kv_heads;
    const size_t kv_head = head / (heads / kv_heads);
    const pcast_kernel *kernel = self->kernel;
    pcast_head_scales scales = {.softmax_scale = self->softmax_scale,
                                .sink_given = kernel->sink_given,
                                .sink_logit = kernel->sink_logit};
    scales.qk_descale =
        pcast_head_scalar(attend->q_descale, heads, batch, head, kv_head, kv_heads) *
        pcast_head_scalar(attend->k_descale, kv_heads, batch, kv_head, kv_head, kv_heads);
    scales.v_descale =
        pcast_head_scalar(attend->v_descale, kv_heads, batch, kv_head, kv_head, kv_heads);
    if (attend->learned_sink != NULL) {
        scales.sink_given = 1;
        scales.sink_logit = pcast_head_scalar(attend->learned_sink, heads, 0, head, head, heads);
    }
    return pcast_plan_init(plan, kernel, self->run->cpu, &scales, self->shape.dim, err);
}

static pcast_status workspace_init(workspace *space, const attend_run *self, pcast_error *err)
{
    const size_t keys = self->shape.max_keys > 0 ? self->shape.max_keys : 1;
    const size_t value_dim = self->shape.value_dim;
    pcast_status status = plan_head(self, 0, 0, &space->plan, err);
    if (status == PCAST_OK)
        status = pcast_row_init(&space->row, &space->plan, keys, value_dim, err);
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&space->scratch, space->plan.kernel.block, value_dim, err);
    if (status != PCAST_OK)
        return status;
    space->parts = calloc(pcast_plan_splits(&space->plan, keys), sizeof *space->parts);
    space->k = calloc(keys, self->shape.dim * sizeof *space->k);
    space->v = calloc(keys, value_dim * sizeof *space->v);
    space->products = calloc(keys, sizeof *space->products);
    space->scores = calloc(keys, sizeof *space->scores);
    space->kernel_scores = calloc(keys, sizeof *space->kernel_scores);
    space->reference = calloc(2 * value_dim, sizeof *space->reference);
    space->is_sink = calloc(space->plan.kernel.block, sizeof *space->is_sink);
    if (space->parts == NULL || space->k == NULL || space->v == NULL || space->products == NULL ||
        space->scores == NULL || space->kernel_scores == NULL || space->reference == NULL ||
        space->is_sink == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for heads of %zu keys", keys);
    return PCAST_OK;
}

/* Copies tokens of one head next to each other. */
static void gather(float *to, const float *from, const pcast_view *view, const size_t *starts,
                   size_t batch, size_t head, size_t count)
{
    const size_t first = pcast_sequence_of(view, starts, batch).first;
    for (size_t t = 0; t < count; t++)
        memcpy(to + t * view->dim, from + pcast_view_offset(view, starts, batch, head, first + t),
               view->dim * sizeof *to);
}

/* What the observer of a row needs. */
typedef struct observation {
    pcast_loss_meter meter;
    const uint8_t *is_sink;
    const pcast_attend_result *result;
    size_t row;
} observation;

static void observe(void *context, const pcast_tile *tile)
{
    observation *seen = context;
    pcast_loss_tile(&seen->meter, tile, seen->is_sink);
    if (seen->result->observer != NULL)
        seen->result->observer(seen->result->observer_context, seen->row, tile);
}

/* Where a row's results go. */
typedef struct row_place {
    const float *q;
    float *o;
    size_t row; /* index into lse */
} row_place;

static row_place place_row(const attend_run *self, size_t batch, size_t head, size_t query)
{
    const size_t *starts = self->attend->q_starts;
    const size_t token = pcast_sequence_of(&self->q, starts, batch).first + query;
    const size_t offset = pcast_view_offset(&self->q, starts, batch, head, token);
    const size_t row = starts != NULL
                           ? head * self->shape.rows + token
                           : (batch * self->shape.heads + head) * self->shape.queries + query;
    return (row_place){self->attend->q->data + offset,
                       self->result->o + offset / self->shape.dim * self->shape.value_dim, row};
}

/* Largest error of the returned log-sum-exp, in nats. */
static double lse_error(const pcast_row *row, const pcast_reference *reference)
{
    const double exact = reference->max + pcast_log_f64(reference->l.value + reference->l.lost);
    const double unit = row->plan->kernel.lse == PCAST_LSE_BASE_2 ? 0.6931471805599453 : 1;
    return fabs((double)row->lse * unit - exact);
}

static void run_query(const attend_run *self, workspace *space, pcast_attend_head *head,
                      size_t query, pcast_tally *tally)
{
    const pcast_plan *plan = &space->plan;
    const size_t queries = head->queries, keys = head->keys;
    const size_t dim = self->shape.dim, value_dim = self->shape.value_dim;
    const row_place place = place_row(self, head->batch, head->head, query);
    const pcast_range visible = pcast_visible_keys(&plan->kernel, queries, keys, query);
    const pcast_row_keys row_keys = {keys, visible,
                                     pcast_visited_keys(&plan->kernel, queries, keys, query)};
    const size_t first = visible.first;
    pcast_products(plan->engine, place.q, space->k + first * dim, visible.count, dim,
                   space->products + first);
    pcast_scores(space->products + first, visible.count, plan->score_scale, plan->kernel.softcap,
                 space->scores + first);

    observation seen = {.is_sink = space->is_sink, .result = self->result, .row = place.row};
    pcast_loss_start(&seen.meter, &self->units, space->parts, space->row.split_max);
    const float *scores = pcast_plan_scores(plan, space->products + first, visible.count,
                                            space->kernel_scores + first);
    pcast_row_run(&space->row, &row_keys, scores - first, space->v, observe, &seen, &space->scratch);
    memcpy(place.o, space->row.o, value_dim * sizeof *place.o);
    self->result->lse[place.row] = space->row.lse;
    if (visible.count == 0) {
        head->empty_rows++;
        return;
    }
    pcast_reference reference;
    pcast_reference_row(&reference, space->scores + first, space->v + first * value_dim,
                        visible.count, plan->sink_given ? &plan->sink_nats : NULL, space->reference,
                        value_dim);
    for (size_t c = 0; c < value_dim; c++)
        reference.o[c] *= (double)plan->v_descale;
    const pcast_loss loss = pcast_loss_finish(&seen.meter, &space->row, reference.o);
    pcast_tally_add(tally, &loss);
    head->lse_error = pcast_larger(head->lse_error, lse_error(&space->row, &reference));
}

static void run_head(void *context, int thread, size_t index)
{
    const attend_run *self = context;
    const pcast_attend *attend = self->attend;
    workspace *space = &self->workspaces[thread];
    pcast_attend_head *head = &self->result->heads[index];
    const size_t batch = index / self->shape.heads;
    *head = (pcast_attend_head){.batch = batch, .head = index % self->shape.heads};
    head->queries = pcast_sequence_of(&self->q, attend->q_starts, batch).count;
    head->keys = attend->kv_lengths != NULL
                     ? attend->kv_lengths[batch]
                     : pcast_sequence_of(&self->k, attend->k_starts, batch).count;
    const size_t kv_head = head->head / (self->shape.heads / self->shape.kv_heads);
    plan_head(self, batch, head->head, &space->plan, NULL);
    gather(space->k, attend->k->data, &self->k, attend->k_starts, batch, kv_head, head->keys);
    gather(space->v, attend->v->data, &self->v, attend->k_starts, batch, kv_head, head->keys);
    pcast_tally tally = {0};
    for (size_t query = 0; query < head->queries; query++)
        run_query(self, space, head, query, &tally);
    head->summary = pcast_tally_summary(&tally);
}

/* Every head's constants must be in range before threads start, which cannot report. */
static pcast_status check_plans(const attend_run *self, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    pcast_plan plan;
    for (size_t i = 0; status == PCAST_OK && i < self->shape.batch * self->shape.heads; i++)
        status = plan_head(self, i / self->shape.heads, i % self->shape.heads, &plan, err);
    return status;
}

pcast_status pcast_attend_run(const pcast_attend *attend, const pcast_run *run,
                              const pcast_attend_result *result, pcast_error *err)
{
    attend_run self = {.attend = attend,
                       .kernel = &run->kernels[0],
                       .run = run,
                       .result = result,
                       .softmax_scale = attend->softmax_scale};
    pcast_status status = pcast_attend_check(attend, self.kernel, &self.shape, err);
    if (status != PCAST_OK)
        return status;
    pcast_view_of(attend, attend->q, "q", &self.q, NULL);
    pcast_view_of(attend, attend->k, "k", &self.k, NULL);
    pcast_view_of(attend, attend->v, "v", &self.v, NULL);
    const size_t count = self.shape.batch * self.shape.heads;
    const size_t threads = (size_t)pcast_thread_count(run, count);
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    if (self.softmax_scale == 0)
        self.softmax_scale = pcast_default_softmax_scale(self.shape.dim);
    pcast_loss_units_init(&self.units, self.kernel);
    self.workspaces = calloc(threads, sizeof *self.workspaces);
    if (self.workspaces == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu threads", threads);
    if (status == PCAST_OK)
        status = check_plans(&self, err);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = workspace_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        pcast_parallel(run, (int)threads, 0, count, count, run_head, &self);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        workspace_free(&self.workspaces[t]);
    free(self.workspaces);
    return status;
}
