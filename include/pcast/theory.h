/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms and quadratures for a row of N keys whose first k are sinks: sinks' scores are
 * Delta + N(0,1), the others N(0,1), in nats. A key is flushed when p * S <= 2^-10, that is when
 * its score lies 10 ln 2 + ln S or more below the running maximum at the time of its cast.
 *
 * Binary64 through GSL and libm. Functions return NaN outside the domain they state. A program that
 * uses them calls gsl_set_error_handler_off() once, since GSL's default handler aborts. Source: the
 * paper, section 4. */
#ifndef PCAST_THEORY_H
#define PCAST_THEORY_H

#include "pcast/kernel.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 10 ln 2 + ln S: how far below the running maximum a score is lost, in nats. S > 0. */
double pcast_theory_flush_depth(double scale);

/* delta_k = E[max of k standard normals] = int_0^inf (1 - Phi(x)^k - (1 - Phi(x))^k) dx; k >= 1.
 * Absolute error below 1e-12 for k <= 1e6. */
double pcast_theory_delta_k(size_t sinks);

/* Collapse threshold Delta_c = 10 ln 2 + ln S - delta_k, where F = 1/2. S > 0, k >= 1. */
double pcast_theory_delta_c(double scale, size_t sinks);

/* Collapse fraction to leading order, F(Delta, S) = Phi(Delta + delta_k - 10 ln 2 - ln S): forward
 * order, the maximum of the sinks replaced by its mean. S > 0, k >= 1. */
double pcast_theory_f(double delta, double scale, size_t sinks);

/* The same for any scores N(mu, sigma^2) of the other keys: Phi((gap - 10 ln 2 - ln S) / sigma),
 * gap the largest sink score minus mu. S > 0, sigma > 0. */
double pcast_theory_f_gap(double gap, double sigma, double scale);

typedef struct pcast_theory_underflow {
    double all; /* expected fraction of all non-sink keys that are flushed; NaN if there are none */
    double outside; /* the same over keys outside the sinks' block; NaN if there are none */
} pcast_theory_underflow;

/* Expectation of the fraction of flushed non-sink keys, exact for finite N and either order up to
 * the float32 rounding of scores and exponentials: a key of a block is compared with M, the maximum
 * of all keys visited up to the end of its block, itself excepted, and P(flushed) = int phi(m - D)
 * (1 - P(M <= m)) dm, D = 10 ln 2 + ln S, P(M <= m) = Phi(m)^n Phi(m - Delta)^k. Uses the kernel's
 * order, block and scale. 1 <= k <= block; keys > k. Relative error below 1e-9. */
pcast_theory_underflow pcast_theory_expected_underflow(const pcast_kernel *kernel, size_t keys,
                                                       size_t sinks, double delta);

#ifdef __cplusplus
}
#endif

#endif
