/* SPDX-License-Identifier: MIT */
/* Slips of arithmetic that a faulty kernel may make. */
#ifndef PCAST_SLIP_H
#define PCAST_SLIP_H

/* What a kernel gets wrong in its arithmetic, apart from what the kernel model can say. */
typedef enum pcast_slip {
    PCAST_SLIP_NONE,
    PCAST_SLIP_CAST_TRUNCATES,      /* the cast rounds toward zero */
    PCAST_SLIP_CAST_TWICE,          /* by way of bfloat16 */
    PCAST_SLIP_CAST_LOSES_TOP,      /* saturates at 240, one binade early */
    PCAST_SLIP_CAST_FLUSHES,        /* subnormal codes become zero */
    PCAST_SLIP_SUM_NOT_RESCALED,    /* the row sum misses the factor of a new maximum */
    PCAST_SLIP_OUTPUT_NOT_RESCALED, /* O misses it */
    PCAST_SLIP_SPLITS_UNWEIGHTED,   /* splits are averaged */
    PCAST_SLIP_SPLITS_FIRST,        /* the first split is all that counts */
    PCAST_SLIP_SPLITS_BY_SUM,       /* splits are weighted by their row sums, without maxima */
    PCAST_SLIP_MAX_STARTS_AT_ZERO,  /* the running maximum starts at 0 */
    PCAST_SLIP_MAX_STARTS_AT_ONE,   /* at 1 */
    PCAST_SLIP_TILE_ENDS_ROW,       /* a tile without a visible key ends the loop over tiles */
    PCAST_SLIP_MASKED_LSE_ZERO,     /* the log-sum-exp of a row without keys is 0 */
    PCAST_SLIP_SUM_OF_OTHER_SCALE,  /* P holds S, the row sum does not, and nothing undoes it */
} pcast_slip;

#endif
