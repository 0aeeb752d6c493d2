/* SPDX-License-Identifier: MIT */
/* What each key of a row may weigh: its cast P in O and its P in the row sum, for every maximum
 * under which it may be cast and every rounding that a kernel may do. */
#ifndef PCAST_GOLDEN_TERMS_H
#define PCAST_GOLDEN_TERMS_H

#include "golden/reading.h"
#include "softmax/walk.h"

/* A query of a head. */
typedef struct pcast_row_view {
    size_t keys;                  /* valid ones */
    pcast_range visible, visited; /* those it sees, those its tiles cover */
    const double *z;              /* [keys] scores in nats, of visible keys */
    double unit;                  /* nats of a raw score of 1 */
    int sink_given;
    double sink; /* nats */
} pcast_row_view;

typedef struct pcast_term {
    size_t key, split;
    pcast_span n, d; /* weight in O, free of S, and in the row sum; relative to exp of split's m */
    double code;     /* value of the cast, S in it; NaN where roundings give several */
    int final;       /* cast under the split's final maximum */
    double top;      /* the largest of its codes' values */
} pcast_term;

typedef struct pcast_split_terms {
    double m;       /* final running maximum */
    size_t keys;    /* visible ones */
    int normalised; /* n are divided by the row sum already */
    size_t changes; /* at most so many factors on any term */
} pcast_split_terms;

typedef struct pcast_terms {
    size_t count;
    pcast_term *term; /* [count] visible keys, in the order of visits where that is known */
    size_t split_count;
    pcast_split_terms *split; /* [split_count] */
    int wild;                 /* nothing can be said */
    int nan;                  /* NaN is the answer */
    int or_nan;               /* or may be */
    int or_zero;              /* weights are all zero: O = 0, or 0/0 */
} pcast_terms;

/* PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_terms_of(const pcast_reading *reading, const pcast_row_view *row,
                            pcast_terms *terms, pcast_error *err);
void pcast_terms_free(pcast_terms *terms);

/* Relative error of a factor between maxima of this size, of its exponential and its product. */
double pcast_factor_error(const pcast_reading *reading, double nats);

#endif
