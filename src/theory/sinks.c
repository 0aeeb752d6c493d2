/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The law of the sinks' maximum, and the collapse to leading order. */
#include "pcast/theory.h"

#include "theory/normal.h"
#include "theory/quadrature.h"

#include <math.h>

int pcast_theory_row_valid(const pcast_theory_row *row)
{
    return row->sinks >= 1 && row->sinks <= row->block && row->keys > row->sinks &&
           row->scale > 0 && gsl_finite(row->scale) && gsl_finite(row->delta) && row->sigma > 0 &&
           gsl_finite(row->sigma);
}

double pcast_theory_flush_depth(double scale)
{
    return scale > 0 ? 10 * M_LN2 + log(scale) : GSL_NAN;
}

/* P(M > x) and P(M < -x), by log1p and expm1 so that nothing cancels far out. */
static double above(double x, double k)
{
    return -expm1(k * log1p(-gsl_cdf_ugaussian_Q(x)));
}

static double below(double x, double k)
{
    return pow(gsl_cdf_ugaussian_Q(x), k);
}

static double first_moment(double x, void *k)
{
    return above(x, *(double *)k) - below(x, *(double *)k);
}

static double second_moment(double x, void *k)
{
    return 2 * x * (above(x, *(double *)k) + below(x, *(double *)k));
}

static double moment(double (*integrand)(double, void *), size_t sinks)
{
    double k = (double)sinks;
    gsl_function f = {integrand, &k};
    return sinks >= 1 ? pcast_integrate(&f, 0, PCAST_NORMAL_RANGE) : GSL_NAN;
}

double pcast_theory_delta_k(size_t sinks)
{
    return sinks == 1 ? 0 : moment(first_moment, sinks);
}

double pcast_theory_delta_k_sd(size_t sinks)
{
    const double mean = pcast_theory_delta_k(sinks);
    return sqrt(moment(second_moment, sinks) - mean * mean);
}

double pcast_theory_sink_max_cdf(double x, size_t sinks)
{
    return sinks >= 1 ? exp((double)sinks * pcast_normal_log_cdf(x)) : GSL_NAN;
}

double pcast_theory_sink_max_quantile(double u, size_t sinks)
{
    if (sinks < 1 || !(u > 0) || !(u < 1))
        return GSL_NAN;
    /* Phi(x) = u^(1/k); close to 1 by its distance from 1. */
    return gsl_cdf_ugaussian_Qinv(-expm1(log(u) / (double)sinks));
}

double pcast_theory_delta_c(double scale, size_t sinks, double sigma)
{
    return pcast_theory_flush_depth(scale) - sigma * pcast_theory_delta_k(sinks);
}

double pcast_theory_f(double delta, double scale, size_t sinks, double sigma)
{
    return pcast_theory_f_gap(delta + sigma * pcast_theory_delta_k(sinks), sigma, scale);
}

double pcast_theory_f_gap(double gap, double sigma, double scale)
{
    return sigma > 0 ? pcast_normal_cdf((gap - pcast_theory_flush_depth(scale)) / sigma) : GSL_NAN;
}
