/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of one thread of a run over heads. */
#include "experiment/attend_runner.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

void pcast_attend_space_free(pcast_attend_space *space)
{
    pcast_row_free(&space->row);
    pcast_row_scratch_free(&space->scratch);
    free(space->parts);
    free(space->k);
    free(space->v);
    free(space->exact_k);
    free(space->exact_v);
    free(space->q);
    free(space->exact_q);
    free(space->k_descale);
    free(space->v_descale);
    free(space->products);
    free(space->scores);
    free(space->kernel_scores);
    free(space->reference);
    free(space->is_sink);
    pcast_attend_codes_free(&space->codes);
}

pcast_status pcast_attend_space_init(pcast_attend_space *space, const pcast_attend_runner *self,
                                     pcast_error *err)
{
    const size_t keys = self->shape.max_keys > 0 ? self->shape.max_keys : 1;
    const size_t value_dim = self->shape.value_dim;
    pcast_status status = pcast_attend_plan(self, 0, 0, &space->plan, err);
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
    const size_t exact_keys = self->attend->prepare ? keys : 1;
    space->exact_k = calloc(exact_keys, self->shape.dim * sizeof *space->exact_k);
    space->exact_v = calloc(exact_keys, value_dim * sizeof *space->exact_v);
    space->q = calloc(self->shape.dim, sizeof *space->q);
    space->exact_q = calloc(self->shape.dim, sizeof *space->exact_q);
    space->k_descale = calloc(keys, sizeof *space->k_descale);
    space->v_descale = calloc(self->shape.blocks + 1, sizeof *space->v_descale);
    space->products = calloc(keys, sizeof *space->products);
    space->scores = calloc(keys, sizeof *space->scores);
    space->kernel_scores = calloc(keys, sizeof *space->kernel_scores);
    space->reference = calloc(2 * value_dim, sizeof *space->reference);
    space->is_sink = calloc(space->plan.kernel.block, sizeof *space->is_sink);
    if (space->parts == NULL || space->k == NULL || space->v == NULL || space->exact_k == NULL ||
        space->exact_v == NULL || space->q == NULL || space->exact_q == NULL ||
        space->k_descale == NULL || space->v_descale == NULL || space->products == NULL ||
        space->scores == NULL || space->kernel_scores == NULL || space->reference == NULL ||
        space->is_sink == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for heads of %zu keys", keys);
    return PCAST_OK;
}
