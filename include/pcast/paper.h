/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's claims, each with an experiment of its own and a verdict that follows from numbers.
 */
#ifndef PCAST_PAPER_H
#define PCAST_PAPER_H

#include "pcast/experiment.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_verdict {
    PCAST_VERDICT_HOLDS,
    PCAST_VERDICT_CONDITION, /* holds under the condition that the reason names */
    PCAST_VERDICT_REFUTED,
    PCAST_VERDICT_UNDECIDED, /* the intervals are too wide to say */
} pcast_verdict;

/* One number that was computed. */
typedef struct pcast_finding {
    char quantity[112];
    double value;
    double low, high; /* 95 % interval; equal to value where it is exact */
    double theory;    /* its expectation by theory, NaN where there is none */
} pcast_finding;

enum { PCAST_FINDINGS_MAX = 24, PCAST_CLAIMS = 8 };

typedef struct pcast_claim {
    char id; /* 'A' .. 'H' */
    const char *text;
    size_t trials; /* of its largest run; 0 where nothing is drawn */
    pcast_finding findings[PCAST_FINDINGS_MAX];
    size_t count;
    pcast_verdict verdict;
    char reason[256];
} pcast_claim;

typedef struct pcast_paper {
    int quick; /* a sixteenth of the trials */
    uint64_t seed;
    int threads; /* 0: one for each processor */
    pcast_cpu cpu;
    pcast_progress *progress; /* may be NULL; per run of a claim */
    void *progress_context;
} pcast_paper;

/* Computes claim number `index`, 0 .. PCAST_CLAIMS - 1 for A .. H. PCAST_ERR_VALUE,
 * PCAST_ERR_MEMORY. */
pcast_status pcast_paper_claim(const pcast_paper *paper, int index, pcast_claim *claim,
                               pcast_error *err);

/* Scores (keys times configurations) that the claim simulates: what its time is proportional to. */
double pcast_paper_work(const pcast_paper *paper, int index);

/* "holds", "holds under a condition", "refuted", "not decidable". */
const char *pcast_verdict_name(pcast_verdict verdict);

#ifdef __cplusplus
}
#endif

#endif
