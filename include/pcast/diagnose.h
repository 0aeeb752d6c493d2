/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel does to a model's heads, why, and which order, S and tau would do least. */
#ifndef PCAST_DIAGNOSE_H
#define PCAST_DIAGNOSE_H

#include "pcast/experiment.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One point of the search: the kernel with these fields changed. */
typedef struct pcast_candidate {
    pcast_order order;
    float scale;
    float tau; /* rescale_threshold in log2 units */
} pcast_candidate;

/* The search: both orders, S = 1, 2, 4, ..., 256 and 448, tau = 0, 0.75, 2, 4, 8; returns their
 * number and fills candidates (room for PCAST_CANDIDATES_MAX). Those whose S or tau the kernel
 * cannot have are left out. */
enum { PCAST_CANDIDATES_MAX = 128 };
size_t pcast_candidates(const pcast_kernel *kernel, pcast_candidate *candidates);

/* The kernel with a candidate's fields and its output in FP32, so that only the P-cast differs. */
pcast_kernel pcast_candidate_kernel(const pcast_kernel *kernel, const pcast_candidate *candidate);

/* What a head's scores look like. */
typedef struct pcast_head_shape {
    double score_sd;    /* of the other keys' scores within a query, nats */
    double lag_total;   /* mean over queries of (final maximum - first tile's), log2 units */
    double lag_largest; /* largest step of the running maximum from one tile to the next, log2 */
    double raising;     /* share of tiles after the first that raise the maximum */
    double underflow_normal; /* predicted: Phi((m - mean - D) / sd), mean over queries; forward */
    double underflow_shape;  /* the same with the head's own distribution instead of the normal */
    double saturated; /* predicted: keys whose p * S passes the largest code while the maximum of
                         the walk lags by up to tau, from the scores alone */
} pcast_head_shape;

/* Errors this close are taken for equal. */
#define PCAST_CHOICE_TIE 0.02

typedef struct pcast_choice {
    size_t best;     /* index of the recommended candidate */
    size_t ties;     /* candidates within 2 % of the least error, that one included */
    double error;    /* relative L2 error of the recommended candidate */
    double headroom; /* log2 of the largest code - log2 S - tau */
} pcast_choice;

typedef struct pcast_diagnosis {
    pcast_head head; /* sinks, gap, gap_sigma; head.sinks is the caller's array */
    pcast_head_shape shape;
    pcast_summary simulated; /* the kernel as it is */
    pcast_choice choice;
} pcast_diagnosis;

/* Fills diagnoses[heads] and, if not NULL, errors[heads][candidates], the relative L2 error of
 * each. run->kernels[0] is the kernel, the only one. Failures as pcast_heads_run. */
pcast_status pcast_diagnose(const pcast_heads *experiment, const pcast_run *run,
                            pcast_diagnosis *diagnoses, double *errors, pcast_error *err);

/* A candidate's relative error over the least of any in the same head; below FP32's rounding errors
 * count as equal. NaN for a NaN. */
double pcast_error_ratio(double error, double least);

/* The candidate whose error, relative to the best of each row, is least on average over rows of
 * errors[rows][candidates]: one setting for all. Of ties the one that is best on its worst row. */
pcast_choice pcast_choose(const pcast_kernel *kernel, const pcast_candidate *candidates,
                          size_t count, const double *errors, size_t rows);

#ifdef __cplusplus
}
#endif

#endif
