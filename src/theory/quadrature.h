/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-dimensional integration through GSL without its aborting error handler. */
#ifndef PCAST_THEORY_QUADRATURE_H
#define PCAST_THEORY_QUADRATURE_H

#include <gsl/gsl_math.h>

/* Beyond this many standard deviations the normal density is below 1e-300. */
#define PCAST_NORMAL_RANGE 38.0

/* int_a^b f with an estimated relative error of 1e-11 or, where rounding keeps GSL from that, of at
 * most 1e-9; NaN if neither is reached. */
double pcast_integrate(gsl_function *f, double a, double b);

#endif
