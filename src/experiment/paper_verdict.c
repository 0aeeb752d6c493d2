/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the findings of each claim say of it. */
#include "experiment/paper_verdict.h"

#include "experiment/paper_sample.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char unknown[] = "a number could not be computed";

static int all_known(const pcast_claim *claim)
{
    for (size_t i = 0; i < claim->count; i++) {
        const pcast_finding *finding = &claim->findings[i];
        if (isnan(finding->value) || isnan(finding->low) || isnan(finding->high))
            return 0;
    }
    return 1;
}

/* Without all its numbers a claim is not decidable, whatever those that there are say. */
__attribute__((format(printf, 3, 4))) static void
conclude(pcast_claim *claim, pcast_verdict verdict, const char *format, ...)
{
    const int known = all_known(claim);
    va_list args;
    va_start(args, format);
    vsnprintf(claim->reason, sizeof claim->reason, known ? format : unknown, args);
    va_end(args);
    claim->verdict = known ? verdict : PCAST_VERDICT_UNDECIDED;
}

/* Does the finding's interval lie in [low, high]? */
static int inside(const pcast_finding *finding, double low, double high)
{
    return finding->low >= low && finding->high <= high;
}

/* Does all of it lie elsewhere? */
static int beyond(const pcast_finding *finding, double low, double high)
{
    return finding->high < low || finding->low > high;
}

static const pcast_paper_plan *plan_of(const pcast_claim *claim)
{
    return &pcast_paper_plans[claim->id - 'A'];
}

/* The finding of a claim that has one for each Delta of each run. */
static const pcast_finding *finding_at(const pcast_claim *claim, size_t run, size_t delta)
{
    return &claim->findings[run * plan_of(claim)->delta_count + delta];
}

void pcast_paper_judge_a(pcast_claim *claim)
{
    const pcast_finding *lost_5 = &claim->findings[0], *mass_6 = &claim->findings[3],
                        *lost_7 = &claim->findings[4], *mass_7 = &claim->findings[5];
    const int collapse = lost_5->high < 0.5 && lost_7->low > 0.5; /* half is lost between 5 and 7 */
    const int half_at_7 = inside(mass_7, 0.4, 0.6);               /* "about half" of the mass */
    if (lost_5->low > 0.5 || lost_7->high < 0.5)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "it is not between Delta = 5 and 7 that half of the keys are lost");
    else if (beyond(mass_7, 0.4, 0.6))
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "at Delta = 7 the other keys held %.0f %% of the mass", 100 * mass_7->value);
    else if (collapse && half_at_7 && inside(mass_6, 0.4, 0.6))
        conclude(claim, PCAST_VERDICT_HOLDS, "at Delta = 6 and 7");
    else if (collapse && half_at_7)
        conclude(
            claim, PCAST_VERDICT_CONDITION,
            "at the upper end: at Delta = 7 %.0f %% of the keys are lost and they held %.0f %% "
            "of the mass; half are lost already at %.2f, and at 6 they held %.0f %%",
            100 * lost_7->value, 100 * mass_7->value, pcast_theory_delta_c(1, PCAST_PAPER_SINKS, 1),
            100 * mass_6->value);
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED, "the intervals at Delta = 5 and 7 are too wide");
}

void pcast_paper_judge_b(pcast_claim *claim)
{
    const pcast_paper_plan *plan = plan_of(claim);
    const pcast_finding *peak[PCAST_PAPER_RUNS];
    int in_range = 1, out_of_range = 0;
    for (size_t r = 0; r < plan->run_count; r++) {
        peak[r] = finding_at(claim, r, 0);
        for (size_t d = 0; d < plan->delta_count; d++) {
            const pcast_finding *ratio = finding_at(claim, r, d);
            if (ratio->value > peak[r]->value)
                peak[r] = ratio;
            const double delta = plan->deltas[d];
            if (plan->runs[r].keys == 4096 && (delta == 5 || delta == 6 || delta == 7)) {
                in_range &= inside(ratio, 3, 10);
                out_of_range |= beyond(ratio, 3, 10);
            }
        }
    }
    if (in_range && inside(peak[0], 3, 10) && inside(peak[2], 3, 10))
        conclude(claim, PCAST_VERDICT_HOLDS, "at Delta = 5, 6, 7 and N = 4096");
    else if (in_range)
        conclude(claim, PCAST_VERDICT_CONDITION,
                 "for N near 4096; the largest ratio is %.2g at N = 1024 and %.2g at N = 32768",
                 peak[0]->value, peak[2]->value);
    else
        conclude(claim, out_of_range ? PCAST_VERDICT_REFUTED : PCAST_VERDICT_UNDECIDED,
                 "at Delta = 5, 6, 7 and N = 4096 not all ratios %s 3 to 10",
                 out_of_range ? "are" : "are shown to be");
}

