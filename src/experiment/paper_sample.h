/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs behind the paper's claims and the numbers taken from them. Errors are compared in the
 * form integrated over V (mse_given_p) with one channel, which has the least scatter. */
#ifndef PCAST_EXPERIMENT_PAPER_SAMPLE_H
#define PCAST_EXPERIMENT_PAPER_SAMPLE_H

#include "pcast/paired.h"
#include "pcast/paper.h"
#include "pcast/theory.h"

enum {
    PCAST_PAPER_SINKS = 4,
    PCAST_PAPER_KERNELS = 2,
    PCAST_PAPER_DELTAS = 12,
    PCAST_PAPER_RUNS = 3,
};

/* One run of a claim: all its kernels at all its Delta on the same draws. */
typedef struct pcast_paper_shape {
    size_t keys, trials;
} pcast_paper_shape;

typedef struct pcast_paper_plan {
    size_t kernel_count, delta_count, run_count;
    pcast_kernel kernels[PCAST_PAPER_KERNELS];
    double deltas[PCAST_PAPER_DELTAS];
    pcast_paper_shape runs[PCAST_PAPER_RUNS];
} pcast_paper_plan;

/* By claim, A first. Sample sizes are chosen so that the intervals decide. */
extern const pcast_paper_plan pcast_paper_plans[PCAST_CLAIMS];

/* All losses of one run, [trial][kernel][delta]; losses is the caller's to free. */
typedef struct pcast_paper_sample {
    const pcast_paper_plan *plan;
    size_t keys, trials;
    pcast_loss *losses;
} pcast_paper_sample;

pcast_status pcast_paper_run(const pcast_paper *paper, int index, size_t run_index,
                             pcast_paper_sample *all, pcast_error *err);

/* A number of each row. */
typedef double pcast_measure(const pcast_loss *loss);
double pcast_error_of(const pcast_loss *loss);    /* mse_given_p */
double pcast_lost_share(const pcast_loss *loss);  /* flushed / other keys */
double pcast_lost_inside(const pcast_loss *loss); /* the same within the sinks' block */
double pcast_mass_of(const pcast_loss *loss);     /* attention mass of the other keys */
double pcast_kept_of(const pcast_loss *loss);     /* what the cast keeps of it */

pcast_theory_row pcast_paper_theory_row(const pcast_paper_sample *all, size_t kernel, size_t delta);

/* Appends a finding; beyond PCAST_FINDINGS_MAX the last is overwritten. */
void pcast_paper_add(pcast_claim *claim, double value, double low, double high, double theory,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Mean over rows with its 95 % interval; NaN without memory. */
void pcast_paper_add_mean(pcast_claim *claim, const pcast_paper_sample *all, size_t delta,
                          pcast_measure *of, double theory, const char *what);

/* Paired comparison of two columns; NaN without memory. */
pcast_paired pcast_paper_compare(const pcast_paper_sample *all, size_t kernel_a,
                                 pcast_measure *of_a, size_t kernel_b, pcast_measure *of_b,
                                 size_t delta, double margin);

/* MSE of the second kernel over that of the first at one Delta; the comparison, with a margin of
 * 1 %. */
pcast_paired pcast_paper_add_mse_ratio(pcast_claim *claim, const pcast_paper_sample *all,
                                       size_t delta);

#endif
