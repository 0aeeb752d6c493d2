/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kernel on every query of every head of every sequence. A (sequence, head) is one piece of
 * work. */
#include "pcast/attend.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/memory.h"
#include "experiment/attend_codes.h"
#include "experiment/attend_view.h"
#include "experiment/parallel.h"
#include "experiment/prepare.h"
#include "math/math.h"
#include "measure/loss.h"
#include "measure/reference.h"
#include "softmax/epilogue.h"
#include "softmax/row.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>

typedef struct workspace {
    pcast_plan plan; /* of the current head */
    pcast_row row;
    pcast_row_scratch scratch;
    pcast_loss_part *parts;
    float *k, *v;             /* [keys][dim] of the current head, as the kernel reads them */
    float *exact_k, *exact_v; /* as they were given */
    float *k_descale;         /* [keys] */
    float *v_descale;         /* [blocks] */
    float *products, *scores, *kernel_scores; /* [keys] */
    double *reference;                        /* [2][value dim] */
    uint8_t *is_sink;                         /* [block], none */
    pcast_attend_codes codes;
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
    pcast_prepared prepared; /* only where the inputs are prepared */
    int by_key;              /* scores are rescaled key by key, not by one factor for the head */
    workspace *workspaces;   /* [threads] */
} attend_run;

static void workspace_free(workspace *space)
{
    pcast_row_free(&space->row);
    pcast_row_scratch_free(&space->scratch);
    free(space->parts);
    free(space->k);
    free(space->v);
    free(space->exact_k);
    free(space->exact_v);
    free(space->k_descale);
    free(space->v_descale);
    free(space->products);
    free(space->scores);
    free(space->kernel_scores);
    free(space->reference);
    free(space->is_sink);
    pcast_attend_codes_free(&space->codes);
}

/* Descale that a tensor came with, for a head. */
static float given_descale(const attend_run *self, int which, size_t batch, size_t head)
{
    const pcast_attend *attend = self->attend;
    const pcast_tensor *const tensors[] = {attend->q_descale, attend->k_descale, attend->v_descale};
    const size_t heads = self->shape.heads, kv_heads = self->shape.kv_heads;
    const size_t kv_head = head / (heads / kv_heads);
    if (which == 0)
        return pcast_head_scalar(tensors[0], heads, batch, head, kv_head, kv_heads);
    return pcast_head_scalar(tensors[which], kv_heads, batch, kv_head, kv_head, kv_heads);
}

/* Descale of a token of a head: what quantising gave it, or what it came with. */
static float token_descale(const attend_run *self, int which, size_t batch, size_t head,
                           size_t token)
{
    const pcast_quantised *const all[] = {&self->prepared.q, &self->prepared.k, &self->prepared.v};
    const pcast_view *view = which == 0 ? &self->q : which == 1 ? &self->k : &self->v;
    const size_t *starts = which == 0 ? self->attend->q_starts : self->attend->k_starts;
    const size_t own = which == 0 ? head : head / (self->shape.heads / self->shape.kv_heads);
    if (all[which]->descale == NULL)
        return given_descale(self, which, batch, head);
    if (pcast_sequence_of(view, starts, batch).count == 0)
        return 1.0f;
    const float descale =
        all[which]->descale[pcast_token_index(view, starts, batch, token) * view->heads + own];
    return descale != 0 ? descale : 1.0f; /* 0: a token beyond the length, never quantised */
}

/* One descale for the head's scores, where there is one. */
static float head_qk_descale(const attend_run *self, size_t batch, size_t head)
{
    if (self->by_key)
        return 1.0f;
    const float q = token_descale(self, 0, batch, head, 0);
    return q * token_descale(self, 1, batch, head, 0);
}

static float head_v_descale(const attend_run *self, size_t batch, size_t head)
{
    if (self->prepared.v.descale != NULL && self->kernel->v_scale == PCAST_SCALE_BLOCK)
        return 1.0f;
    return token_descale(self, 2, batch, head, 0);
}

