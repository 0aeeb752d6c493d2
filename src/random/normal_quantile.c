/* SPDX-License-Identifier: MIT */
/* Inverse of the standard normal CDF, algorithm AS 241 (PPND16). */
#include "random/draws.h"

#include "base/bits.h"
#include "math/math.h"
#include "random/normal_coefficients.h"

#include <math.h>

static double polynomial(const double c[8], double x)
{
    double s = c[7];
    for (int i = 6; i >= 0; i--)
        s = s * x + c[i];
    return s;
}

double pcast_normal_quantile(double u)
{
    const double q = u - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(center_num, r) / polynomial(center_den, r);
    }
    const double tail = q < 0 ? u : 1.0 - u;
    const double r = sqrt(-pcast_log_f64(tail));
    const double x = r <= 5.0 ? polynomial(middle_num, r - 1.6) / polynomial(middle_den, r - 1.6)
                              : polynomial(tail_num, r - 5.0) / polynomial(tail_den, r - 5.0);
    return q < 0 ? -x : x;
}
