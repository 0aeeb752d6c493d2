/* SPDX-License-Identifier: MIT */
/* P.V of a split for every accumulator that a kernel may have. */
#ifndef PCAST_GOLDEN_NUMERATOR_H
#define PCAST_GOLDEN_NUMERATOR_H

#include "golden/terms.h"

/* Working memory of pcast_numerators. */
typedef struct pcast_numerator_space {
    uint8_t *p, *v;  /* codes: [keys], [keys][dim] */
    float *o, *tile; /* [dim] */
} pcast_numerator_space;

pcast_status pcast_numerator_space_init(pcast_numerator_space *space, size_t keys, size_t dim,
                                        pcast_error *err);
void pcast_numerator_space_free(pcast_numerator_space *space);

/* Does FP16 hold the sums? */
typedef enum pcast_fit {
    PCAST_FIT_FITS,
    PCAST_FIT_OVERFLOWS, /* infinity of its sign in every channel */
    PCAST_FIT_EMPTY,     /* all P are zero: O is 0 or NaN */
    PCAST_FIT_UNKNOWN,   /* it may have overflowed: nothing can be said */
} pcast_fit;

/* out[c]: what the accumulator of split `number` holds at its end, over S, and the sum of
 * its terms' absolute values; v [keys][dim]. */
pcast_fit pcast_numerators(const pcast_reading *reading, const pcast_row_view *row,
                           const pcast_terms *terms, size_t number, const float *v, size_t dim,
                           pcast_numerator_space *space, pcast_span *out, double *magnitude);

/* What a tensor core that sums the casts against ones may cut off the row sum, over S. */
double pcast_row_sum_cut(const pcast_reading *reading, const pcast_row_view *row,
                         const pcast_terms *terms, size_t number);

#endif
