/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well E4M3 resolves p in [0, 1] under a scale (docs/theory.md, section 10). */
#include "pcast/theory.h"

#include "pcast/format.h"

#include <gsl/gsl_math.h>
#include <math.h>

enum { LARGEST = 126 };

static double value(int code)
{
    return pcast_decode_f64(PCAST_E4M3, (uint64_t)code);
}

double pcast_theory_dp(double scale)
{
    if (!(scale >= value(1)) || !gsl_finite(scale))
        return GSL_NAN;
    double widest = scale - value(LARGEST); /* the step of saturation; negative below 448 */
    for (int code = 0; code < LARGEST && value(code) < scale; code++)
        widest = GSL_MAX(widest, value(code + 1) - value(code));
    return widest / scale;
}

double pcast_theory_dp_formula(double scale)
{
    if (!(scale >= 0x1p-6) || !gsl_finite(scale))
        return GSL_NAN;
    int exponent;
    const double mantissa =
        frexp(scale, &exponent); /* scale = mantissa 2^exponent, mantissa in [1/2, 1) */
    const int ceiling = mantissa == 0.5 ? exponent - 1 : exponent;
    const double cell = ldexp(1, GSL_MIN(GSL_MAX(ceiling, -5), 9) -
                                     4); /* no cell is narrower than 2^-9 or wider than 32 */
    return GSL_MAX(cell, scale - value(LARGEST)) / scale;
}

double pcast_theory_worst_point(double scale)
{
    if (!(scale > 0) || !gsl_finite(scale))
        return GSL_NAN;
    double worst = 0;
    for (int code = 0; code < LARGEST && value(code) < scale; code++) {
        /* Half the cell where S reaches its middle; else the cell is cut short at S, which rounds
         * down. */
        const double middle = (value(code) + value(code + 1)) / 2;
        worst = GSL_MAX(worst, GSL_MIN(scale, middle) - value(code));
    }
    worst = GSL_MAX(worst, scale - value(LARGEST));
    return worst / scale;
}

double pcast_theory_coverage(double scale)
{
    return scale > 0 ? 0x1p-6 / scale : GSL_NAN;
}

int pcast_theory_scale_is_exact(double scale)
{
    int exponent;
    return scale > 0 && gsl_finite(scale) && frexp(scale, &exponent) == 0.5;
}
