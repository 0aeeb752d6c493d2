/* SPDX-License-Identifier: MIT */
/* One reading of a declaration: what a row's bounds are worked out from. */
#ifndef PCAST_GOLDEN_READING_H
#define PCAST_GOLDEN_READING_H

#include "pcast/golden.h"

/* An interval of real numbers. */
typedef struct pcast_span {
    double low, high;
} pcast_span;

static inline pcast_span pcast_span_add(pcast_span a, pcast_span b)
{
    return (pcast_span){a.low + b.low, a.high + b.high};
}

static inline pcast_span pcast_span_hull(pcast_span a, pcast_span b)
{
    return (pcast_span){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* x times a factor of either sign. */
static inline pcast_span pcast_span_times(pcast_span x, double factor)
{
    return factor >= 0 ? (pcast_span){x.low * factor, x.high * factor}
                       : (pcast_span){x.high * factor, x.low * factor};
}

/* x times what is at least 0. */
static inline pcast_span pcast_span_multiply(pcast_span x, pcast_span by)
{
    return (pcast_span){x.low * (x.low < 0 ? by.high : by.low),
                        x.high * (x.high < 0 ? by.low : by.high)};
}

/* Both ends moved apart by `error`. */
static inline pcast_span pcast_span_widen(pcast_span x, double error)
{
    return (pcast_span){x.low - error, x.high + error};
}

/* What the accumulator of P.V may be. */
typedef enum pcast_summation {
    PCAST_SUMMATION_FP32,    /* in any order, promoted or not */
    PCAST_SUMMATION_MACHINE, /* the kernel's machine, bit for bit */
    PCAST_SUMMATION_EITHER,  /* FP32 or that machine */
    PCAST_SUMMATION_ANY,     /* of 14 bits or more, or FP16 promoted after at most 64 keys */
    PCAST_SUMMATION_FP16,    /* of 11 bits, machine not known */
} pcast_summation;

typedef struct pcast_reading {
    pcast_kernel kernel; /* with the problem's mask; block resolved */
    pcast_slip slip;
    int64_t mask_shift;
    int free_walk;     /* blocks may be visited in any order and grouping */
    int any_scale;     /* S from 1 to 448 (the format's largest number) */
    int any_sum;       /* the row sum may hold P or its cast */
    int any_lse;       /* base e or 2 */
    int any_empty_max; /* how a tile without a visible key is guarded */
    int any_sentinel;  /* the mask value */
    int any_masked_row;
    int any_overflow;        /* of the cast: saturating or NaN */
    int any_unit;            /* in which scores and masks are kept */
    int normalises;          /* in a free walk: P is normalised before the cast */
    int may_start_with_sink; /* a learned sink may be the initial maximum */
    double lag;              /* nats by which the maximum may lag */
    double exp_error;        /* relative, of the exponential unit */
    double partial_error;    /* relative, of a split's output */
    pcast_summation summation;
} pcast_reading;

/* Reading `index` of a declaration, under a fault (NULL: none), of heads of `dim` channels with the
 * problem's mask. PCAST_ERR_VALUE: invalid fields. */
pcast_status pcast_reading_of(const pcast_problem *problem, const pcast_declaration *declaration,
                              size_t index, const pcast_fault *fault, pcast_reading *reading,
                              pcast_error *err);

/* Does the declaration leave the walk over blocks open, beyond its order? */
int pcast_declaration_walks_freely(const pcast_declaration *declaration);

#endif
