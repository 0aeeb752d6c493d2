/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The standard normal distribution, through GSL. */
#ifndef PCAST_THEORY_NORMAL_H
#define PCAST_THEORY_NORMAL_H

#include "base/bits.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_erf.h>

static inline double pcast_normal_pdf(double x)
{
    return gsl_ran_ugaussian_pdf(x);
}

static inline double pcast_normal_cdf(double x)
{
    return gsl_cdf_ugaussian_P(x);
}

/* ln Phi(x), finite for every finite x. */
static inline double pcast_normal_log_cdf(double x)
{
    gsl_sf_result result;
    if (x > 0)
        return log1p(-gsl_cdf_ugaussian_Q(x));
    return gsl_sf_log_erfc_e(-x * M_SQRT1_2, &result) == GSL_SUCCESS ? result.val - M_LN2 : GSL_NAN;
}

#endif
