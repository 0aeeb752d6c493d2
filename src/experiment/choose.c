/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings that a diagnosis tries, and which of them it recommends. No step of
 * docs/numerics.md: docs/diagnosis.md, "Advice", says the rule. */
#include "pcast/diagnose.h"

#include "math/constants.h"

#include <math.h>
#include <string.h>

/* The kernel's threshold in log2 units. */
static float own_tau(const pcast_kernel *kernel)
{
    const double per_log2 = kernel->threshold_unit == PCAST_THRESHOLD_NATS ? PCAST_LN2 : 1;
    return (float)((double)kernel->rescale_threshold / per_log2);
}

size_t pcast_candidate_own(const pcast_kernel *kernel, const pcast_candidate *candidates,
                           size_t count)
{
    size_t i = 0;
    while (i < count &&
           !(candidates[i].order == kernel->order && candidates[i].scale == kernel->scale &&
             candidates[i].tau == own_tau(kernel)))
        i++;
    return i;
}

static int comes_after(const pcast_candidate *a, const pcast_candidate *b)
{
    if (a->order != b->order)
        return a->order > b->order;
    return a->scale != b->scale ? a->scale > b->scale : a->tau > b->tau;
}

size_t pcast_candidates(const pcast_kernel *kernel, pcast_candidate *candidates)
{
    static const float scales[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 448};
    static const float taus[] = {0, 0.75f, 2, 4, 8};
    size_t count = 0, at;
    for (int order = 0; order < 2; order++)
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            for (size_t t = 0; t < sizeof taus / sizeof taus[0]; t++) {
                const pcast_candidate one = {(pcast_order)order, scales[s], taus[t]};
                const pcast_kernel changed = pcast_candidate_kernel(kernel, &one);
                if (pcast_kernel_validate(&changed, NULL) == PCAST_OK)
                    candidates[count++] = one;
            }
    if (pcast_candidate_own(kernel, candidates, count) < count)
        return count;
    const pcast_candidate own = {kernel->order, kernel->scale, own_tau(kernel)};
    for (at = count++; at > 0 && comes_after(&candidates[at - 1], &own); at--)
        candidates[at] = candidates[at - 1];
    candidates[at] = own;
    return count;
}

pcast_kernel pcast_candidate_kernel(const pcast_kernel *kernel, const pcast_candidate *candidate)
{
    pcast_kernel changed = *kernel;
    changed.order = candidate->order;
    changed.out_format = PCAST_OUTPUT_F32;
    if (candidate->scale != kernel->scale) {
        changed.scale = candidate->scale;
        changed.scale_log2 = 0;
    }
    if (candidate->tau != own_tau(kernel)) {
        changed.rescale_threshold = candidate->tau;
        changed.threshold_unit = PCAST_THRESHOLD_LOG2;
    }
    return changed;
}

static double headroom(const pcast_kernel *kernel, const pcast_candidate *candidate)
{
    const uint64_t largest = pcast_format_largest(kernel->p_format);
    return log2(pcast_decode_f64(kernel->p_format, largest)) - log2((double)candidate->scale) -
           (double)candidate->tau;
}

/* Among equals: no stale maximum before a stale one, what cannot saturate before what can, then the
 * larger S (of those that can saturate the smaller), then reverse order. */
static int preferred(const pcast_kernel *kernel, const pcast_candidate *a, const pcast_candidate *b)
{
    const int a_fits = headroom(kernel, a) >= 0, b_fits = headroom(kernel, b) >= 0;
    if (a->tau != b->tau)
        return a->tau < b->tau;
    if (a_fits != b_fits)
        return a_fits;
    if (a->scale != b->scale)
        return a_fits ? a->scale > b->scale : a->scale < b->scale;
    return a->order == PCAST_ORDER_REVERSE && b->order != PCAST_ORDER_REVERSE;
}

double pcast_error_ratio(double error, double least)
{
    const double noise = 0x1p-20;
    return isnan(error) ? (double)INFINITY : fmax(error, noise) / fmax(least, noise);
}

/* The least error of a row; infinite where none is finite. */
static double least_of(const double *row, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        least = row[i] < least ? row[i] : least;
    return least;
}

int pcast_row_counts(const double *row, size_t count)
{
    return isfinite(least_of(row, count));
}

pcast_regret pcast_regret_of(const double *errors, size_t count, size_t rows, size_t candidate)
{
    pcast_regret regret = {0};
    size_t counted = 0;
    for (size_t r = 0; r < rows; r++) {
        const double *row = errors + r * count;
        if (!pcast_row_counts(row, count))
            continue;
        const double ratio = pcast_error_ratio(row[candidate], least_of(row, count));
        regret.mean += ratio;
        regret.error += row[candidate];
        regret.largest = fmax(regret.largest, ratio);
        counted++;
    }
    regret.mean /= (double)counted;
    regret.error /= (double)counted;
    return regret;
}

pcast_choice pcast_choose(const pcast_kernel *kernel, const pcast_candidate *candidates,
                          size_t count, const double *errors, size_t rows)
{
    const double tie = 1 + PCAST_CHOICE_TIE;
    const size_t own = pcast_candidate_own(kernel, candidates, count);
    pcast_regret regrets[PCAST_CANDIDATES_MAX];
    double least = INFINITY, least_worst = INFINITY;
    pcast_choice choice = {.best = count};
    for (size_t r = 0; r < rows; r++)
        choice.left_out += !pcast_row_counts(errors + r * count, count);
    for (size_t i = 0; i < count; i++) {
        regrets[i] = pcast_regret_of(errors, count, rows, i);
        least = fmin(least, regrets[i].mean);
    }
    for (size_t i = 0; i < count; i++)
        if (regrets[i].mean <= least * tie)
            least_worst = fmin(least_worst, regrets[i].largest);
    for (size_t i = 0; i < count; i++) {
        const int ties = regrets[i].mean <= least * tie;
        choice.ties += (size_t)ties;
        choice.own_ties |= ties && i == own;
        if (!ties || !(regrets[i].largest <= least_worst * tie))
            continue;
        if (choice.best == count || i == own ||
            (choice.best != own && preferred(kernel, &candidates[i], &candidates[choice.best])))
            choice.best = i;
    }
    if (choice.best == count)
        choice.best = 0;
    choice.error = regrets[choice.best].error;
    choice.headroom = headroom(kernel, &candidates[choice.best]);
    return choice;
}
