/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tensors of a run over heads hold, whether scores come from Q and K or as they are. */
#ifndef PCAST_EXPERIMENT_HEADS_VIEW_H
#define PCAST_EXPERIMENT_HEADS_VIEW_H

#include "pcast/experiment.h"
#include "softmax/engine.h"
#include "softmax/walk.h"

typedef struct pcast_heads_shape {
    size_t heads, queries, keys;
    size_t dim, value_dim; /* of a head, and of V */
    size_t group;          /* query heads for one KV head */
    float softmax_scale;   /* from products to scores */
} pcast_heads_shape;

/* Of tensors whose ranks have been checked. */
pcast_heads_shape pcast_heads_shape_of(const pcast_heads *experiment);

/* products[visible.count]: Q.K of the keys that the query sees, or their scores where these are
 * given (the softmax scale is 1 then). */
void pcast_heads_products(const pcast_heads *experiment, const pcast_heads_shape *shape,
                          const pcast_engine *engine, size_t head, size_t query,
                          pcast_range visible, float *products);

#endif
