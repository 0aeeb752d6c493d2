/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One kernel on every query of every head of every sequence. A (sequence, head) is one piece of
 * work. */
#include "pcast/attend.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/attend_runner.h"
#include "experiment/parallel.h"
#include "softmax/scores.h"

#include <stdlib.h>
#include <string.h>

/* Copies tokens of one head next to each other. */
static void gather(float *to, const float *from, const pcast_view *view, const size_t *starts,
                   size_t batch, size_t head, size_t count)
{
    const size_t first = pcast_sequence_of(view, starts, batch).first;
    for (size_t t = 0; t < count; t++)
        memcpy(to + t * view->dim, from + pcast_view_offset(view, starts, batch, head, first + t),
               view->dim * sizeof *to);
}

/* K, V and their descales of the head that reads them. */
static void load_head(const pcast_attend_runner *self, pcast_attend_space *space,
                      const pcast_attend_head *head)
{
    const pcast_attend *attend = self->attend;
    const size_t batch = head->batch, keys = head->keys, block = space->plan.kernel.block;
    const size_t kv_head = pcast_attend_kv_head(self, head->head);
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
        space->k_descale[j] = pcast_attend_token_descale(self, 1, batch, head->head, j);
    const int by_block =
        self->prepared.v.descale != NULL && self->kernel->v_scale == PCAST_SCALE_BLOCK;
    for (size_t b = 0; by_block && b * block < keys; b++)
        space->v_descale[b] = pcast_attend_token_descale(self, 2, batch, head->head, b * block);
    space->row.v_descale = by_block ? space->v_descale : NULL;
}

static void run_head(void *context, int thread, size_t index)
{
    const pcast_attend_runner *self = context;
    const pcast_attend *attend = self->attend;
    pcast_attend_space *space = &self->workspaces[thread];
    pcast_attend_head *head = &self->result->heads[index];
    const size_t batch = index / self->shape.heads;
    *head = (pcast_attend_head){.batch = batch, .head = index % self->shape.heads};
    head->queries = pcast_sequence_of(&self->q, attend->q_starts, batch).count;
    head->keys = attend->kv_lengths != NULL
                     ? attend->kv_lengths[batch]
                     : pcast_sequence_of(&self->k, attend->k_starts, batch).count;
    pcast_attend_plan(self, batch, head->head, &space->plan, NULL);
    load_head(self, space, head);
    pcast_tally tally = {0};
    for (size_t query = 0; query < head->queries; query++)
        pcast_attend_query(self, space, head, query, &tally);
    head->summary = pcast_tally_summary(&tally);
}

/* A tensor core multiplies nothing but codes. */
static pcast_status check_codes(const pcast_attend_runner *self, const pcast_attend_codes *codes,
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
    pcast_attend_runner self = {.attend = attend,
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
        status = pcast_attend_check_plans(&self, err);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = pcast_attend_space_init(&self.workspaces[t], &self, err);
    if (status == PCAST_OK)
        pcast_parallel(run, (int)threads, 0, count, count, run_head, &self);
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        status = check_codes(&self, &self.workspaces[t].codes, err);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        pcast_attend_space_free(&self.workspaces[t]);
    free(self.workspaces);
    pcast_prepared_free(&self.prepared);
    return status;
}
