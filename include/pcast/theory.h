/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed forms and quadratures for one row of attention: N keys in KV blocks, the first k of them
 * sinks. Sinks score Delta + N(mu, sigma^2), the other keys N(mu, sigma^2), in nats, all
 * independent; mu cancels. The paper has sigma = 1.
 *
 * A key is flushed when p * S <= 2^-10: when its score lies D = 10 ln 2 + ln S or more below the
 * running maximum at the time of its cast, which is the largest score up to the end of its own
 * block.
 *
 * Binary64 through GSL and libm. Functions return NaN outside the domain they state. A program that
 * uses them calls gsl_set_error_handler_off() once, since GSL's default handler aborts.
 * Derivations: docs/theory.md. */
#ifndef PCAST_THEORY_H
#define PCAST_THEORY_H

#include "pcast/kernel.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pcast_theory_row {
    pcast_order order;
    size_t keys;  /* N > sinks */
    size_t sinks; /* k, 1 .. block */
    size_t block; /* B */
    double scale; /* S > 0 */
    double delta; /* Delta, nats */
    double sigma; /* > 0 */
} pcast_theory_row;

/* 1 if every field is in its domain. */
int pcast_theory_row_valid(const pcast_theory_row *row);

/* ---- The sinks and the collapse, to leading order ---- */

/* D = 10 ln 2 + ln S. */
double pcast_theory_flush_depth(double scale);

/* delta_k = E[M], M the maximum of k standard normals, = int_0^inf (1 - Phi(x)^k - (1 - Phi(x))^k)
 * dx; k >= 1. Absolute error below 1e-10. */
double pcast_theory_delta_k(size_t sinks);

/* Standard deviation of M, from E[M^2] = 2 int_0^inf x (1 - Phi(x)^k + (1 - Phi(x))^k) dx; same
 * error. */
double pcast_theory_delta_k_sd(size_t sinks);

/* P(M <= x) = Phi(x)^k, and the x where it is u, 0 < u < 1. */
double pcast_theory_sink_max_cdf(double x, size_t sinks);
double pcast_theory_sink_max_quantile(double u, size_t sinks);

/* Collapse threshold Delta_c = D - sigma delta_k, where F = 1/2. */
double pcast_theory_delta_c(double scale, size_t sinks, double sigma);

/* Collapse fraction, forward order: the sinks' maximum replaced by its mean,
 * F = Phi((Delta + sigma delta_k - D) / sigma). */
double pcast_theory_f(double delta, double scale, size_t sinks, double sigma);

/* The same where the largest sink lies `gap` above the mean of the others: Phi((gap - D) / sigma).
 */
double pcast_theory_f_gap(double gap, double sigma, double scale);

/* ---- Underflow and subnormals, exact for finite N and either order ---- */

/* Expected fractions of keys; NaN where there are no such keys. */
typedef struct pcast_theory_fractions {
    double all;     /* of all other keys */
    double inside;  /* of the other keys in the sinks' block */
    double outside; /* of those in any other block */
} pcast_theory_fractions;

/* Flushed keys. With M the maximum of all keys seen by the end of the key's block but itself,
 * P(flushed) = int phi(t - D/sigma) (1 - P(M <= t)) dt, P(M <= t) = Phi(t)^n Phi(t - Delta/sigma)^s
 * (n other keys, s sinks seen). Relative error below 1e-9. */
pcast_theory_fractions pcast_theory_underflow(const pcast_theory_row *row);

/* Keys with a subnormal code: 2^-10 < p * S < 7.5 * 2^-9. Absolute error below 1e-9. */
pcast_theory_fractions pcast_theory_subnormal(const pcast_theory_row *row);

/* Guarantee of the reverse order: a key visited before the sinks' block is flushed with at most
 * this probability, (N - 1) Phi(-D / (sigma sqrt 2)), since some other key must score D more. The
 * sinks' own block is not covered: see `inside`. */
double pcast_theory_reverse_bound(size_t keys, double scale, double sigma);

/* ---- Saturation under a stale maximum ---- */

/* Expected fraction of all keys, sinks included, with p * S > 464 when the running maximum is
 * replaced only once the true one lies more than tau (log2 units) above it. 0 < S <= 464, tau >= 0.
 * By a recursion of the stale maximum's density over blocks; absolute error below 1e-5. */
double pcast_theory_saturation(const pcast_theory_row *row, double tau);

/* log2 448 - log2 S - tau: below 0, a stale maximum may saturate. */
double pcast_theory_headroom(double scale, double tau);

/* ---- Error and mass ---- */

typedef struct pcast_theory_loss {
    double mse;       /* E[sum (p - p8/S)^2 / l^2]: the output's MSE for values of unit variance */
    double mass;      /* E[sum p / l] over the other keys: their share of the attention */
    double mass_kept; /* E[sum (p8/S) / l] over that; above 1 where the cast rounds up more than it
                         flushes */
} pcast_theory_loss;

