/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shape and products of heads, from Q and K or from their scores. */
#include "experiment/heads_view.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "softmax/scores.h"

#include <string.h>

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

void pcast_heads_products(const pcast_heads *experiment, const pcast_heads_shape *shape,
                          const pcast_engine *engine, size_t head, size_t query,
                          pcast_range visible, float *products)
{
    const size_t row = head * shape->queries + query;
    if (experiment->scores != NULL) {
        memcpy(products, experiment->scores->data + row * shape->keys + visible.first,
               visible.count * sizeof *products);
        return;
    }
    const size_t first_key = head / shape->group * shape->keys + visible.first;
    pcast_products(engine, experiment->q->data + row * shape->dim,
                   experiment->k->data + first_key * shape->dim, visible.count, shape->dim,
                   products);
}
