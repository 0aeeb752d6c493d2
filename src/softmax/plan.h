/* SPDX-License-Identifier: MIT */
/* A kernel made ready to run: its constants for one head, worked out once (docs/numerics.md,
 * section 4.0). */
#ifndef PCAST_SOFTMAX_PLAN_H
#define PCAST_SOFTMAX_PLAN_H

#include "pcast/kernel.h"
#include "pcast/softmax.h"
#include "pcast/tensor_core.h"
#include "softmax/engine.h"

typedef struct pcast_plan {
    pcast_kernel kernel; /* with its block resolved, and units as its semantics has them */
    const pcast_engine *engine;
    pcast_cpu cpu;   /* level of the casts */
    int reads_codes; /* the kernel reads V, and Q and K, in codes of v_format */
    int by_machine;  /* a tensor core multiplies them: reads_codes, and core says which */
    pcast_format v_format;
    pcast_tensor_core core; /* P by V */
    float score_scale;      /* softmax scale and descales of Q and K in one */
    int base2;              /* the exponential is exp2 */
    float c;                /* base 2: what multiplies a score in the exponent */
    float offset;           /* log2 S or ln S where S is in the exponent, else 0 */
    float after;            /* S where it multiplies after the exponential, else 1 */
    float inside;           /* S where the row sum contains it, else 1 */
    float lag_factor;       /* from a difference of scores to the threshold's unit */
    float mask_value;       /* in the unit of the row's scores, as all below */
    float initial_max;      /* of every split */
    int sink_given;
    float sink_nats, sink_score;
    float v_descale;
    float value[256];   /* of the codes of an 8-bit P */
    float v_value[256]; /* of the codes of V, where the kernel reads them */
} pcast_plan;

/* The scale of scores as the kernel reads them: PCAST_ERR_VALUE where softmax_scale or a descale is
 * not positive and finite (v_descale: finite), the partition does not fit a block from a table, or
 * a sink is given to a kernel that knows none. The kernel must be valid. */
pcast_status pcast_plan_init(pcast_plan *plan, const pcast_kernel *kernel, pcast_cpu cpu,
                             const pcast_head_scales *scales, size_t dim, pcast_error *err);

/* Q.K products as the scores the row works on: scaled, soft-capped, or as they are (step 4.0).
 * Returns `scores` filled, or `products` where nothing changes. */
const float *pcast_plan_scores(const pcast_plan *plan, const float *products, size_t count,
                               float *scores);

/* V as the kernel reads it, where reads_codes: codes[count], and their values into rounded[count]
 * if that is not NULL. Returns 0 if a value was no number of the format. */
int pcast_plan_codes(const pcast_plan *plan, const float *values, size_t count, uint8_t *codes,
                     float *rounded);

/* Do rows under both plans, on the same scores, have the same maxima, factors and P before S? */
int pcast_plan_same_front(const pcast_plan *a, const pcast_plan *b);

/* Where that is so: the same row sum too? */
int pcast_plan_same_sum(const pcast_plan *a, const pcast_plan *b);

/* Number of splits of a row whose visited blocks hold `keys` keys in all. */
size_t pcast_plan_splits(const pcast_plan *plan, size_t keys);

#endif
