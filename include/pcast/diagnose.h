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

/* The search: both orders, S = 1, 2, 4, ..., 256 and 448, tau = 0, 0.75, 2, 4, 8, and the kernel's
 * own setting where it is none of these; by order, S, tau. Returns their number and fills
 * candidates (room for PCAST_CANDIDATES_MAX). Those whose S or tau the kernel cannot have are left
 * out. */
enum { PCAST_CANDIDATES_MAX = 128 };
size_t pcast_candidates(const pcast_kernel *kernel, pcast_candidate *candidates);

/* Index of the kernel's own setting; count where it is none of them. */
size_t pcast_candidate_own(const pcast_kernel *kernel, const pcast_candidate *candidates,
                           size_t count);

/* The kernel with a candidate's fields and its output in FP32, so that only the P-cast differs. */
pcast_kernel pcast_candidate_kernel(const pcast_kernel *kernel, const pcast_candidate *candidate);

/* What a head's scores look like. */
typedef struct pcast_head_shape {
    double score_sd;    /* of the other keys' scores within a query, nats */
    double lag_total;   /* mean over queries (and their splits, each with a maximum of its own) of
                           (final maximum - first tile's), log2 units */
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
    size_t ties;     /* candidates within 2 % of the least mean regret, that one included */
    int own_ties;    /* is the kernel's own setting among them? */
    size_t left_out; /* rows in which no candidate is finite */
    double error;    /* relative L2 error of the recommended candidate, mean over the other rows */
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

/* A candidate's relative error over the least of any in the same head. Errors below 2^-20 count as
 * equal: rounding to E4M3 costs 2^-5, accumulation in FP32 some 2^-24 times a factor that grows
 * with the keys, which is no reason to prefer anything. Infinite for a NaN. */
double pcast_error_ratio(double error, double least);

/* Is any candidate of a row finite? Other rows are left out. */
int pcast_row_counts(const double *row, size_t count);

/* A candidate over the rows that count. NaN if none does. */
typedef struct pcast_regret {
    double mean, largest; /* of its ratios to the best of each row */
    double error;         /* mean of its errors */
} pcast_regret;

pcast_regret pcast_regret_of(const double *errors, size_t count, size_t rows, size_t candidate);

/* One setting for all rows of errors[rows][count]. Ties are the candidates whose mean regret is
 * within 2 % of the least. Of these count those whose largest regret is within 2 % of the least
 * largest, and among them the kernel's own setting stays; else the smallest tau, then no negative
 * headroom, then the largest S (the smallest where headroom is negative), then reverse order. It
 * does not depend on the order of candidates. */
pcast_choice pcast_choose(const pcast_kernel *kernel, const pcast_candidate *candidates,
                          size_t count, const double *errors, size_t rows);

#ifdef __cplusplus
}
#endif

#endif
