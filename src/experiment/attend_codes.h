/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K and V of one head in the codes that a tensor core reads (docs/numerics.md, step 12.1). */
#ifndef PCAST_EXPERIMENT_ATTEND_CODES_H
#define PCAST_EXPERIMENT_ATTEND_CODES_H

#include "softmax/plan.h"
#include "softmax/walk.h"

typedef struct pcast_attend_codes {
    uint8_t *q;  /* [dim] of one query */
    uint8_t *k;  /* [dim][keys] */
    uint8_t *v;  /* [keys][value dim] */
    int qk;      /* a tensor core multiplies Q.K too */
    int inexact; /* 0, or PCAST_STAGE_Q, _K, _V: a number of that tensor has no code */
    size_t keys, dim;
} pcast_attend_codes;

/* Memory for heads of up to `keys` keys; none where no tensor core multiplies them. */
pcast_status pcast_attend_codes_init(pcast_attend_codes *codes, const pcast_plan *plan, size_t keys,
                                     size_t dim, size_t value_dim, pcast_error *err);
void pcast_attend_codes_free(pcast_attend_codes *codes);

/* A head's K [keys][dim] and V [keys][value dim]. */
void pcast_attend_codes_load(pcast_attend_codes *codes, const pcast_plan *plan, const float *k,
                             const float *v, size_t keys, size_t value_dim);

/* products[visible.count] of a query q [dim] with the keys that it sees. */
void pcast_attend_codes_products(pcast_attend_codes *codes, const pcast_plan *plan, const float *q,
                                 pcast_range visible, float *products);

#endif
