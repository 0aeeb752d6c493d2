/* SPDX-License-Identifier: MIT */
/* Two arrays of values compared bit by bit: where they differ, by how much, and how often. */
#ifndef PCAST_COMPARE_H
#define PCAST_COMPARE_H

#include "pcast/format.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of a format but f64, in float32. */
typedef struct pcast_values {
    pcast_format format;
    const float *data;
} pcast_values;

/* Stands for a distance where one of two values is NaN. */
#define PCAST_ULP_NAN UINT32_MAX

/* Bins 0, 1, 2, 3 to 4, 5 to 8, ...: bin n > 1 ends at 2^(n-1). */
enum { PCAST_ULP_BINS = 34 };

/* Two values at one place. */
typedef struct pcast_difference {
    size_t index;
    float a, b;
    uint32_t a_code, b_code; /* in the format of the comparison */
    uint32_t ulp;            /* 0: zeros of different sign */
} pcast_difference;

/* Two NaNs are equal whatever they carry. The distance of two values is the number of steps from
 * one to the next value of the format that lead from one to the other; infinity is the step after
 * the largest, and both zeros are one place. */
typedef struct pcast_comparison {
    pcast_format format;                            /* that codes and distances are of */
    size_t count, equal;                            /* count - equal elements are different */
    size_t both_nan;                                /* of the equal ones */
    size_t one_nan, zero_sign, ulp[PCAST_ULP_BINS]; /* count, by what a pair is; ulp[0]: equal */
    pcast_difference first;                         /* these three only where any are different; */
    pcast_difference largest_ulp, largest_abs;      /* these two not of a NaN, and ulp 0, abs 0 */
    double max_abs;                                 /* where no distance or difference is above 0 */
    double rel_l2; /* |A - B| / |B|, over elements finite in both; infinity where only B is 0 */
    double cosine; /* over the same; NaN where A or B is 0 */
    size_t top_count;
} pcast_comparison;

/* Compares count values in the narrower of the two formats if it holds all values of the other
 * array (either, of two different ones of one width), else in float32. Leaves in top the up to
 * top_capacity different elements that are furthest apart, one NaN first, then by falling distance,
 * of equal distances the first ones. */
void pcast_compare(pcast_values a, pcast_values b, size_t count, pcast_comparison *result,
                   pcast_difference *top, size_t top_capacity);

#ifdef __cplusplus
}
#endif

#endif
