/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive Gauss-Kronrod quadrature (QUADPACK's QAG). */
#include "theory/quadrature.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>

double pcast_integrate(gsl_function *f, double a, double b)
{
    enum { INTERVALS = 200 };
    gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(INTERVALS);
    if (workspace == NULL)
        return GSL_NAN;
    double result = GSL_NAN, error = GSL_NAN;
    const int status = gsl_integration_qag(f, a, b, 0, 1e-11, INTERVALS, GSL_INTEG_GAUSS31,
                                           workspace, &result, &error);
    gsl_integration_workspace_free(workspace);
    return status == GSL_SUCCESS || error <= 1e-9 * fabs(result) ? result : GSL_NAN;
}
