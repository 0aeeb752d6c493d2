/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the findings of each claim say of it. */
#include "experiment/paper_verdict.h"

#include "experiment/paper_sample.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

enum { NAMED = 160 };

/* Appends to text where the findings first .. end - 1 do not lie in [low, high], and their values:
 * by N where it is not the paper's, else by Delta. How many there are. */
static size_t name_misses(const pcast_claim *claim, size_t first, size_t end, double low,
                          double high, char text[NAMED])
{
    const pcast_finding *last = NULL;
    size_t misses = 0;
    for (size_t i = first; i < end; i++) {
        const pcast_finding *finding = &claim->findings[i];
        const int own = finding->keys == PCAST_PAPER_KEYS;
        if (inside(finding, low, high))
            continue;
        const size_t used = strlen(text), room = NAMED - used;
        const char *gap = used > 0 ? "; " : "";
        if (own)
            snprintf(text + used, room, "%sDelta = %g: %.3g", gap, finding->delta, finding->value);
        else if (last == NULL || last->keys != finding->keys)
            snprintf(text + used, room, "%sN = %zu: %.3g", gap, finding->keys, finding->value);
        else
            snprintf(text + used, room, ", %.3g", finding->value);
        last = finding;
        misses++;
    }
    return misses;
}

void pcast_paper_judge_a(pcast_claim *claim)
{
    enum { LOST_5, LOST_7 = 2, MASS_6, MASS_7, HALF_LOST, OTHERS };
    const pcast_finding *at = claim->findings;
    const size_t half = OTHERS + (claim->count - OTHERS) / 2;
    const int collapse = at[LOST_5].high < 0.5 && at[LOST_7].low > 0.5;
    /* "About half" is 0.4 to 0.6, and the mass falls as Delta grows: it is half of all somewhere
     * from 6 to 7 if it is not below that range at 6 yet, nor still above it at 7. */
    const int half_between = at[MASS_6].low >= 0.4 && at[MASS_7].high <= 0.6;
    const int half_at_both = at[MASS_6].high <= 0.6 && at[MASS_7].low >= 0.4;
    char named[NAMED] = "";
    size_t misses = name_misses(claim, OTHERS, half, 0.4, 1, named);
    misses += name_misses(claim, half, claim->count, 0, 0.6, named);
    if (at[LOST_5].low > 0.5 || at[LOST_7].high < 0.5)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "it is not between Delta = 5 and 7 that half of the keys are lost");
    else if (at[MASS_6].high < 0.4 || at[MASS_7].low > 0.6)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "the other keys hold %.0f %% of the mass at Delta = 6 and %.0f %% at 7",
                 100 * at[MASS_6].value, 100 * at[MASS_7].value);
    else if (collapse && half_between)
        conclude(claim, half_at_both && misses == 0 ? PCAST_VERDICT_HOLDS : PCAST_VERDICT_CONDITION,
                 "at N = %d the other keys hold %.0f %% of the mass at Delta = 6 and %.0f %% at 7, "
                 "and half of them are lost at %.2f%s%s",
                 PCAST_PAPER_KEYS, 100 * at[MASS_6].value, 100 * at[MASS_7].value,
                 at[HALF_LOST].value,
                 misses > 0 ? "; by theory they do not hold about half at " : "", named);
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED, "the intervals at N = %d are too wide",
                 PCAST_PAPER_KEYS);
}

/* A claim that each of its numbers lies in [low, high]: all of the intervals at the paper's own N
 * must, and one that lies elsewhere refutes it. */
static void judge_range(pcast_claim *claim, double low, double high, const char *reading)
{
    const size_t own = plan_of(claim)->delta_count;
    const double first = claim->findings[0].delta, last = claim->findings[own - 1].delta;
    const pcast_finding *counterexample = NULL;
    int sure = 1;
    char where[64], own_misses[NAMED] = "", misses[NAMED] = "";
    for (size_t i = own; i-- > 0;)
        if (beyond(&claim->findings[i], low, high))
            counterexample = &claim->findings[i];
    for (size_t i = own; i < claim->count; i++)
        sure &= inside(&claim->findings[i], low, high) || beyond(&claim->findings[i], low, high);
    snprintf(where, sizeof where, "%g", first);
    if (own > 1)
        snprintf(where, sizeof where, "%g to %g", first, last);
    if (counterexample != NULL)
        conclude(claim, PCAST_VERDICT_REFUTED, "%sat N = %d and Delta = %g it is %.4g", reading,
                 PCAST_PAPER_KEYS, counterexample->delta, counterexample->value);
    else if (name_misses(claim, 0, own, low, high, own_misses) > 0)
        conclude(claim, PCAST_VERDICT_UNDECIDED,
                 "%sat N = %d and Delta = %s an interval meets a limit", reading, PCAST_PAPER_KEYS,
                 where);
    else if (name_misses(claim, own, claim->count, low, high, misses) > 0)
        conclude(claim, PCAST_VERDICT_CONDITION, "%sat N = %d and Delta = %s; not%s at %s", reading,
                 PCAST_PAPER_KEYS, where, sure ? "" : ", or not for sure,", misses);
    else
        conclude(claim, PCAST_VERDICT_HOLDS,
                 "%sat N = %d and Delta = %s, and wherever else it was computed", reading,
                 PCAST_PAPER_KEYS, where);
}