/* Exact expectations over the scores, up to float32 rounding, for 0.1 <= sigma <= 5 and |Delta| <=
 * 100. Relative error below 1e-4 (the cells of E4M3 are integrated with three points each);
 * absolute error of the underlying integrals below 1e-12. Some 10 ms at sigma = 1, up to 0.2 s at
 * the ends of the domain, whatever N. */
pcast_theory_loss pcast_theory_expected_loss(const pcast_theory_row *row);

/* The first of them alone, in half the time. */
double pcast_theory_mse(const pcast_theory_row *row);

/* The same of many rows, in a fraction of the time where rows of one sigma and S follow each
 * other. */
void pcast_theory_expected_losses(const pcast_theory_row *rows, size_t count,
                                  pcast_theory_loss *losses);
void pcast_theory_mse_rows(const pcast_theory_row *rows, size_t count, double *mse);

typedef struct pcast_theory_spread {
    double mean; /* of the MSE given P, by another route than pcast_theory_mse */
    double sd;   /* its standard deviation over trials */
} pcast_theory_spread;

/* How much the mean squared error given P scatters from one trial to the next; same domain. By a
 * Markov chain of the running maximum over blocks; relative error below 1e-3. Costs N/B block
 * steps: some 0.3 s for N = 4096. */
pcast_theory_spread pcast_theory_mse_spread(const pcast_theory_row *row);

/* The MSE to leading order, for insight: the sinks' maximum at its mean, l at its mean, other keys
 * flushed whole or rounded with the mean squared relative error rho = 2^-6/12 * 3/(8 ln 2) = 7.0e-4
 * of a normal code, N' e^(2 sigma^2) (F2 + rho (1 - F2)) / (N' e^(sigma^2/2) + k e^(Delta +
 * sigma^2/2))^2 with N' = N - k and F2 the share of sum p^2 that is flushed, F at 2 sigma^2 less.
 * Forward order; with reverse order F2 = 0. NaN where it
 * leaves the range of binary64. */
double pcast_theory_mse_leading(const pcast_theory_row *row);

/* ---- Accumulation in a tensor core ---- */

/* Equal addends in one accumulator: what a row of equal scores and V = 1 adds up to before it is
 * divided by its row sum, P being the cast of S. */
typedef struct pcast_theory_chain {
    int alignment_bits; /* F: a summand is cut off F bits below the largest one's exponent; <= 25 */
    int result_bits;    /* kept behind the point of the accumulator; <= F */
    double step;        /* addends that join the accumulator at once */
    double tile;        /* keys whose sum from zero is added in FP32; 0: one accumulator for all */
    double block;       /* keys per KV block: a multiple of tile, and tile or block of step */
    int tail_first;     /* a short block comes first, as in reverse order; else last */
    double addend;      /* their value, a number of E4M3 above 0 */
} pcast_theory_chain;

/* The chain of a kernel's P.V under hardware semantics; its block must be resolved. Returns 0 where
 * there is none: no tensor core with an FP32 accumulator, one that adds it late, splits, P not cast
 * at the end, S that is cast to zero, a block of no whole steps or promoted parts. */
int pcast_theory_chain_of(const pcast_kernel *kernel, pcast_theory_chain *chain);

/* Share of keys * addend that the sum holds, which FP32's rounding may bring above 1; keys >= 1,
 * whole. NaN outside the domain. To the bit what the instructions give. */
double pcast_theory_chain_kept(const pcast_theory_chain *chain, double keys);

/* Fewest keys of which that share is off from 1 by `loss`, 0 < loss < 1, to within one step, or
 * with promotion whole tiles; infinity where 2^48 keys are not off by it. */
double pcast_theory_chain_keys(const pcast_theory_chain *chain, double loss);

/* ---- The grid of E4M3 under S ---- */

/* Widest cell between neighbouring E4M3 values whose lower end is below S, over S (the paper's dp):
 * searched on the grid. Beyond 448 the saturation step S - 448 counts as a cell. S >= 2^-9. */
double pcast_theory_dp(double scale);

/* The same by formula: max(2^(ceil(log2 S) - 4), S - 448) / S, for S >= 2^-6. */
double pcast_theory_dp_formula(double scale);

/* Largest |p - E4M3(p S)/S| over 0 <= p <= 1, saturating: half a cell, or the end. S > 0. */
double pcast_theory_worst_point(double scale);

/* p from here up is cast to a normal code: 2^-6 / S. */
double pcast_theory_coverage(double scale);

/* 1 if p * S is exact in FP32 for every p whose product is normal: S is a power of two. */
int pcast_theory_scale_is_exact(double scale);

#ifdef __cplusplus
}
#endif

#endif
