/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One query of a head: the kernel's row, exact attention, and what lies between. */
#include "experiment/attend_runner.h"

#include "base/bits.h"
#include "math/constants.h"
#include "math/math.h"
#include "measure/reference.h"
#include "softmax/epilogue.h"
#include "softmax/scores.h"

#include <math.h>
#include <string.h>

/* What the observer of a row needs. */
typedef struct observation {
    pcast_loss_meter meter;
    const uint8_t *is_sink;
    const pcast_attend_result *result;
    size_t row;
    int measured; /* the loss too */
} observation;

static void observe(void *context, const pcast_tile *tile)
{
    observation *seen = context;
    if (seen->measured)
        pcast_loss_tile(&seen->meter, tile, seen->is_sink);
    if (seen->result->observer != NULL)
        seen->result->observer(seen->result->observer_context, seen->row, tile);
}

pcast_attend_place pcast_attend_place_of(const pcast_attend_runner *self, size_t batch, size_t head,
                                         size_t query)
{
    const pcast_view *view = &self->inputs[0].view;
    const size_t *starts = self->attend->q_starts;
    const size_t token = pcast_sequence_of(view, starts, batch).first + query;
    const size_t offset = pcast_view_offset(view, starts, batch, head, token);
    const size_t row = starts != NULL
                           ? head * self->shape.rows + token
                           : (batch * self->shape.heads + head) * self->shape.queries + query;
    return (pcast_attend_place){self->result->o + offset / self->shape.dim * self->shape.value_dim,
                                row};
}

/* The query as it was given and as the kernel reads it. */
static void load_query(const pcast_attend_runner *self, pcast_attend_space *space,
                       const pcast_attend_head *head, size_t query)
{
    const pcast_input *input = &self->inputs[0];
    pcast_input_load(input, head->batch, head->head, query, 1, space->exact_q);
    memcpy(space->q, space->exact_q, self->shape.dim * sizeof *space->q);
    pcast_input_prepare(input, head->batch, head->head, query, 1, space->q);
}

/* Largest error of the returned log-sum-exp, in nats. */
static double lse_error(const pcast_row *row, const pcast_reference *reference)
{
    const double exact = reference->max + pcast_log_f64(reference->l.value + reference->l.lost);
    const double unit = row->plan->kernel.lse == PCAST_LSE_BASE_2 ? PCAST_LN2 : 1;
    return fabs((double)row->lse * unit - exact);
}

/* From products of Q and K as they were given to scores. */
static float given_scale(const pcast_attend_runner *self, const pcast_attend_head *head)
{
    return self->softmax_scale * (pcast_attend_given_descale(self, 0, head->batch, head->head) *
                                  pcast_attend_given_descale(self, 1, head->batch, head->head));
}

/* What K lost with its mean, back in the log-sum-exp: q . mean in the scores' unit. */
static float mean_correction(const pcast_attend_runner *self, const pcast_attend_space *space,
                             const pcast_attend_head *head)
{
    const size_t dim = self->shape.dim;
    const size_t kv_head = pcast_attend_kv_head(self, head->head);
    const float *mean = self->inputs[1].mean + (head->batch * self->shape.kv_heads + kv_head) * dim;
    const float scale = given_scale(self, head);
    const float nats = space->plan.engine->dot(space->exact_q, mean, dim) * scale;
    return self->kernel->lse == PCAST_LSE_BASE_2 ? nats * PCAST_LOG2_E_F32 : nats;
}

/* Q.K of the visible keys as the kernel accumulates it, rescaled where scales differ by key. */
static void row_products(const pcast_attend_runner *self, pcast_attend_space *space,
                         const pcast_attend_head *head, size_t query, pcast_range visible)
{
    const size_t dim = self->shape.dim, first = visible.first;
    if (space->codes.qk)
        pcast_attend_codes_products(&space->codes, &space->plan, space->q, visible,
                                    space->products + first);
    else
        pcast_products(space->plan.engine, space->q, space->k + first * dim, visible.count, dim,
                       space->products + first);
    if (!self->by_key)
        return;
    const float s_q = pcast_attend_token_descale(self, 0, head->batch, head->head, query);
    for (size_t j = first; j < first + visible.count; j++)
        space->products[j] = space->products[j] * (s_q * space->k_descale[j]);
}

