/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs behind the paper's claims and the numbers taken from them. Errors are compared in the
 * form integrated over V (mse_given_p) with one channel, which has the least scatter. */
#ifndef PCAST_EXPERIMENT_PAPER_SAMPLE_H
#define PCAST_EXPERIMENT_PAPER_SAMPLE_H

#include "pcast/paired.h"
#include "pcast/paper.h"
#include "pcast/theory.h"

enum {
    PCAST_PAPER_KEYS = 4096, /* the paper's own N: the claims are judged there */
    PCAST_PAPER_SINKS = 4,
    PCAST_PAPER_KERNELS = 2,
    PCAST_PAPER_DELTAS = 5,
    PCAST_PAPER_RUNS = 3,
};

/* One run of a claim: all its kernels at all its Delta on the same draws. */
typedef struct pcast_paper_shape {
    size_t keys, trials, quick_trials;
} pcast_paper_shape;

typedef struct pcast_paper_plan {
    size_t kernel_count, delta_count, run_count;
    pcast_kernel kernels[PCAST_PAPER_KERNELS];
    double deltas[PCAST_PAPER_DELTAS];
    pcast_paper_shape runs[PCAST_PAPER_RUNS];
} pcast_paper_plan;

/* By claim, A first. Sample sizes are chosen so that the intervals decide: always in a full run,
 * for nine seeds in ten in a quick one. */
extern const pcast_paper_plan pcast_paper_plans[PCAST_CLAIMS];

/* Seed of a run of a claim: words 4 run and 4 run + 1 of the user's seed (docs/numerics.md, step
 * 1.5), so that no two runs share draws, nor do runs of neighbouring seeds. */
uint64_t pcast_paper_seed(uint64_t seed, int index, size_t run_index);

/* All losses of one run, [trial][kernel][delta], and room for two of its columns. */
typedef struct pcast_paper_sample {
    const pcast_paper_plan *plan;
    size_t keys, trials;
    pcast_loss *losses;
    double *columns[2]; /* [trials] */
} pcast_paper_sample;

pcast_status pcast_paper_run(const pcast_paper *paper, int index, size_t run_index,
                             pcast_paper_sample *all, pcast_error *err);
void pcast_paper_sample_free(pcast_paper_sample *all);

/* A number of each row. */
typedef double pcast_measure(const pcast_loss *loss);
double pcast_error_of(const pcast_loss *loss);    /* mse_given_p */
double pcast_lost_share(const pcast_loss *loss);  /* flushed / other keys */
double pcast_lost_inside(const pcast_loss *loss); /* the same within the sinks' block */
double pcast_mass_of(const pcast_loss *loss);     /* attention mass of the other keys */
double pcast_kept_of(const pcast_loss *loss);     /* what the cast keeps of it */

pcast_theory_row pcast_paper_theory_row(const pcast_kernel *kernel, size_t keys, double delta);

/* Appends a finding; there is room for PCAST_FINDINGS_MAX. */
void pcast_paper_add(pcast_claim *claim, pcast_finding finding);

/* A number by theory alone. */
void pcast_paper_add_computed(pcast_claim *claim, const char *quantity, size_t keys, double delta,
                              double value);

/* Mean over rows of a fraction; where it is 0 in all of them, the upper limit that this sets. */
void pcast_paper_add_mean(pcast_claim *claim, pcast_paper_sample *all, size_t delta,
                          pcast_measure *of, double theory, const char *quantity);

/* Paired comparison of two columns, margin 1 %. */
pcast_paired pcast_paper_compare(pcast_paper_sample *all, size_t kernel_a, pcast_measure *of_a,
                                 size_t kernel_b, pcast_measure *of_b, size_t delta);

/* MSE of the second kernel over that of the first at one Delta; the comparison. */
pcast_paired pcast_paper_add_mse_ratio(pcast_claim *claim, pcast_paper_sample *all, size_t delta);

/* The same by theory alone. */
void pcast_paper_add_computed_ratio(pcast_claim *claim, const pcast_paper_plan *plan, size_t keys,
                                    double delta);

#endif
