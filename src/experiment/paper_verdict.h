/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges of the paper's claims: each sets the claim's verdict and reason from its findings and from
 * nothing that runs. The first findings are those of the run at the paper's own N, in the order of
 * the plan's Delta except where a judge says otherwise; they decide whether the claim is refuted.
 * The others, at other N or Delta, decide whether it holds under a condition only. An interval that
 * meets a limit decides nothing there, nor does a claim with a number that is NaN. */
#ifndef PCAST_EXPERIMENT_PAPER_VERDICT_H
#define PCAST_EXPERIMENT_PAPER_VERDICT_H

#include "pcast/paper.h"

#include <stddef.h>

/* Keys lost at Delta = 5, 6, 7; mass of the other keys at 6, 7; Delta where half of the keys are
 * lost. Then masses at other N: all at Delta = 6, and as many at 7. */
void pcast_paper_judge_a(pcast_claim *claim);

/* MSE ratios. */
void pcast_paper_judge_b(pcast_claim *claim);
void pcast_paper_judge_c(pcast_claim *claim);

/* MSE ratios, and the p of the first ones' equivalence within 1 %. */
void pcast_paper_judge_d(pcast_claim *claim, const double *p_equivalence);

/* MSE ratios, each run's N larger than the last; then as many by theory at each other Delta. */
void pcast_paper_judge_e(pcast_claim *claim);

/* Keys lost in the sinks' block and in the others, over all Delta; findings only say whether all
 * could be computed. */
void pcast_paper_judge_f(pcast_claim *claim, size_t lost_inside, size_t lost_outside);

/* dp at powers of two, least dp elsewhere, dp at 448, worst point error at powers of two, least
 * worst point error and the scale where it is. */
void pcast_paper_judge_g(pcast_claim *claim, double least_point_at);

/* Share of the other keys' mass that is lost. */
void pcast_paper_judge_h(pcast_claim *claim);

#endif
