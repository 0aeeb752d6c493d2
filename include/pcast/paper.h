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

typedef enum pcast_finding_kind {
    PCAST_FINDING_INTERVAL, /* of drawn trials: low and high are a two-sided 95 % interval */
    PCAST_FINDING_LIMIT,    /* of drawn trials: low is 0, high a one-sided 95 % upper limit */
    PCAST_FINDING_COMPUTED, /* nothing is drawn: low and high are the value */
} pcast_finding_kind;

/* One number. */
typedef struct pcast_finding {
    const char *quantity;
    double delta; /* where it was found; NaN where that does not matter */
    size_t keys;  /* 0 where it does not */
    pcast_finding_kind kind;
    size_t trials; /* 0 where nothing is drawn */
    double value, low, high;
    double theory; /* what theory expects; NaN where there is none, or the value is by theory */
} pcast_finding;

enum { PCAST_FINDINGS_MAX = 24, PCAST_CLAIMS = 8 };

typedef struct pcast_claim {
    char id; /* 'A' .. 'H' */
    const char *text;
    pcast_finding findings[PCAST_FINDINGS_MAX];
    size_t count;
    pcast_verdict verdict;
    char reason[320];
} pcast_claim;

typedef struct pcast_paper {
    int quick;     /* as few trials as mostly decide */
    uint64_t seed; /* every run of every claim draws with a seed of its own, made from this one */
    int threads;   /* 0: one for each processor */
    pcast_cpu cpu;
    pcast_progress *progress; /* may be NULL; per run of a claim */
    void *progress_context;
} pcast_paper;

/* Computes claim number `index`, 0 .. PCAST_CLAIMS - 1 for A .. H. A claim with a number that is
 * NaN is not decidable. PCAST_ERR_VALUE, PCAST_ERR_MEMORY. */
pcast_status pcast_paper_claim(const pcast_paper *paper, int index, pcast_claim *claim,
                               pcast_error *err);

/* Scores (keys times configurations) that the claim simulates: what its time is proportional to. */
double pcast_paper_work(const pcast_paper *paper, int index);

/* "holds", "holds under a condition", "refuted", "not decidable". */
const char *pcast_verdict_name(pcast_verdict verdict);

/* "two-sided", "upper limit", "none". */
const char *pcast_finding_interval_name(pcast_finding_kind kind);

#ifdef __cplusplus
}
#endif

#endif
