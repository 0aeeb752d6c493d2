/* SPDX-License-Identifier: MIT */
/* Indexed random numbers: the draw at (seed, trial, stream, index) is a pure function of these four
 * numbers, so any part of an experiment can be drawn anywhere, in any order (docs/numerics.md,
 * section 1).
 *
 * Word `index` is word index mod 4 of the Philox4x32-10 block with key = seed and counter =
 * (trial, stream, index / 4 low, index / 4 high). The caller has entered base/fpenv.h. */
#ifndef PCAST_RANDOM_DRAWS_H
#define PCAST_RANDOM_DRAWS_H

#include "pcast/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* Streams in use. */
enum {
    PCAST_STREAM_SCORES = 0,
    PCAST_STREAM_VALUES = 1,
    PCAST_STREAM_SEEDS = 2,
    PCAST_STREAM_SIGNS = 3,
    PCAST_STREAM_INPUTS = 4,
    PCAST_STREAM_OUTLIERS = 5,
    PCAST_STREAM_OUTLIER_CHOICE = 6,
};

typedef struct pcast_stream {
    uint64_t seed;
    uint32_t trial;
    uint32_t stream;
} pcast_stream;

/* Words first .. first + count - 1. */
void pcast_draw_words(pcast_stream stream, uint64_t first, size_t count, uint32_t *out);

/* Standard normals first .. first + count - 1, one per word: inverse CDF of (word + 0.5) * 2^-32.
 * cpu is the highest level that may be used; the numbers do not depend on it. */
void pcast_draw_normals(pcast_stream stream, pcast_cpu cpu, uint64_t first, size_t count,
                        double *out);

/* Inverse CDF of the standard normal for 0 < u < 1, relative error about 1e-15: algorithm AS 241
 * (PPND16), M. J. Wichura, Applied Statistics 37 (1988) 477-484, in binary64 with the project's
 * log. */
double pcast_normal_quantile(double u);

#endif
