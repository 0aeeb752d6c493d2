/* SPDX-License-Identifier: MIT */
/* Splits of a row: their sums, their outputs, and what they merge to. */
#ifndef PCAST_GOLDEN_MERGE_H
#define PCAST_GOLDEN_MERGE_H

#include "golden/numerator.h"

/* Working memory for rows of up to `keys` keys. */
typedef struct pcast_merge_space {
    pcast_span *l, *weight; /* [splits] row sums; weights relative to the largest maximum */
    double *m;              /* [splits] */
    pcast_span *o, *sum;    /* [dim] of a split, over S; of all, weighted */
    double *magnitude;      /* [dim] */
    pcast_numerator_space numerators;
} pcast_merge_space;

pcast_status pcast_merge_space_init(pcast_merge_space *space, size_t keys, size_t splits,
                                    size_t dim, pcast_error *err);
void pcast_merge_space_free(pcast_merge_space *space);

/* Leaves O, before it is rounded to the output's type, in space->sum and the log-sum-exp in nats in
 * *lse; v [keys][dim]. PCAST_FIT_UNKNOWN: nothing can be said of O, nor of the log-sum-exp where it
 * is empty (low > high); PCAST_FIT_OVERFLOWS: O is infinite, with the sign of sum. */
pcast_fit pcast_merge(const pcast_reading *reading, const pcast_row_view *row,
                      const pcast_terms *terms, const float *v, double v_descale, size_t dim,
                      pcast_merge_space *space, pcast_span *lse);

/* Error of a log-sum-exp that is put together from maximum and logarithm. */
double pcast_lse_error(double max, double lse);

#endif
