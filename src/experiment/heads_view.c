/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shape and products of heads, from Q and K or from their scores. */
#include "experiment/heads_view.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/memory.h"
#include "softmax/scores.h"

#include <stdlib.h>

static float softmax_scale_of(const pcast_heads *experiment)
{
    if (experiment->scores != NULL)
        return 1.0f;
    if (experiment->softmax_scale != 0)
        return experiment->softmax_scale;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const float scale = pcast_default_softmax_scale(experiment->q->shape[2]);
    pcast_fpenv_leave(&env);
    return scale;
}

pcast_heads_shape pcast_heads_shape_of(const pcast_heads *experiment)
{
    const pcast_tensor *rows = experiment->scores != NULL ? experiment->scores : experiment->q;
    const pcast_tensor *v = experiment->v;
    return (pcast_heads_shape){
        .heads = rows->shape[0],
        .queries = rows->shape[1],
        .keys = v->shape[1],
        .dim = experiment->scores != NULL ? v->shape[2] : rows->shape[2],
        .value_dim = v->shape[2],
        .group = rows->shape[0] / v->shape[0],
        .softmax_scale = softmax_scale_of(experiment),
    };
}

pcast_status pcast_head_keys_init(pcast_head_keys *keys, const pcast_heads *experiment,
                                  const pcast_heads_shape *shape, pcast_error *err)
{
    *keys = (pcast_head_keys){0};
    if (experiment->scores != NULL)
        return PCAST_OK;
    keys->k = pcast_alloc_lines(shape->keys, shape->dim * sizeof *keys->k);
    keys->q = malloc(shape->dim * sizeof *keys->q);
    if (keys->k == NULL || keys->q == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a head of %zu keys",
                          shape->keys);
    return PCAST_OK;
}

void pcast_head_keys_free(pcast_head_keys *keys)
{
    free(keys->k);
    free(keys->q);
    *keys = (pcast_head_keys){0};
}

void pcast_head_keys_load(pcast_head_keys *keys, const pcast_heads *experiment,
                          const pcast_heads_shape *shape, size_t head)
{
    const size_t size = shape->keys * shape->dim;
    if (experiment->scores == NULL)
        pcast_tensor_get(experiment->k, head / shape->group * size, size, keys->k);
}

void pcast_heads_values(const pcast_heads *experiment, const pcast_heads_shape *shape, size_t head,
                        float *v)
{
    const size_t size = shape->keys * shape->value_dim;
    pcast_tensor_get(experiment->v, head / shape->group * size, size, v);
}

void pcast_heads_products(const pcast_heads *experiment, const pcast_heads_shape *shape,
                          const pcast_engine *engine, pcast_head_keys *keys, size_t head,
                          size_t query, pcast_range visible, float *products)
{
    const size_t row = head * shape->queries + query;
    if (experiment->scores != NULL) {
        pcast_tensor_get(experiment->scores, row * shape->keys + visible.first, visible.count,
                         products);
        return;
    }
    pcast_tensor_get(experiment->q, row * shape->dim, shape->dim, keys->q);
    pcast_products(engine, keys->q, keys->k + visible.first * shape->dim, visible.count, shape->dim,
                   products);
}
