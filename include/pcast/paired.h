/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of two configurations measured on the same rows. */
#ifndef PCAST_PAIRED_H
#define PCAST_PAIRED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pcast_paired {
    size_t pairs;
    double mean_a, mean_b;
    double ratio;                 /* mean_b / mean_a */
    double ratio_low, ratio_high; /* confidence interval of ratio at `level` */
    double log_ratio_se;          /* standard error of ln ratio */
    double t, p_t;                /* paired t test of mean(b - a) = 0, two-sided */
    double w, p_wilcoxon; /* Wilcoxon signed rank test, two-sided; w = sum of ranks with b > a */
    double p_equivalence; /* two one-sided tests: the larger p of "ratio <= 1/(1 + margin)" and
                             "ratio >= 1 + margin"; small means equivalent within the margin */
    double pairs_needed;  /* pairs for a half-width of `precision` (relative) of the interval */
} pcast_paired;

/* Compares b with a, finite and positive on average, over n >= 2 pairs. 0 < level < 1; margin,
 * precision > 0. Everything is NaN outside the domain; tests are NaN where all differences are
 * zero.
 *
 * The interval is that of a ratio of means by the delta method on its logarithm, with Student's t
 * of n - 1 degrees. Wilcoxon: zero differences are dropped, ties get mean ranks; the exact
 * distribution up to 50 pairs without ties, else the normal approximation with tie and continuity
 * corrections. Sources: W. G. Cochran, Sampling Techniques, section 6; F. Wilcoxon, Biometrics
 * Bulletin 1 (1945) 80-83; D. J. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15 (1987)
 * 657-680. */
pcast_paired pcast_paired_compare(const double *a, const double *b, size_t n, double level,
                                  double margin, double precision);

#ifdef __cplusplus
}
#endif

#endif
