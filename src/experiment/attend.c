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

/* A head of K or V, as it was given and as the kernel reads it. */
static void load_input(const pcast_attend_runner *self, int which, const pcast_attend_head *head,
                       float *exact, float *prepared)
{
    const pcast_input *input = &self->inputs[which];
    const size_t kv_head = pcast_attend_kv_head(self, head->head);
    if (!self->attend->prepare) {
        pcast_input_load(input, head->batch, kv_head, 0, head->keys, prepared);
        return;
    }
    pcast_input_load(input, head->batch, kv_head, 0, head->keys, exact);
    memcpy(prepared, exact, head->keys * input->view.dim * sizeof *prepared);
    pcast_input_prepare(input, head->batch, kv_head, 0, head->keys, prepared);
}

/* K, V and their descales of the head that reads them; the head before may have read the same. */
static void load_head(const pcast_attend_runner *self, pcast_attend_space *space,
                      const pcast_attend_head *head)
{
    const size_t batch = head->batch, keys = head->keys, block = space->plan.kernel.block;
    const size_t wanted = 1 + batch * self->shape.kv_heads + pcast_attend_kv_head(self, head->head);
    if (space->loaded == wanted)
        return;
    space->loaded = wanted;
    load_input(self, 1, head, space->exact_k, space->k);
    load_input(self, 2, head, space->exact_v, space->v);
    pcast_attend_codes_load(&space->codes, &space->plan, space->k, space->v, keys,
                            self->shape.value_dim);
    if (!self->attend->prepare)
        return;
    for (size_t j = 0; self->by_key && j < keys; j++)
        space->k_descale[j] = pcast_attend_token_descale(self, 1, batch, head->head, j);
    const int by_block =
        self->inputs[2].descale != NULL && self->kernel->v_scale == PCAST_SCALE_BLOCK;
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
    head->queries = pcast_input_tokens(&self->inputs[0], batch);
    head->keys = pcast_input_tokens(&self->inputs[1], batch);
    pcast_attend_plan(self, batch, head->head, &space->plan, NULL);
    load_head(self, space, head);
    pcast_tally tally = {0};
    const size_t step = attend->query_step > 1 ? attend->query_step : 1;
    for (size_t query = 0; query < head->queries; query += step)
        pcast_attend_query(self, space, head, query, &tally);
    if (self->run->device != NULL && space->status == PCAST_OK)
        space->status = pcast_attend_on_device(self, space, head, &space->error);
    if (!attend->outputs_only)
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
    if (run->device != NULL && (attend->prepare || attend->query_step > 1))
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "a device takes inputs as they are, and all queries");
    status = pcast_prepare(attend, self.kernel, &self.shape, self.inputs, err);
    if (status != PCAST_OK)
        return status;
    self.by_key = (self.inputs[0].descale != NULL && self.kernel->q_scale > PCAST_SCALE_HEAD) ||
                  (self.inputs[1].descale != NULL && self.kernel->k_scale > PCAST_SCALE_HEAD);
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
    for (size_t t = 0; status == PCAST_OK && t < threads; t++)
        if (self.workspaces[t].status != PCAST_OK)
            status =
                pcast_fail(err, self.workspaces[t].status, "%s", self.workspaces[t].error.text);
    pcast_fpenv_leave(&env);
    for (size_t t = 0; self.workspaces != NULL && t < threads; t++)
        pcast_attend_space_free(&self.workspaces[t]);
    free(self.workspaces);
    pcast_prepare_free(self.inputs);
    return status;
}
