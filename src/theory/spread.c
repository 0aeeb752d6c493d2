/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread over trials of the mean squared error given P (docs/theory.md, section 8).
 *
 * X = sum_i e^(2 m_j) w(s_i - m_j) / L^2 with L = sum e^s needs its second moment, in which pairs
 * of keys from blocks with different running maxima meet. With 1/L^(2r) = int t^(2r-1) e^(-tL) dt /
 * (2r-1)! the row becomes, for fixed t, a Markov chain of the running maximum over blocks: carry
 *   A_r(m) = E[e^(-t L_visited) X_visited^r; maximum at m] dm, r = 0, 1, 2.
 * A block either leaves the maximum where it is (all its keys below: B_p) or moves it to m (b_p):
 *   A_r'(m) = sum_q C(r, q) (A_q(m) B_(r-q)(m) + b_(r-q)(m) int_(m' < m) A_q(m') dm').
 * Section 7's mean comes out as r = 1, by a route that shares only the quadrature nodes with it. */
#include "pcast/theory.h"

#include "theory/cast_nodes.h"
#include "theory/normal.h"
#include "theory/visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 3 }; /* r = 0, 1, 2 */

#define REACH_LOW  6.0
#define REACH_HIGH 8.5
/* Steps of m (over sigma) and of ln t. */
#define M_STEP 0.125
#define T_STEP 0.4

/* E[(sum w)^p e^(-u sum e^x); all x <= 0] of some keys, and its density where their maximum is at
 * 0. */
typedef struct group {
    double stay[ORDERS], move[ORDERS];
} group;

typedef struct chain {
    const pcast_theory_row *row;
    pcast_cast_nodes nodes;
    double low, step;
    size_t count; /* of m */
    double at_maximum;
    double *a[ORDERS], *below[ORDERS]; /* A_r, and its integral up to m */
    group *first, *full;               /* [count] of the sinks' block and of a full one */
    group *tail;
} chain;

/* Moments of one key: E[w^p e^(-u e^x); x <= 0] for scores N(shift, sigma^2), p = 0, 1, 2. */
static void key_moments(const chain *self, double m, double u, double shift, double moments[ORDERS])
{
    const double sigma = self->row->sigma;
    moments[0] = moments[1] = moments[2] = 0;
    for (size_t i = 0; i < self->nodes.count; i++) {
        const double x = self->nodes.x[i], z = (m + x - shift) / sigma;
        if (z < -9 || z > 9)
            continue;
        const double e = exp(x), w = (e - self->nodes.cast[i]) * (e - self->nodes.cast[i]);
        const double f = self->nodes.weight[i] * pcast_normal_pdf(z) / sigma * exp(-u * e);
        moments[0] += f;
        moments[1] += f * w;
        moments[2] += f * w * w;
    }
}

/* n independent keys of one kind. */
static group keys_group(const chain *self, double n, double m, double u, double shift)
{
    double k[ORDERS];
    group keys = {{1, 0, 0}, {0, 0, 0}};
    if (n == 0)
        return keys;
    key_moments(self, m, u, shift, k);
    if (!(k[0] > 0))
        return (group){{0}, {0}};
    const double c = self->at_maximum, p = pow(k[0], n - 1);
    const double one = k[1] / k[0], two = k[2] / k[0]; /* per key that is below */
    keys.stay[0] = p * k[0];
    keys.stay[1] = n * p * k[1];
    keys.stay[2] = n * p * k[2] + n * (n - 1) * p * k[1] * one;
    /* One of the n keys is the maximum. */
    const double top =
        n * p * pcast_normal_pdf((m - shift) / self->row->sigma) / self->row->sigma * exp(-u);
    keys.move[0] = top;
    keys.move[1] = top * ((n - 1) * one + c);
    keys.move[2] =
        top * ((n - 1) * two + (n - 1) * (n - 2) * one * one + 2 * c * (n - 1) * one + c * c);
    return keys;
}

/* Both groups in one block: sums add, so moments convolve. */
static group join(const group *x, const group *y)
{
    static const double binomial[ORDERS][ORDERS] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 1}};
    group both = {{0}, {0}};
    for (int r = 0; r < ORDERS; r++)
        for (int q = 0; q <= r; q++) {
            const double c = binomial[r][q];
            both.stay[r] += c * x->stay[q] * y->stay[r - q];
            both.move[r] += c * (x->move[q] * y->stay[r - q] + x->stay[q] * y->move[r - q]);
        }
    return both;
}

/* Integral of A up to each m: a cubic rule on every interval. */
static void integrate(const chain *self, const double *a, double *below)
{
    const double h = self->step / 24;
    below[0] = 0;
    for (size_t i = 1; i < self->count; i++) {
        const double before = i >= 2 ? a[i - 2] : 0, after = i + 1 < self->count ? a[i + 1] : 0;
        below[i] = below[i - 1] + h * (13 * (a[i - 1] + a[i]) - before - after);
    }
}

