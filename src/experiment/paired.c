/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paired comparison of two samples. */
#include "pcast/paired.h"

#include "base/bits.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

enum { EXACT_PAIRS = 50 };

/* Absolute difference and its sign, for ranking. */
typedef struct ranked {
    double size;
    int positive;
} ranked;

static int by_size(const void *a, const void *b)
{
    const double x = ((const ranked *)a)->size, y = ((const ranked *)b)->size;
    return (x > y) - (x < y);
}

/* P(W <= w) for n untied pairs under the hypothesis: every subset of ranks 1..n is as likely to be
 * the positive one. */
static double exact_lower_tail(size_t n, double w)
{
    double ways[EXACT_PAIRS * (EXACT_PAIRS + 1) / 2 + 1] = {1};
    size_t top = 0;
    for (size_t rank = 1; rank <= n; rank++) {
        top += rank;
        for (size_t sum = top; sum >= rank; sum--)
            ways[sum] += ways[sum - rank];
    }
    double count = 0;
    for (size_t sum = 0; sum <= top && (double)sum <= w; sum++)
        count += ways[sum];
    return count / ldexp(1, (int)n);
}

/* Ranks differences; sets w and p. */
static void signed_rank(ranked *pairs, size_t n, pcast_paired *result)
{
    double w = 0, ties = 0;
    qsort(pairs, n, sizeof *pairs, by_size);
    for (size_t first = 0; first < n;) {
        size_t end = first;
        while (end < n && pairs[end].size == pairs[first].size)
            end++;
        const double tied = (double)(end - first), rank = (double)(first + end + 1) / 2;
        for (size_t i = first; i < end; i++)
            w += pairs[i].positive ? rank : 0;
        ties += tied * tied * tied - tied;
        first = end;
    }
    const double count = (double)n, mean = count * (count + 1) / 4;
    result->w = w;
    if (n <= EXACT_PAIRS && ties == 0) {
        const double lower = exact_lower_tail(n, w), upper = exact_lower_tail(n, 2 * mean - w);
        result->p_wilcoxon = GSL_MIN(1, 2 * GSL_MIN(lower, upper));
        return;
    }
    const double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
    const double z = GSL_MAX(fabs(w - mean) - 0.5, 0) / sqrt(variance);
    result->p_wilcoxon = GSL_MIN(1, 2 * gsl_cdf_ugaussian_Q(z));
}

static void wilcoxon(const double *a, const double *b, size_t n, pcast_paired *result)
{
    ranked *pairs = malloc(n * sizeof *pairs);
    size_t count = 0;
    result->w = result->p_wilcoxon = GSL_NAN;
    if (pairs == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            pairs[count++] = (ranked){fabs(b[i] - a[i]), b[i] > a[i]};
    if (count > 0)
        signed_rank(pairs, count, result);
    free(pairs);
}

/* Standard deviation of b - factor * a, from the differences themselves: they may be far smaller
 * than a and b. */
static double residual_sd(const double *a, const double *b, size_t n, double factor)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (b[i] - factor * a[i]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double deviation = b[i] - factor * a[i] - mean;
        squares += deviation * deviation;
    }
    return sqrt(squares / ((double)n - 1));
}

static int all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!gsl_finite(x[i]))
            return 0;
    return 1;
}

pcast_paired pcast_paired_compare(const double *a, const double *b, size_t n, double level,
                                  double margin, double precision)
{
    pcast_paired result = {.pairs = n};
    const double root = sqrt((double)n), freedom = (double)n - 1;
    if (n < 2 || !all_finite(a, n) || !all_finite(b, n) || !(level > 0) || !(level < 1) ||
        !(margin > 0) || !(precision > 0))
        return (pcast_paired){n,       GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN,
                              GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN, GSL_NAN};
    result.mean_a = gsl_stats_mean(a, 1, n);
    result.mean_b = gsl_stats_mean(b, 1, n);
    result.ratio = result.mean_b / result.mean_a;

    const double scatter = residual_sd(a, b, n, result.ratio) / root;
    result.log_ratio_se = scatter > 0 ? scatter / fabs(result.mean_b) : scatter * 0;
    const double reach = gsl_cdf_tdist_Qinv((1 - level) / 2, freedom);
    result.ratio_low = result.ratio * exp(-reach * result.log_ratio_se);
    result.ratio_high = result.ratio * exp(reach * result.log_ratio_se);
    const double half_width = reach * result.log_ratio_se / precision;
    result.pairs_needed = GSL_MAX(2, ceil((double)n * half_width * half_width));

    result.t = (result.mean_b - result.mean_a) / (residual_sd(a, b, n, 1) / root);
    result.p_t = 2 * gsl_cdf_tdist_Q(fabs(result.t), freedom);
    wilcoxon(a, b, n, &result);

    const double bound = log1p(margin), centre = log(result.ratio);
    const double below = gsl_cdf_tdist_Q((centre + bound) / result.log_ratio_se, freedom);
    const double above = gsl_cdf_tdist_Q((bound - centre) / result.log_ratio_se, freedom);
    result.p_equivalence = GSL_MAX(below, above);
    return result;
}
