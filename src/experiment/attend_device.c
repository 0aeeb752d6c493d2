/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A head on a device: the strict kernel under FP32 semantics, the attention kernel under those of
 * the hardware. */
#include "experiment/attend_runner.h"

#include "base/error.h"
#include "cuda/attention.h"
#include "cuda/rows.h"

#include <stdlib.h>
#include <string.h>

/* What a device reads and writes of a head. */
typedef struct device_head {
    float *q, *o, *lse; /* [queries][dim], [queries][value dim], [queries] */
    uint8_t *codes[3];  /* of Q, K and V, where the kernel reads codes */
    pcast_row_keys *where;
} device_head;

static void device_head_free(device_head *own)
{
    free(own->q);
    free(own->o);
    free(own->lse);
    free(own->where);
    for (int i = 0; i < 3; i++)
        free(own->codes[i]);
}

static pcast_status device_head_init(device_head *own, const pcast_attend_runner *self,
                                     const pcast_attend_space *space, const pcast_attend_head *head,
                                     pcast_error *err)
{
    const size_t queries = head->queries, dim = self->shape.dim;
    const pcast_kernel *kernel = &space->plan.kernel;
    own->q = malloc((queries * dim + 1) * sizeof *own->q);
    own->o = malloc((queries * self->shape.value_dim + 1) * sizeof *own->o);
    own->lse = malloc((queries + 1) * sizeof *own->lse);
    own->where = malloc((queries + 1) * sizeof *own->where);
    if (own->q == NULL || own->o == NULL || own->lse == NULL || own->where == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu queries", queries);
    pcast_input_load(&self->inputs[0], head->batch, head->head, 0, queries, own->q);
    for (size_t query = 0; query < queries; query++)
        own->where[query] =
            (pcast_row_keys){head->keys, pcast_visible_keys(kernel, queries, head->keys, query),
                             pcast_visited_keys(kernel, queries, head->keys, query)};
    return PCAST_OK;
}

static pcast_status run_strict(const device_head *own, const pcast_attend_runner *self,
                               const pcast_attend_space *space, const pcast_attend_head *head,
                               pcast_error *err)
{
    const pcast_row_job job = {.plan = &space->plan,
                               .rows = (unsigned)head->queries,
                               .dim = (unsigned)self->shape.dim,
                               .value_dim = (unsigned)self->shape.value_dim,
                               .keys = head->keys,
                               .q = own->q,
                               .k = space->k,
                               .v = space->v,
                               .v_descale = space->row.v_descale,
                               .where = own->where,
                               .o = own->o,
                               .lse = own->lse,
                               .visit_max = pcast_row_job_visits(&space->plan, head->keys),
                               .split_max = pcast_plan_splits(&space->plan, head->keys)};
    return pcast_device_rows(self->run->device, &job, 1, err);
}

static pcast_status run_attention(device_head *own, const pcast_attend_runner *self,
                                  const pcast_attend_space *space, const pcast_attend_head *head,
                                  pcast_error *err)
{
    const size_t dim = self->shape.dim;
    const float *const given[] = {own->q, space->k, space->v};
    const size_t counts[] = {head->queries * dim, head->keys * dim, head->keys * dim};
    if (self->shape.value_dim != dim)
        return pcast_fail(err, PCAST_ERR_VALUE, "the attention kernel has one number of channels");
    for (int i = 0; i < 3; i++) {
        own->codes[i] = malloc(counts[i] + 1);
        if (own->codes[i] == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu codes", counts[i]);
        pcast_plan_codes(&space->plan, given[i], counts[i], own->codes[i], NULL);
    }
    const pcast_attention_job job = {.plan = &space->plan,
                                     .queries = (unsigned)head->queries,
                                     .dim = (unsigned)dim,
                                     .keys = head->keys,
                                     .q = own->codes[0],
                                     .k = own->codes[1],
                                     .v = own->codes[2],
                                     .where = own->where,
                                     .o = own->o,
                                     .lse = own->lse};
    return pcast_device_attention(self->run->device, &job, err);
}

pcast_status pcast_attend_on_device(const pcast_attend_runner *self, pcast_attend_space *space,
                                    const pcast_attend_head *head, pcast_error *err)
{
    const size_t value_dim = self->shape.value_dim;
    device_head own = {0};
    pcast_status status = device_head_init(&own, self, space, head, err);
    if (status == PCAST_OK)
        status = space->plan.kernel.semantics == PCAST_SEMANTICS_FP32
                     ? run_strict(&own, self, space, head, err)
                     : run_attention(&own, self, space, head, err);
    for (size_t query = 0; status == PCAST_OK && query < head->queries; query++) {
        const pcast_attend_place place =
            pcast_attend_place_of(self, head->batch, head->head, query);
        memcpy(place.o, own.o + query * value_dim, value_dim * sizeof *place.o);
        self->result->lse[place.row] = own.lse[query];
    }
    device_head_free(&own);
    return status;
}