/* A ratio of 1/0.9 to 1/0.85. Judged at the paper's N = 4096; other N show the range. */
void pcast_paper_judge_c(pcast_claim *claim)
{
    const pcast_paper_plan *plan = plan_of(claim);
    const double low = 1 / 0.9, high = 1 / 0.85;
    int all_in = 1, all_below = 1, all_above = 1;
    double least = INFINITY, most = 0;
    for (size_t r = 0; r < plan->run_count; r++)
        for (size_t d = 0; d < plan->delta_count; d++) {
            const pcast_finding *ratio = finding_at(claim, r, d);
            least = GSL_MIN(least, ratio->theory);
            most = GSL_MAX(most, ratio->theory);
            if (plan->runs[r].keys != 4096)
                continue;
            all_in &= inside(ratio, low, high);
            all_below &= ratio->high < low;
            all_above &= ratio->low > high;
        }
    if (all_in)
        conclude(claim, PCAST_VERDICT_HOLDS, "at N = 4096 every ratio lies between %.3f and %.3f",
                 low, high);
    else if (all_below || all_above)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "at N = 4096 every interval lies %s the claimed 11 to 18 %%; by theory S = 448 "
                 "costs %.1f to %.1f %% over all N and Delta here",
                 all_below ? "below" : "above", 100 * (least - 1), 100 * (most - 1));
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED,
                 "at N = 4096 the intervals lie neither all within the claimed 11 to 18 %% nor all "
                 "on one side of it");
}

/* Tested as equivalence within 1 %. */
void pcast_paper_judge_d(pcast_claim *claim, const double *p_equivalence)
{
    const pcast_paper_plan *plan = plan_of(claim);
    /* From the largest Delta down to the first that is not equivalent. */
    double from = INFINITY, below = GSL_NAN;
    int distinguishable = 0, apart = 0, tested = 1;
    for (size_t i = 0; i < plan->delta_count; i++) {
        const pcast_finding *ratio = &claim->findings[i];
        const double delta = plan->deltas[plan->delta_count - 1 - i];
        if (p_equivalence[i] < 0.05 && isnan(below)) {
            from = delta;
            distinguishable |= beyond(ratio, 1, 1);
        } else if (isnan(below)) {
            below = ratio->value;
        }
        apart |= delta >= 6 && beyond(ratio, 1 / 1.01, 1.01);
        tested &= !isnan(p_equivalence[i]);
    }
    const char *how =
        distinguishable ? "told apart by pairing, but equal within 1 %" : "equal within 1 %";
    if (!tested)
        conclude(claim, PCAST_VERDICT_UNDECIDED, unknown);
    else if (apart)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "the errors differ by more than 1 %% at some Delta from 6 up");
    else if (from <= 6 && !isnan(below))
        conclude(
            claim, PCAST_VERDICT_CONDITION,
            "%s (two one-sided tests, level 0.05) from Delta = %g up; below, the ratio is %.3f",
            how, from, below);
    else if (from <= 6)
        conclude(claim, PCAST_VERDICT_HOLDS,
                 "%s (two one-sided tests, level 0.05) from Delta = %g up", how, from);
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED,
                 "equivalence within 1 %% is not shown at Delta = 6");
}

void pcast_paper_judge_e(pcast_claim *claim)
{
    const pcast_finding *ratio = claim->findings;
    if (ratio[0].high < ratio[1].low && ratio[1].high < ratio[2].low)
        conclude(claim, PCAST_VERDICT_HOLDS,
                 "at Delta = 6.5 from %.2g to %.2g to %.2g, and no intervals meet; by theory it "
                 "levels off below Delta = 5",
                 ratio[0].value, ratio[1].value, ratio[2].value);
    else if (ratio[0].low > ratio[1].high || ratio[1].low > ratio[2].high)
        conclude(claim, PCAST_VERDICT_REFUTED, "the ratio falls with N");
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED, "the intervals at different N meet");
}

void pcast_paper_judge_f(pcast_claim *claim, size_t lost_inside, size_t lost_outside)
{
    if (lost_outside > 0)
        conclude(claim, PCAST_VERDICT_REFUTED, "%zu keys were lost outside the sinks' block",
                 lost_outside);
    else if (lost_inside > 0)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "the other keys of the sinks' own block are cast after the maximum has risen and "
                 "were lost %zu times; outside it none was, and theory bounds the chance at %.2g",
                 lost_inside, pcast_theory_reverse_bound(4096, 256, 1));
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED, "no key was lost in these trials");
}

void pcast_paper_judge_g(pcast_claim *claim, double least_point_at)
{
    const pcast_finding *at_power = &claim->findings[0], *elsewhere = &claim->findings[1],
                        *point_at_power = &claim->findings[3], *least_point = &claim->findings[4];
    if (elsewhere->low <= at_power->high)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "another scale has no larger dp than the powers of two");
    else if (least_point->value < point_at_power->value)
        conclude(claim, PCAST_VERDICT_CONDITION,
                 "for dp as defined (cells); the worst point error is least elsewhere, at S = %g",
                 least_point_at);
    else
        conclude(claim, PCAST_VERDICT_HOLDS, "for cells and for points");
}

/* The information is read as the other keys' mass. */
void pcast_paper_judge_h(pcast_claim *claim)
{
    const pcast_finding *lost = &claim->findings[0];
    conclude(claim,
             inside(lost, 0.3, 0.4)   ? PCAST_VERDICT_HOLDS
             : beyond(lost, 0.3, 0.4) ? PCAST_VERDICT_REFUTED
                                      : PCAST_VERDICT_UNDECIDED,
             "read as the attention mass of the other keys at N = 4096");
}