/* One more block. Its X is in units of e^(2m), which scale[] holds. */
static void advance(chain *self, const group *block, const double *scale, int is_first)
{
    static const double binomial[ORDERS][ORDERS] = {{1, 0, 0}, {1, 1, 0}, {1, 2, 1}};
    for (int r = 0; r < ORDERS && !is_first; r++)
        integrate(self, self->a[r], self->below[r]);
    for (size_t i = 0; i < self->count; i++) {
        double next[ORDERS] = {0};
        double unit = 1; /* scale^(r - q) */
        for (int p = 0; p < ORDERS; p++, unit *= scale[i])
            for (int q = 0; q + p < ORDERS; q++) {
                const double move = is_first ? (q == 0 ? block[i].move[p] : 0)
                                             : block[i].move[p] * self->below[q][i];
                const double stay = is_first ? 0 : block[i].stay[p] * self->a[q][i];
                next[q + p] += binomial[q + p][q] * unit * (stay + move);
            }
        for (int r = 0; r < ORDERS; r++)
            self->a[r][i] = next[r];
    }
}

/* The groups of every kind of block at one t. */
static void fill_groups(chain *self, double t, const pcast_visits *runs, int run_count)
{
    for (size_t i = 0; i < self->count; i++) {
        const double m = self->low + (double)i * self->step, u = t * exp(m);
        for (int n = 0; n < run_count; n++) {
            const group others = keys_group(self, runs[n].others, m, u, 0);
            if (runs[n].sink_block) {
                const group sinks =
                    keys_group(self, (double)self->row->sinks, m, u, self->row->delta);
                self->first[i] = join(&others, &sinks);
            } else {
                (runs[n].blocks > 1 || runs[n].others == (double)self->row->block ? self->full
                                                                                  : self->tail)[i] =
                    others;
            }
        }
    }
}

/* Contributions of one t to E[X] and E[X^2]. */
static void add_t(chain *self, double log_t, double *scale, double moments[2])
{
    pcast_visits runs[3];
    const int run_count = pcast_visits_of(self->row, runs);
    const double t = exp(log_t);
    int is_first = 1;
    /* X in units of 1/t^2, so that nothing over- or underflows: e^(2m) t^2 = u^2. */
    for (size_t i = 0; i < self->count; i++) {
        const double u = t * exp(self->low + (double)i * self->step);
        scale[i] = u * u;
    }
    fill_groups(self, t, runs, run_count);
    for (int n = 0; n < run_count; n++) {
        const group *block = runs[n].sink_block ? self->first
                             : runs[n].blocks > 1 || runs[n].others == (double)self->row->block
                                 ? self->full
                                 : self->tail;
        for (double b = 0; b < runs[n].blocks; b++) {
            advance(self, block, scale, is_first);
            is_first = 0;
        }
    }
    for (int r = 1; r < ORDERS; r++) {
        double sum = 0;
        for (size_t i = 0; i < self->count; i++)
            sum += self->a[r][i];
        /* t^(2r-1) dt / (2r-1)! = t^(2r) d(ln t) / (2r-1)!, and t^(2r) is in the units. */
        moments[r - 1] += T_STEP * self->step * sum / (r == 1 ? 1 : 6);
    }
}

static int init(chain *self, const pcast_theory_row *row)
{
    const double sigma = row->sigma, low = row->delta < 0 ? row->delta : 0,
                 high = row->delta > 0 ? row->delta : 0;
    const double c = pcast_cast_of_maximum(row->scale);
    self->row = row;
    self->at_maximum = (1 - c) * (1 - c);
    self->step = M_STEP * sigma;
    self->low = low - REACH_LOW * sigma;
    self->count = (size_t)((high - low + (REACH_LOW + REACH_HIGH) * sigma) / self->step) + 1;
    int ok = pcast_cast_nodes_init(&self->nodes, row->scale,
                                   -(high - low) - (REACH_LOW + 2 * REACH_HIGH) * sigma,
                                   sigma < 1 ? sigma : 1);
    for (int r = 0; r < ORDERS; r++) {
        self->a[r] = calloc(self->count, sizeof(double));
        self->below[r] = calloc(self->count, sizeof(double));
        ok &= self->a[r] != NULL && self->below[r] != NULL;
    }
    self->first = calloc(self->count, sizeof(group));
    self->full = calloc(self->count, sizeof(group));
    self->tail = calloc(self->count, sizeof(group));
    return ok && self->first != NULL && self->full != NULL && self->tail != NULL;
}

static void release(chain *self)
{
    pcast_cast_nodes_free(&self->nodes);
    for (int r = 0; r < ORDERS; r++) {
        free(self->a[r]);
        free(self->below[r]);
    }
    free(self->first);
    free(self->full);
    free(self->tail);
}

pcast_theory_spread pcast_theory_mse_spread(const pcast_theory_row *row)
{
    chain self = {0};
    double moments[2] = {0, 0};
    pcast_theory_spread spread = {GSL_NAN, GSL_NAN};
    if (!pcast_theory_integrable(row))
        return spread;
    const int ok = init(&self, row);
    double *scale = calloc(self.count, sizeof *scale);
    if (ok && scale != NULL) {
        const double others = log((double)row->keys) + row->sigma * row->sigma / 2 + 2 * row->sigma;
        const double sinks = log((double)row->sinks) + row->delta + 4 * row->sigma;
        const double from = -(others > sinks ? others : sinks) - 6;
        /* L is at least e^(largest score); t beyond a few hundred of its inverse adds nothing. */
        const double to = 6 + REACH_LOW * row->sigma - (row->delta > 0 ? 0 : row->delta);
        for (double log_t = from; log_t <= to; log_t += T_STEP)
            add_t(&self, log_t, scale, moments);
        const double variance = moments[1] - moments[0] * moments[0];
        spread = (pcast_theory_spread){moments[0], sqrt(variance > 0 ? variance : 0)};
    }
    free(scale);
    release(&self);
    return spread;
}
