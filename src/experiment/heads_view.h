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

/* A head in float32, for products. */
typedef struct pcast_head_keys {
    float *k; /* [keys][dim] */
    float *q; /* [dim] of one query */
} pcast_head_keys;

/* Room for a head; none where scores are given. PCAST_ERR_MEMORY. */
pcast_status pcast_head_keys_init(pcast_head_keys *keys, const pcast_heads *experiment,
                                  const pcast_heads_shape *shape, pcast_error *err);
void pcast_head_keys_free(pcast_head_keys *keys);
void pcast_head_keys_load(pcast_head_keys *keys, const pcast_heads *experiment,
                          const pcast_heads_shape *shape, size_t head);

/* V of a head, [keys][value dim]. */
void pcast_heads_values(const pcast_heads *experiment, const pcast_heads_shape *shape, size_t head,
                        float *v);

/* products[visible.count] of a head whose keys are loaded: Q.K of the keys that the query sees, or
 * their scores where these are given (the softmax scale is 1 then). */
void pcast_heads_products(const pcast_heads *experiment, const pcast_heads_shape *shape,
                          const pcast_engine *engine, pcast_head_keys *keys, size_t head,
                          size_t query, pcast_range visible, float *products);

#endif
