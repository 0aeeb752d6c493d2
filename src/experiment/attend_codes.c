/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encoding a head once, K with its channels in rows as the tensor core's second operand. */
#include "experiment/attend_codes.h"

#include "base/bits.h"
#include "base/error.h"
#include "pcast/attend.h"

#include <stdlib.h>

pcast_status pcast_attend_codes_init(pcast_attend_codes *codes, const pcast_plan *plan, size_t keys,
                                     size_t dim, size_t value_dim, pcast_error *err)
{
    *codes = (pcast_attend_codes){.dim = dim};
    if (!plan->by_machine)
        return PCAST_OK;
    codes->qk = plan->kernel.accumulator == PCAST_ACCUMULATOR_TENSOR_CORE &&
                plan->kernel.qkv != PCAST_QKV_INT8;
    codes->v = malloc(keys * value_dim);
    codes->q = malloc(dim);
    codes->k = malloc(codes->qk ? keys * dim : 1);
    if (codes->v != NULL && codes->q != NULL && codes->k != NULL)
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for codes of %zu keys", keys);
}

void pcast_attend_codes_free(pcast_attend_codes *codes)
{
    free(codes->q);
    free(codes->k);
    free(codes->v);
    *codes = (pcast_attend_codes){0};
}

void pcast_attend_codes_load(pcast_attend_codes *codes, const pcast_plan *plan, const float *k,
                             const float *v, size_t keys, size_t value_dim)
{
    if (!plan->by_machine)
        return;
    codes->keys = keys;
    if (!pcast_plan_codes(plan, v, keys * value_dim, codes->v, NULL))
        codes->inexact = PCAST_STAGE_V;
    if (!codes->qk)
        return;
    for (size_t j = 0; j < keys; j++) {
        uint8_t *row = codes->q; /* the first query comes later */
        if (!pcast_plan_codes(plan, k + j * codes->dim, codes->dim, row, NULL))
            codes->inexact = PCAST_STAGE_K;
        for (size_t c = 0; c < codes->dim; c++)
            codes->k[c * keys + j] = row[c];
    }
}

void pcast_attend_codes_products(pcast_attend_codes *codes, const pcast_plan *plan, const float *q,
                                 pcast_range visible, float *products)
{
    pcast_tensor_core core = plan->core;
    core.a = core.b = plan->v_format;
    if (!pcast_plan_codes(plan, q, codes->dim, codes->q, NULL))
        codes->inexact = PCAST_STAGE_Q;
    for (size_t j = 0; j < visible.count; j++)
        products[j] = 0.0f;
    pcast_tensor_core_row(&core, codes->q, codes->k + visible.first, codes->dim, codes->keys,
                          visible.count, products);
}