void pcast_paper_judge_b(pcast_claim *claim)
{
    judge_range(claim, 3, 10, "");
}

/* MSE of S = 448 over that of S = 256. */
void pcast_paper_judge_c(pcast_claim *claim)
{
    judge_range(claim, 1 / 0.9, 1 / 0.85, "");
}

/* The information is read as the other keys' mass. */
void pcast_paper_judge_h(pcast_claim *claim)
{
    judge_range(claim, 0.3, 0.4, "of the attention mass of the other keys, ");
}

/* Tested as equivalence within 1 %. */
void pcast_paper_judge_d(pcast_claim *claim, const double *p_equivalence)
{
    const pcast_paper_plan *plan = plan_of(claim);
    /* From the largest Delta down to the first that is not equivalent. */
    double from = INFINITY, below = GSL_NAN;
    int distinguishable = 0, apart = 0, tested = 1;
    for (size_t i = plan->delta_count; i-- > 0;) {
        const pcast_finding *ratio = &claim->findings[i];
        const double delta = plan->deltas[i];
        if (p_equivalence[i] < 0.05 && isnan(below)) {
            from = delta;
            distinguishable |= beyond(ratio, 1, 1);
        } else if (isnan(below)) {
            below = ratio->value;
        }
        apart |= delta >= 6 && beyond(ratio, 1 / 1.01, 1.01);
        tested &= !isnan(p_equivalence[i]);
    }
    char below_it[48] = "", named[NAMED] = "";
    const size_t misses =
        name_misses(claim, plan->delta_count, claim->count, 1 / 1.01, 1.01, named);
    if (!isnan(below))
        snprintf(below_it, sizeof below_it, "; below, the ratio is %.3f", below);
    if (!tested)
        conclude(claim, PCAST_VERDICT_UNDECIDED, unknown);
    else if (apart)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "the errors differ by more than 1 %% at some Delta from 6 up");
    else if (from <= 6)
        conclude(claim, isnan(below) && misses == 0 ? PCAST_VERDICT_HOLDS : PCAST_VERDICT_CONDITION,
                 "%sequal within 1 %% (two one-sided tests, level 0.05) at N = %d from Delta = %g "
                 "up%s%s%s",
                 distinguishable ? "told apart by pairing, but " : "", PCAST_PAPER_KEYS, from,
                 below_it, misses > 0 ? "; by theory not at Delta = 6 and " : "", named);
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED,
                 "equivalence within 1 %% is not shown at Delta = 6");
}

void pcast_paper_judge_e(pcast_claim *claim)
{
    const size_t runs = plan_of(claim)->run_count;
    const pcast_finding *ratio = claim->findings;
    int grows = 1, falls = 0, grows_elsewhere = 1;
    for (size_t i = 1; i < claim->count; i++) {
        if (i % runs == 0) /* the next Delta */
            continue;
        if (i < runs) {
            grows &= ratio[i - 1].high < ratio[i].low;
            falls |= ratio[i - 1].low > ratio[i].high;
        } else {
            grows_elsewhere &= ratio[i - 1].high < ratio[i].low;
        }
    }
    if (falls)
        conclude(claim, PCAST_VERDICT_REFUTED, "the ratio falls with N");
    else if (!grows)
        conclude(claim, PCAST_VERDICT_UNDECIDED, "the intervals at different N meet");
    else
        conclude(claim, grows_elsewhere ? PCAST_VERDICT_HOLDS : PCAST_VERDICT_CONDITION,
                 "at Delta = %g from %.2g to %.2g, and no intervals meet; by theory it %s Delta = "
                 "%g and %g",
                 ratio[0].delta, ratio[0].value, ratio[runs - 1].value,
                 grows_elsewhere ? "grows also at" : "does not grow at both", ratio[runs].delta,
                 ratio[claim->count - 1].delta);
}

void pcast_paper_judge_f(pcast_claim *claim, size_t lost_inside, size_t lost_outside)
{
    if (lost_outside > 0)
        conclude(claim, PCAST_VERDICT_REFUTED, "%zu keys were lost outside the sinks' block",
                 lost_outside);
    else if (lost_inside > 0)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "the other keys of the sinks' own block are cast after the maximum has risen and "
                 "were lost %zu times; outside it none was, and theory bounds each key's chance at "
                 "%.2g",
                 lost_inside, pcast_theory_reverse_bound(PCAST_PAPER_KEYS, 256, 1));
    else
        conclude(claim, PCAST_VERDICT_UNDECIDED, "no key was lost in these trials");
}

void pcast_paper_judge_g(pcast_claim *claim, double least_point_at)
{
    const pcast_finding *at_power = &claim->findings[0], *elsewhere = &claim->findings[1],
                        *point_at_power = &claim->findings[3], *least_point = &claim->findings[4];
    if (elsewhere->low <= at_power->high)
        conclude(claim, PCAST_VERDICT_REFUTED,
                 "another multiple of 1/64 has no larger dp than the powers of two");
    else if (least_point->value < point_at_power->value)
        conclude(
            claim, PCAST_VERDICT_CONDITION,
            "among multiples of 1/64, for dp as defined (cells); the worst point error is least "
            "elsewhere, at S = %g",
            least_point_at);
    else
        conclude(claim, PCAST_VERDICT_HOLDS, "among multiples of 1/64, for cells and for points");
}
