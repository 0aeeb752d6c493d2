/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Underflow of the non-sink keys: the paper's F and its exact expectation. */
#include "pcast/theory.h"

#include "theory/quadrature.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_erf.h>

double pcast_theory_flush_depth(double scale)
{
    return 10 * M_LN2 + log(scale);
}

/* ln Phi(x), finite for every finite x. */
static double log_cdf(double x)
{
    gsl_sf_result result;
    if (x > 0)
        return log1p(-gsl_cdf_ugaussian_Q(x));
    if (gsl_sf_log_erfc_e(-x * M_SQRT1_2, &result) != GSL_SUCCESS)
        return GSL_NAN;
    return result.val - M_LN2;
}

/* Integrand of delta_k. */
static double maximum_tail(double x, void *context)
{
    const double k = *(const double *)context;
    /* 1 - Phi^k by log1p and expm1: no cancellation far out. */
    const double upper = gsl_cdf_ugaussian_Q(x);
    return -expm1(k * log1p(-upper)) - pow(upper, k);
}

double pcast_theory_delta_k(size_t sinks)
{
    if (sinks < 1)
        return GSL_NAN;
    double k = (double)sinks;
    gsl_function f = {maximum_tail, &k};
    return pcast_integrate(&f, 0, PCAST_NORMAL_RANGE);
}

double pcast_theory_delta_c(double scale, size_t sinks)
{
    return pcast_theory_flush_depth(scale) - pcast_theory_delta_k(sinks);
}

double pcast_theory_f(double delta, double scale, size_t sinks)
{
    return pcast_theory_f_gap(delta + pcast_theory_delta_k(sinks), 1.0, scale);
}

double pcast_theory_f_gap(double gap, double sigma, double scale)
{
    if (!(scale > 0) || !(sigma > 0))
        return GSL_NAN;
    return gsl_cdf_ugaussian_P((gap - pcast_theory_flush_depth(scale)) / sigma);
}

typedef struct underflow_problem {
    int reverse;
    size_t keys, block, sinks;
    double delta, depth;
    int with_sink_block; /* count the keys of the sinks' block too */
} underflow_problem;

/* Sum over the counted keys of P(M > m), M the maximum of everything visited up to the end of the
 * key's block but the key itself. */
static double exceeding_keys(double m, const underflow_problem *problem)
{
    const size_t block = problem->block, keys = problem->keys, sinks = problem->sinks;
    const size_t blocks = keys / block + (keys % block != 0);
    const double log_other = log_cdf(m);
    const double log_sinks = (double)sinks * log_cdf(m - problem->delta);

    double sum = 0;
    size_t seen = 0; /* keys visited up to the end of the block */
    for (size_t step = 0; step < blocks; step++) {
        const size_t j = problem->reverse ? blocks - 1 - step : step;
        const size_t count = j == blocks - 1 ? keys - j * block : block;
        seen += count;
        if (j == 0 && !problem->with_sink_block)
            continue;
        const int sinks_seen = !problem->reverse || j == 0;
        const size_t others = seen - (sinks_seen ? sinks : 0);
        const size_t counted = j == 0 ? count - sinks : count;
        if (counted == 0)
            continue;
        const double log_below = (double)(others - 1) * log_other + (sinks_seen ? log_sinks : 0.0);
        sum += (double)counted * -expm1(log_below);
    }
    return sum;
}

static double flushed_density(double m, void *context)
{
    const underflow_problem *problem = context;
    return gsl_ran_ugaussian_pdf(m - problem->depth) * exceeding_keys(m, problem);
}

/* Expected number of flushed keys over the counted ones. */
static double expected_fraction(underflow_problem problem, size_t counted)
{
    if (counted == 0)
        return GSL_NAN;
    gsl_function f = {flushed_density, &problem};
    const double low = problem.depth - PCAST_NORMAL_RANGE,
                 high = problem.depth + PCAST_NORMAL_RANGE;
    return pcast_integrate(&f, low, high) / (double)counted;
}

pcast_theory_underflow pcast_theory_expected_underflow(const pcast_kernel *kernel, size_t keys,
                                                       size_t sinks, double delta)
{
    const size_t block = kernel->block;
    if (sinks < 1 || sinks > block || keys <= sinks)
        return (pcast_theory_underflow){GSL_NAN, GSL_NAN};
    underflow_problem problem = {
        .reverse = kernel->order == PCAST_ORDER_REVERSE,
        .keys = keys,
        .block = block,
        .sinks = sinks,
        .delta = delta,
        .depth = pcast_theory_flush_depth((double)kernel->scale),
    };
    pcast_theory_underflow result;
    result.outside = expected_fraction(problem, keys > block ? keys - block : 0);
    problem.with_sink_block = 1;
    result.all = expected_fraction(problem, keys - sinks);
    return result;
}