/* The kernel's output of a query, and its log-sum-exp. */
static void finish_outputs(const pcast_attend_runner *self, pcast_attend_space *space,
                           const pcast_attend_head *head, const pcast_attend_place *place)
{
    const size_t dim = self->shape.value_dim;
    const size_t kv_head = pcast_attend_kv_head(self, head->head);
    if (self->inputs[2].channel != NULL) {
        const float *by_channel =
            self->inputs[2].channel + (head->batch * self->shape.kv_heads + kv_head) * dim;
        for (size_t c = 0; c < dim; c++)
            space->row.o[c] = space->row.o[c] * by_channel[c];
        pcast_round_output(self->kernel->out_format, space->row.o, dim);
    }
    if (self->inputs[1].mean != NULL)
        space->row.lse = pcast_plain_nan(space->row.lse + mean_correction(self, space, head));
    memcpy(place->o, space->row.o, dim * sizeof *place->o);
    self->result->lse[place->row] = space->row.lse;
}

/* Exact attention of the inputs as they were given. */
static void run_reference(const pcast_attend_runner *self, pcast_attend_space *space,
                          const pcast_attend_head *head, pcast_range visible,
                          pcast_reference *reference)
{
    const pcast_plan *plan = &space->plan;
    const size_t dim = self->shape.dim, value_dim = self->shape.value_dim, first = visible.first;
    const float scale = given_scale(self, head);
    const float *k = self->attend->prepare ? space->exact_k : space->k;
    if (self->attend->prepare || space->codes.qk)
        pcast_products(plan->engine, space->exact_q, k + first * dim, visible.count, dim,
                       space->products + first);
    pcast_scores(space->products + first, visible.count, scale, plan->kernel.softcap,
                 space->scores + first);
    pcast_reference_row(reference, self->units.engine, space->scores + first,
                        (self->attend->prepare ? space->exact_v : space->v) + first * value_dim,
                        visible.count, plan->sink_given ? &plan->sink_nats : NULL, space->reference,
                        value_dim);
    const double v_descale = (double)pcast_attend_given_descale(self, 2, head->batch, head->head);
    for (size_t c = 0; c < value_dim; c++)
        reference->o[c] *= v_descale;
}

void pcast_attend_query(const pcast_attend_runner *self, pcast_attend_space *space,
                        pcast_attend_head *head, size_t query, pcast_tally *tally)
{
    const pcast_plan *plan = &space->plan;
    const size_t queries = head->queries, keys = head->keys;
    const pcast_attend_place place = pcast_attend_place_of(self, head->batch, head->head, query);
    const pcast_range visible = pcast_visible_keys(&plan->kernel, queries, keys, query);
    const pcast_row_keys row_keys = {keys, visible,
                                     pcast_visited_keys(&plan->kernel, queries, keys, query)};
    const size_t first = visible.first;
    load_query(self, space, head, query);
    row_products(self, space, head, query, visible);

    const int outputs_only = self->attend->outputs_only;
    observation seen = {.is_sink = space->is_sink,
                        .result = self->result,
                        .row = place.row,
                        .measured = !outputs_only};
    if (!outputs_only)
        pcast_loss_start(&seen.meter, &self->units, space->parts, space->row.split_max);
    const float *scores = pcast_plan_scores(plan, space->products + first, visible.count,
                                            space->kernel_scores + first);
    pcast_row_run(&space->row, &row_keys, scores - first,
                  (pcast_values){space->v, plan->by_machine ? space->codes.v : NULL}, observe,
                  &seen, &space->scratch);
    finish_outputs(self, space, head, &place);
    head->empty_rows += visible.count == 0;
    if (visible.count == 0 || outputs_only)
        return;
    pcast_reference reference;
    run_reference(self, space, head, visible, &reference);
    const pcast_loss loss = pcast_loss_finish(&seen.meter, &space->row, reference.o);
    pcast_tally_add(tally, &loss);
    head->lse_error = pcast_larger(head->lse_error, lse_error(&space->row, &reference));
}