/* Constants of a head. Their checks are done before any thread starts. */
static pcast_status plan_head(const attend_run *self, size_t batch, size_t head, pcast_plan *plan,
                              pcast_error *err)
{
    const pcast_attend *attend = self->attend;
    const pcast_kernel *kernel = self->kernel;
    const size_t heads = self->shape.heads;
    pcast_head_scales scales = {.softmax_scale = self->softmax_scale,
                                .qk_descale = head_qk_descale(self, batch, head),
                                .v_descale = head_v_descale(self, batch, head),
                                .sink_given = kernel->sink_given,
                                .sink_logit = kernel->sink_logit};
    if (attend->learned_sink != NULL) {
        scales.sink_given = 1;
        scales.sink_logit = pcast_head_scalar(attend->learned_sink, heads, 0, head, head, heads);
    }
    pcast_kernel of_row = *kernel;
    if (self->prepared.v_channel != NULL)
        of_row.out_format = PCAST_OUTPUT_F32; /* finish_outputs rounds (step 9.4) */
    return pcast_plan_init(plan, &of_row, self->run->cpu, &scales, self->shape.dim, err);
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
    if (status == PCAST_OK)
        status = pcast_attend_codes_init(&space->codes, &space->plan, keys, self->shape.dim,
                                         value_dim, err);
    if (status != PCAST_OK)
        return status;
    space->parts = calloc(pcast_plan_splits(&space->plan, keys), sizeof *space->parts);
    space->k = calloc(keys, self->shape.dim * sizeof *space->k);
    space->v = pcast_alloc_lines(keys, value_dim * sizeof *space->v);
    space->exact_k = calloc(keys, self->shape.dim * sizeof *space->exact_k);
    space->exact_v = calloc(keys, value_dim * sizeof *space->exact_v);
    space->k_descale = calloc(keys, sizeof *space->k_descale);
    space->v_descale = calloc(self->shape.blocks + 1, sizeof *space->v_descale);
    space->products = calloc(keys, sizeof *space->products);
    space->scores = calloc(keys, sizeof *space->scores);
    space->kernel_scores = calloc(keys, sizeof *space->kernel_scores);
    space->reference = calloc(2 * value_dim, sizeof *space->reference);
    space->is_sink = calloc(space->plan.kernel.block, sizeof *space->is_sink);
    if (space->parts == NULL || space->k == NULL || space->v == NULL || space->exact_k == NULL ||
        space->exact_v == NULL || space->k_descale == NULL || space->v_descale == NULL ||
        space->products == NULL || space->scores == NULL || space->kernel_scores == NULL ||
        space->reference == NULL || space->is_sink == NULL)
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

/* Where a row's query is and its results go. */
typedef struct row_place {
    const float *q, *exact_q;
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
    const float *exact = self->attend->q->data + offset;
    return (row_place){self->attend->prepare ? self->prepared.q.data + offset : exact, exact,
                       self->result->o + offset / self->shape.dim * self->shape.value_dim, row};
}

/* Largest error of the returned log-sum-exp, in nats. */
static double lse_error(const pcast_row *row, const pcast_reference *reference)
{
    const double exact = reference->max + pcast_log_f64(reference->l.value + reference->l.lost);
    const double unit = row->plan->kernel.lse == PCAST_LSE_BASE_2 ? 0.6931471805599453 : 1;
    return fabs((double)row->lse * unit - exact);
}

/* What K lost with its mean, back in the log-sum-exp: q . mean in the scores' unit. */
static float mean_correction(const attend_run *self, const workspace *space,
                             const pcast_attend_head *head, const float *exact_q)
{
    const size_t dim = self->shape.dim;
    const size_t kv_head = head->head / (self->shape.heads / self->shape.kv_heads);
    const float *mean =
        self->prepared.k_mean + (head->batch * self->shape.kv_heads + kv_head) * dim;
    const float scale = self->softmax_scale * (given_descale(self, 0, head->batch, head->head) *
                                               given_descale(self, 1, head->batch, head->head));
    const float nats = space->plan.engine->dot(exact_q, mean, dim) * scale;
    return self->kernel->lse == PCAST_LSE_BASE_2 ? nats * 1.44269502f : nats;
}

/* Q.K of the visible keys as the kernel accumulates it, rescaled where scales differ by key. */
static void row_products(const attend_run *self, workspace *space, const pcast_attend_head *head,
                         size_t query, const float *q, pcast_range visible)
{
    const size_t dim = self->shape.dim, first = visible.first;
    if (space->codes.qk)
        pcast_attend_codes_products(&space->codes, &space->plan, q, visible,
                                    space->products + first);
    else
        pcast_products(space->plan.engine, q, space->k + first * dim, visible.count, dim,
                       space->products + first);
    if (!self->by_key)
        return;
    const float s_q = token_descale(self, 0, head->batch, head->head, query);
    for (size_t j = first; j < first + visible.count; j++)
        space->products[j] = space->products[j] * (s_q * space->k_descale[j]);
}

/* The kernel's output of a query, and its log-sum-exp. */
static void finish_outputs(const attend_run *self, workspace *space, const pcast_attend_head *head,
                           const row_place *place)
{
    const size_t dim = self->shape.value_dim;
    const size_t kv_head = head->head / (self->shape.heads / self->shape.kv_heads);
    if (self->prepared.v_channel != NULL) {
        const float *by_channel =
            self->prepared.v_channel + (head->batch * self->shape.kv_heads + kv_head) * dim;
        for (size_t c = 0; c < dim; c++)
            space->row.o[c] = space->row.o[c] * by_channel[c];
        pcast_round_output(self->kernel->out_format, space->row.o, dim);
    }
    if (self->prepared.k_mean != NULL)
        space->row.lse =
            pcast_plain_nan(space->row.lse + mean_correction(self, space, head, place->exact_q));
    memcpy(place->o, space->row.o, dim * sizeof *place->o);
    self->result->lse[place->row] = space->row.lse;
}

/* Exact attention of the inputs as they were given. */
static void run_reference(const attend_run *self, workspace *space, const pcast_attend_head *head,
                          const float *exact_q, pcast_range visible, pcast_reference *reference)
{
    const pcast_plan *plan = &space->plan;
    const size_t dim = self->shape.dim, value_dim = self->shape.value_dim, first = visible.first;
    const float scale = self->softmax_scale * (given_descale(self, 0, head->batch, head->head) *
                                               given_descale(self, 1, head->batch, head->head));
    const float *k = self->attend->prepare ? space->exact_k : space->k;
    if (self->attend->prepare || space->codes.qk)
        pcast_products(plan->engine, exact_q, k + first * dim, visible.count, dim,
                       space->products + first);
    pcast_scores(space->products + first, visible.count, scale, plan->kernel.softcap,
                 space->scores + first);
    pcast_reference_row(reference, self->units.engine, space->scores + first,
                        (self->attend->prepare ? space->exact_v : space->v) + first * value_dim,
                        visible.count, plan->sink_given ? &plan->sink_nats : NULL, space->reference,
                        value_dim);
    const double v_descale = (double)given_descale(self, 2, head->batch, head->head);
    for (size_t c = 0; c < value_dim; c++)
        reference->o[c] *= v_descale;
}

static void run_query(const attend_run *self, workspace *space, pcast_attend_head *head,
                      size_t query, pcast_tally *tally)
{
    const pcast_plan *plan = &space->plan;
    const size_t queries = head->queries, keys = head->keys;
    const row_place place = place_row(self, head->batch, head->head, query);
    const pcast_range visible = pcast_visible_keys(&plan->kernel, queries, keys, query);
    const pcast_row_keys row_keys = {keys, visible,
                                     pcast_visited_keys(&plan->kernel, queries, keys, query)};
    const size_t first = visible.first;
    row_products(self, space, head, query, place.q, visible);

    observation seen = {.is_sink = space->is_sink, .result = self->result, .row = place.row};
    pcast_loss_start(&seen.meter, &self->units, space->parts, space->row.split_max);
    const float *scores = pcast_plan_scores(plan, space->products + first, visible.count,
                                            space->kernel_scores + first);
    pcast_row_run(&space->row, &row_keys, scores - first,
                  (pcast_values){space->v, plan->by_machine ? space->codes.v : NULL}, observe,
                  &seen, &space->scratch);
    finish_outputs(self, space, head, &place);
    if (visible.count == 0) {
        head->empty_rows++;
        return;
    }
    pcast_reference reference;
    run_reference(self, space, head, place.exact_q, visible, &reference);
    const pcast_loss loss = pcast_loss_finish(&seen.meter, &space->row, reference.o);
    pcast_tally_add(tally, &loss);
    head->lse_error = pcast_larger(head->lse_error, lse_error(&space->row, &reference));
}

/* K, V and their descales of the head that reads them. */
static void load_head(const attend_run *self, workspace *space, const pcast_attend_head *head)
{
    const pcast_attend *attend = self->attend;
    const size_t batch = head->batch, keys = head->keys, block = space->plan.kernel.block;
    const size_t kv_head = head->head / (self->shape.heads / self->shape.kv_heads);
    const float *k = attend->prepare ? self->prepared.k.data : attend->k->data;
    const float *v = attend->prepare ? self->prepared.v.data : attend->v->data;
    gather(space->k, k, &self->k, attend->k_starts, batch, kv_head, keys);
    gather(space->v, v, &self->v, attend->k_starts, batch, kv_head, keys);
    pcast_attend_codes_load(&space->codes, &space->plan, space->k, space->v, keys,
                            self->shape.value_dim);
    if (!attend->prepare)
        return;
    gather(space->exact_k, attend->k->data, &self->k, attend->k_starts, batch, kv_head, keys);
    gather(space->exact_v, attend->v->data, &self->v, attend->k_starts, batch, kv_head, keys);
    for (size_t j = 0; self->by_key && j < keys; j++)
        space->k_descale[j] = token_descale(self, 1, batch, head->head, j);
    const int by_block =
        self->prepared.v.descale != NULL && self->kernel->v_scale == PCAST_SCALE_BLOCK;
    for (size_t b = 0; by_block && b * block < keys; b++)
        space->v_descale[b] = token_descale(self, 2, batch, head->head, b * block);
    space->row.v_descale = by_block ? space->v_descale : NULL;
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
    plan_head(self, batch, head->head, &space->plan, NULL);
    load_head(self, space, head);
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

/* A tensor core multiplies nothing but codes. */
static pcast_status check_codes(const attend_run *self, const pcast_attend_codes *codes,
                                pcast_error *err)
{
    if (codes->inexact == 0)
        return PCAST_OK;
    char format[16];
    pcast_kernel_get(self->kernel, PCAST_FIELD_QKV, format, sizeof format);
    return pcast_fail(err, PCAST_ERR_INPUT,
                      "%s: holds numbers that are not of qkv=%s, which hardware semantics "
                      "multiplies: store FP8, or quantise",
                      codes->inexact == PCAST_STAGE_Q   ? "q"
                      : codes->inexact == PCAST_STAGE_K ? "k"
                                                        : "v",
                      format);
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
    if (attend->prepare)
        status = pcast_prepare(attend, self.kernel, &self.prepared, err);
    if (status != PCAST_OK)
        return status;
    self.by_key = (self.prepared.q.descale != NULL && self.kernel->q_scale > PCAST_SCALE_HEAD) ||
                  (self.prepared.k.descale != NULL && self.kernel->k_scale > PCAST_SCALE_HEAD);
    const size_t count = self.shape.batch * self.shape.heads;
    const size_t threads = (size_t)pcast_thread_count(run, count);
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    if (self.softmax_scale == 0)
        self.softmax_scale = pcast_default_softmax_scale(self.shape.dim);
    pcast_loss_units_init(&self.units, self.kernel, run->cpu);
    self.workspaces = calloc(threads, sizeof *self.workspaces);
    if (self.workspaces == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu threads", threads);
    if (status == PCAST_OK)
        status = check_plans(&self, err);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = workspace_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        pcast_parallel(run, (int)threads, 0, count, count, run_head, &self);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = check_codes(&self, &self.workspaces[t].codes, err);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        workspace_free(&self.workspaces[t]);
    free(self.workspaces);
    pcast_prepared_free(&self.prepared);
    return status;
}
