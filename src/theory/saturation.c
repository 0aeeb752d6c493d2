/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saturation under a stale running maximum (docs/theory.md, section 6).
 *
 * A kernel that rescales only when the true maximum has risen by more than tau keeps m = stale
 * maximum: after a block with maximum M it stays m if M <= m + tau and becomes M otherwise. Its
 * density f obeys f'(x) = f(x) G(x + tau) + g(x) F(x - tau), G and g the distribution and density
 * of the block's maximum, F the integral of f. A key of a block that leaves m in place saturates if
 * its score s lies in (m + h, m + tau], h = ln(464 / S): p * S = S e^(s - m) > 464. */
#include "pcast/theory.h"

#include "theory/normal.h"
#include "theory/visits.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_PER_SIGMA = 100, BLOCKS_MAX = 100000 };

/* Functions tabulated at x = low + i * step. */
typedef struct stale_maximum {
    const pcast_theory_row *row;
    double tau, rise; /* nats: threshold, and h */
    double low, step;
    size_t count;
    double *density, *cumulative, *stay, *block_density, *saturating;
} stale_maximum;

/* Distribution of one score. */
static double other_cdf(const stale_maximum *self, double x)
{
    return pcast_normal_cdf(x / self->row->sigma);
}

static double sink_cdf(const stale_maximum *self, double x)
{
    return other_cdf(self, x - self->row->delta);
}

/* P(every key of a block of `others` other keys and `sinks` sinks scores at most x). */
static double block_cdf(const stale_maximum *self, double x, double others, double sinks)
{
    return exp(others * pcast_normal_log_cdf(x / self->row->sigma) +
               sinks * pcast_normal_log_cdf((x - self->row->delta) / self->row->sigma));
}

/* Everything about one kind of block: G(x + tau), g(x), and the expected number of its keys that
 * saturate when the stale maximum x stays. */
static void tabulate_block(stale_maximum *self, double others, double sinks)
{
    const double sigma = self->row->sigma, tau = self->tau;
    for (size_t i = 0; i < self->count; i++) {
        const double x = self->low + (double)i * self->step;
        self->stay[i] = block_cdf(self, x + tau, others, sinks);
        const double all = block_cdf(self, x, others, sinks);
        const double other = other_cdf(self, x), sink = sink_cdf(self, x);
        self->block_density[i] = 0;
        if (other > 0 && others > 0)
            self->block_density[i] += others * all / other * pcast_normal_pdf(x / sigma) / sigma;
        if (sink > 0 && sinks > 0)
            self->block_density[i] +=
                sinks * all / sink * pcast_normal_pdf((x - self->row->delta) / sigma) / sigma;
        self->saturating[i] = 0;
        const double other_top = other_cdf(self, x + tau), sink_top = sink_cdf(self, x + tau);
        if (self->rise < tau && other_top > 0)
            self->saturating[i] +=
                others * self->stay[i] * (1 - other_cdf(self, x + self->rise) / other_top);
        if (self->rise < tau && sink_top > 0 && sinks > 0)
            self->saturating[i] +=
                sinks * self->stay[i] * (1 - sink_cdf(self, x + self->rise) / sink_top);
    }
}

/* F(x - tau) at node i, by linear interpolation. */
static double cumulative_below(const stale_maximum *self, size_t i)
{
    const double at = (double)i - self->tau / self->step;
    if (at <= 0)
        return 0;
    const size_t cell = (size_t)at;
    const double part = at - (double)cell;
    return self->cumulative[cell] * (1 - part) +
           self->cumulative[cell + 1 < self->count ? cell + 1 : cell] * part;
}

static void accumulate_density(stale_maximum *self)
{
    double sum = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (i > 0)
            sum += (self->density[i - 1] + self->density[i]) / 2 * self->step;
        self->cumulative[i] = sum;
    }
}

/* One more block; returns its expected number of saturated keys. */
static double advance(stale_maximum *self, int is_first)
{
    double saturated = 0;
    if (!is_first)
        for (size_t i = 0; i < self->count; i++)
            saturated += self->density[i] * self->saturating[i] * self->step;
    for (size_t i = 0; i < self->count; i++)
        self->density[i] = is_first ? self->block_density[i]
                                    : self->density[i] * self->stay[i] +
                                          self->block_density[i] * cumulative_below(self, i);
    accumulate_density(self);
    return saturated;
}

static int init(stale_maximum *self)
{
    const double sigma = self->row->sigma, delta = self->row->delta;
    self->step = sigma / STEPS_PER_SIGMA;
    self->low = (delta < 0 ? delta : 0) - 6 * sigma;
    self->count = (size_t)(((delta > 0 ? delta : 0) + 9 * sigma - self->low) / self->step) + 1;
    double **tables[] = {&self->density, &self->cumulative, &self->stay, &self->block_density,
                         &self->saturating};
    int ok = 1;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i] = calloc(self->count, sizeof(double));
        ok &= *tables[i] != NULL;
    }
    return ok;
}

static void release(stale_maximum *self)
{
    free(self->density);
    free(self->cumulative);
    free(self->stay);
    free(self->block_density);
    free(self->saturating);
}

double pcast_theory_saturation(const pcast_theory_row *row, double tau)
{
    if (!pcast_theory_row_valid(row) || row->scale > 464 || !(tau >= 0) || !gsl_finite(tau))
        return GSL_NAN;
    if (log(464 / row->scale) >= tau * M_LN2) /* no score can lie between */
        return 0;
    if (fabs(row->delta) > 100 || row->keys / row->block > BLOCKS_MAX)
        return GSL_NAN;
    stale_maximum self = {.row = row, .tau = tau * M_LN2, .rise = log(464 / row->scale)};
    double saturated = GSL_NAN;
    if (init(&self)) {
        pcast_visits runs[3];
        const int count = pcast_visits_of(row, runs);
        int is_first = 1;
        saturated = 0;
        for (int i = 0; i < count; i++) {
            tabulate_block(&self, runs[i].others, runs[i].sink_block ? (double)row->sinks : 0);
            for (double block = 0; block < runs[i].blocks; block++) {
                saturated += advance(&self, is_first);
                is_first = 0;
            }
        }
        saturated /= (double)row->keys;
    }
    release(&self);
    return saturated;
}

double pcast_theory_headroom(double scale, double tau)
{
    return scale > 0 ? log2(448) - log2(scale) - tau : GSL_NAN;
}
