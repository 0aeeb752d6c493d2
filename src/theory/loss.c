/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact expectations of the mean squared error given P and of the attention mass kept
 * (docs/theory.md, section 7).
 *
 * Both are sums over keys i of w(s_i - m_j) / L^r, where m_j is the running maximum after key i's
 * block and L = sum over all keys of e^(s - m_j); for the error r = 2 and w(x) = (e^x - c(x))^2,
 * for the mass r = 1 and w = c(x) or e^x, with c(x) = E4M3(S e^x) / S. Writing 1/L^r as the
 * integral of u^(r-1) e^(-uL) makes the keys factorise for fixed (m, u). The names of the factors
 * below (free, below, cast, density) are those of the table in docs/theory.md; a sink's factors are
 * another key's at m - Delta. What remains is a double integral over m and ln u by the trapezoidal
 * rule, which converges exponentially for such integrands, and a geometric sum over blocks. */
#include "pcast/theory.h"

#include "theory/cast_nodes.h"
#include "theory/normal.h"
#include "theory/visits.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores are taken within so many standard deviations. */
#define REACH_LOW  6.0
#define REACH_HIGH 8.5
/* A key of such a density, against one of order 1, adds nothing; nor do larger u, which meet
 * e^(-u). */
#define NEGLIGIBLE 1e-22
#define U_MAX      40.0
/* `below` is a difference of numbers up to 1; a smaller one has no digits left, and nothing to add
 * to a result. */
#define VANISHES 1e-13

/* The weights w(x) that are asked for. */
enum { ERROR, KEPT, MASS, WEIGHTS };

/* Transforms of one kind of key at one m, all u. */
typedef struct transforms {
    double *below;         /* [u] */
    double *cast[WEIGHTS]; /* [u] */
    double density;        /* at m */
} transforms;

typedef struct moments {
    const pcast_theory_row *row;
    int weights; /* how many of them are asked for: ERROR alone, or all */
    double step; /* of m; ln u has ratio steps of it */
    int ratio;
    /* m = index * step; two windows, around the other keys and around the sinks. */
    long m_low, m_high;
    long second_low, second_high;
    long y_low, y_count; /* ln u = (y_low + i) * ratio * step */
    pcast_cast_nodes nodes;
    double *weight[WEIGHTS]; /* [nodes] w(x) times the node's weight */
    double at_maximum[WEIGHTS];
    double *u;                      /* [u] */
    double *decay;                  /* [nodes][u] e^(-u e^x) */
    pcast_cast_nodes tail;          /* x > 0, mirrored: x holds -x */
    double *tail_decay;             /* [tail][u] */
    double *free_other, *free_sink; /* by z = ln u - m, index z / step - z_low */
    long z_low, z_count;
    transforms other, sink;
    pcast_visits runs[3];
    int run_count;
} moments;

/* Free transforms E[exp(-e^(z + s))], s ~ N(0, sigma^2), by the trapezoidal rule, for `count` z
 * from z_low on, `step` apart. Steps of the rule divide those of z, so that all of them read one
 * table. Returns 0 when memory runs out. */
static int free_transforms(double z_low, double step, double sigma, long count, double *out)
{
    const long finer = (long)ceil(step / (sigma < 1 ? sigma / 4 : 0.25) - 1e-9);
    const double h = step / (double)finer;
    const long reach = (long)ceil(REACH_HIGH * sigma / h),
               size = (count - 1) * finer + 2 * reach + 1;
    double *decay = calloc((size_t)size, sizeof *decay);
    double *density = calloc((size_t)(2 * reach + 1), sizeof *density);
    const int ok = decay != NULL && density != NULL;
    for (long i = 0; ok && i < size; i++)
        decay[i] = exp(-exp(z_low + (double)(i - reach) * h));
    for (long i = 0; ok && i <= 2 * reach; i++)
        density[i] = pcast_normal_pdf((double)(i - reach) * h / sigma) * h / sigma;
    for (long z = 0; ok && z < count; z++) {
        double sum = 0;
        for (long i = 0; i <= 2 * reach; i++)
            sum += density[i] * decay[z * finer + i];
        out[z] = sum;
    }
    free(decay);
    free(density);
    return ok;
}

/* decay[i][u] = exp(-u e^x), x being sign times that of node i. */
static void fill_decay(const moments *self, const pcast_cast_nodes *nodes, double sign,
                       double *decay)
{
    const size_t u_count = (size_t)self->y_count;
    for (size_t i = 0; i < nodes->count; i++) {
        const double e = exp(sign * nodes->x[i]);
        for (size_t u = 0; u < u_count; u++)
            decay[i * u_count + u] = exp(-self->u[u] * e);
    }
}

static void plan_grid(moments *self)
{
    const pcast_theory_row *row = self->row;
    const double sigma = row->sigma, keys = (double)row->keys, sinks = (double)row->sinks;
    self->step = 0.25 * (sigma < 2 ? sigma : 2);
    self->ratio = self->step < 0.5 ? (int)floor(0.5 / self->step) : 1;
    const double step = self->step, low = -REACH_LOW * sigma, high = REACH_HIGH * sigma;
    self->m_low = lround(floor(low / step));
    self->m_high = lround(ceil(high / step));
    self->second_low = lround(floor((row->delta + low) / step));
    self->second_high = lround(ceil((row->delta + high) / step));
    /* L is at most about this when the maximum is typical; below 1/L the integrand of the error
     * falls as u^2, that of the mass as u. */
    const double log_others = log(keys) + sigma * sigma / 2 + 2 * sigma;
    const double log_sinks = log(sinks) + row->delta + 4 * sigma;
    const double y_step = self->ratio * step;
    const double y_from =
        -(log_others > log_sinks ? log_others : log_sinks) - (self->weights == 1 ? 9 : 12);
    self->y_low = lround(floor(y_from / y_step));
    self->y_count = lround(ceil(log(U_MAX) / y_step)) - self->y_low + 1;
}

static double *table(size_t count)
{
    return calloc(count > 0 ? count : 1, sizeof(double));
}

static int transforms_init(transforms *kind, size_t count)
{
    kind->below = table(count);
    int ok = kind->below != NULL;
    for (int w = 0; w < WEIGHTS; w++) {
        kind->cast[w] = table(count);
        ok &= kind->cast[w] != NULL;
    }
    return ok;
}

static void transforms_free(transforms *kind)
{
    free(kind->below);
    for (int w = 0; w < WEIGHTS; w++)
        free(kind->cast[w]);
}

/* Everything that depends on neither m nor the key: weights, decays, free transforms. */
static int fill_tables(moments *self)
{
    const pcast_cast_nodes *nodes = &self->nodes, *tail = &self->tail;
    const size_t u_count = (size_t)self->y_count;
    const double c0 = pcast_cast_of_maximum(self->row->scale);
    self->u = table(u_count);
    self->decay = table(nodes->count * u_count);
    self->tail_decay = table(tail->count * u_count);
    for (int w = 0; w < WEIGHTS; w++)
        self->weight[w] = table(nodes->count);
    const long m_low = GSL_MIN(self->m_low, self->second_low),
               m_high = GSL_MAX(self->m_high, self->second_high);
    self->z_low = self->ratio * self->y_low - m_high;
    self->z_count = self->ratio * (self->y_low + self->y_count - 1) - m_low - self->z_low + 1;
    self->free_other = table((size_t)self->z_count);
    self->free_sink = table((size_t)self->z_count);
    if (self->u == NULL || self->decay == NULL || self->tail_decay == NULL ||
        self->weight[ERROR] == NULL || self->weight[KEPT] == NULL || self->weight[MASS] == NULL ||
        self->free_other == NULL || self->free_sink == NULL)
        return 0;
    for (size_t u = 0; u < u_count; u++)
        self->u[u] = exp((double)(self->y_low + (long)u) * self->ratio * self->step);
    for (size_t i = 0; i < nodes->count; i++) {
        const double e = exp(nodes->x[i]), c = nodes->cast[i];
        self->weight[ERROR][i] = nodes->weight[i] * (e - c) * (e - c);
        self->weight[KEPT][i] = nodes->weight[i] * c;
        self->weight[MASS][i] = nodes->weight[i] * e;
    }
    fill_decay(self, nodes, 1, self->decay);
    fill_decay(self, tail, -1, self->tail_decay);
    const double z_low = (double)self->z_low * self->step, sigma = self->row->sigma;
    if (!free_transforms(z_low, self->step, sigma, self->z_count, self->free_other) ||
        !free_transforms(z_low + self->row->delta, self->step, sigma, self->z_count,
                         self->free_sink))
        return 0;
    self->at_maximum[ERROR] = (1 - c0) * (1 - c0);
    self->at_maximum[KEPT] = c0;
    self->at_maximum[MASS] = 1;
    return 1;
}

/* sums[u] += factor * decays[u] */
static void accumulate(double *restrict sums, double factor, const double *restrict decays,
                       size_t count)
{
    for (size_t u = 0; u < count; u++)
        sums[u] += factor * decays[u];
}

/* The processor's widest vectors for the loops above; the bits are the same, since every element is
 * its own. clang gives the selector of such a function a global name, hence the prefix. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

/* Transforms of a kind of key whose scores are N(shift, sigma^2), at m; free is its row of free
 * transforms. */
static WIDEST void pcast_loss_transform(moments *self, transforms *kind, double m, double shift,
                                        const double *free_row)
{
    const size_t u_count = (size_t)self->y_count;
    const double sigma = self->row->sigma, center = (m - shift) / sigma;
    kind->density = pcast_normal_pdf(center) / sigma;
    for (size_t u = 0; u < u_count; u++)
        kind->below[u] = free_row[(long)u * self->ratio];
    for (int w = 0; w < WEIGHTS; w++)
        memset(kind->cast[w], 0, u_count * sizeof(double));
    for (size_t i = 0; i < self->tail.count; i++) {
        const double density = pcast_normal_pdf(center - self->tail.x[i] / sigma) / sigma;
        if (density < NEGLIGIBLE)
            continue;
        accumulate(kind->below, -density * self->tail.weight[i], self->tail_decay + i * u_count,
                   u_count);
    }
    for (size_t i = 0; i < self->nodes.count; i++) {
        const double density = pcast_normal_pdf(center + self->nodes.x[i] / sigma) / sigma;
        if (density < NEGLIGIBLE)
            continue;
        for (int w = 0; w < self->weights; w++)
            accumulate(kind->cast[w], density * self->weight[w][i], self->decay + i * u_count,
                       u_count);
    }
}

/* Sum over keys and blocks of the integrand at (m, u), for each weight; without e^(-u) of the
 * maximum. */
static void add_point(const moments *self, size_t u, double free_other, double free_sink,
                      double sums[WEIGHTS])
{
    const transforms *other = &self->other, *sink = &self->sink;
    const double k = (double)self->row->sinks, all = (double)(self->row->keys - self->row->sinks);
    const double log_below = log(other->below[u]), log_free = log(free_other);
    const double log_sink_below = log(GSL_MAX(sink->below[u], VANISHES)),
                 log_sink_free = log(free_sink);
    const double f = other->density / other->below[u];
    /* Where it vanishes, no run with sinks seen is counted. */
    const double g = sink->below[u] < VANISHES ? 0 : sink->density / sink->below[u];
    for (int i = 0; i < self->run_count; i++) {
        const pcast_visits *run = &self->runs[i];
        const double seen = run->seen, sinks_seen = run->sinks_seen;
        if (sinks_seen > 0 && sink->below[u] < VANISHES)
            continue;
        /* The product over all other keys but the one that is cast, in the run's first block; each
         * further block turns `others` free keys into visited ones. */
        const double rest = sinks_seen * log_sink_below + (k - sinks_seen) * log_sink_free;
        const double product = exp((seen - 1) * log_below + (all - seen) * log_free + rest);
        const pcast_geometric blocks =
            pcast_geometric_sums(run->blocks, run->others * (log_free - log_below));
        for (int w = 0; w < self->weights && run->others > 0; w++) {
            const double first = other->cast[w][u] * ((seen - 1) * f + sinks_seen * g) +
                                 self->at_maximum[w] * other->density;
            sums[w] += run->others * product *
                       (first * blocks.sum + other->cast[w][u] * f * run->others * blocks.weighted);
        }
        if (run->sink_block) {
            const double own =
                exp(seen * log_below + (all - seen) * log_free + (k - 1) * log_sink_below);
            sums[ERROR] += k * own *
                           (sink->cast[ERROR][u] * (seen * f + (k - 1) * g) +
                            self->at_maximum[ERROR] * sink->density);
        }
    }
}

/* The integral over ln u at one m, added to results. */
static void add_m(moments *self, long m_index, double results[WEIGHTS])
{
    const double m = (double)m_index * self->step, y_step = self->ratio * self->step;
    const long z = self->ratio * self->y_low - m_index - self->z_low;
    pcast_loss_transform(self, &self->other, m, 0, self->free_other + z);
    pcast_loss_transform(self, &self->sink, m, self->row->delta, self->free_sink + z);
    for (long u = 0; u < self->y_count; u++) {
        double sums[WEIGHTS] = {0};
        if (self->other.below[u] < VANISHES)
            continue;
        add_point(self, (size_t)u, self->free_other[z + u * self->ratio],
                  self->free_sink[z + u * self->ratio], sums);
        const double value = self->u[u];
        const double measure = y_step * self->step * exp(-value) * value; /* du = u d(ln u) */
        results[ERROR] += measure * value * sums[ERROR];
        results[KEPT] += measure * sums[KEPT];
        results[MASS] += measure * sums[MASS];
    }
}

static void integrate(moments *self, double results[WEIGHTS])
{
    for (long m = self->m_low; m <= self->m_high; m++)
        add_m(self, m, results);
    for (long m = self->second_low; m <= self->second_high; m++)
        if (m < self->m_low || m > self->m_high)
            add_m(self, m, results);
}

static int init(moments *self, const pcast_theory_row *row)
{
    self->row = row;
    plan_grid(self);
    self->run_count = pcast_visits_of(row, self->runs);
    const double m_high = (double)GSL_MAX(self->m_high, self->second_high) * self->step;
    const double length = row->sigma < 1 ? row->sigma : 1;
    return pcast_cast_nodes_init(&self->nodes, row->scale, -m_high - REACH_HIGH * row->sigma,
                                 length) &&
           pcast_cast_nodes_init(&self->tail, 0x1p-20,
                                 -fabs(row->delta) - (REACH_LOW + REACH_HIGH) * row->sigma,
                                 length) &&
           transforms_init(&self->other, (size_t)self->y_count) &&
           transforms_init(&self->sink, (size_t)self->y_count) && fill_tables(self);
}

static void release(moments *self)
{
    pcast_cast_nodes_free(&self->nodes);
    pcast_cast_nodes_free(&self->tail);
    for (int w = 0; w < WEIGHTS; w++)
        free(self->weight[w]);
    free(self->u);
    free(self->decay);
    free(self->tail_decay);
    free(self->free_other);
    free(self->free_sink);
    transforms_free(&self->other);
    transforms_free(&self->sink);
}

/* Fills the first `weights` results; all NaN outside the domain or without memory. */
static void expectations(const pcast_theory_row *row, int weights, double results[WEIGHTS])
{
    moments self = {.weights = weights};
    for (int w = 0; w < WEIGHTS; w++)
        results[w] = GSL_NAN;
    if (!pcast_theory_integrable(row))
        return;
    if (init(&self, row)) {
        memset(results, 0, WEIGHTS * sizeof *results);
        integrate(&self, results);
    }
    release(&self);
}

double pcast_theory_mse(const pcast_theory_row *row)
{
    double results[WEIGHTS];
    expectations(row, ERROR + 1, results);
    return results[ERROR];
}

pcast_theory_loss pcast_theory_expected_loss(const pcast_theory_row *row)
{
    double results[WEIGHTS];
    expectations(row, WEIGHTS, results);
    return (pcast_theory_loss){results[ERROR], results[MASS], results[KEPT] / results[MASS]};
}

double pcast_theory_mse_leading(const pcast_theory_row *row)
{
    if (!pcast_theory_row_valid(row))
        return GSL_NAN;
    const double rho = 0x1p-6 / 12 * 3 / (8 * M_LN2);
    const double variance = row->sigma * row->sigma, depth = pcast_theory_flush_depth(row->scale);
    const double others = (double)(row->keys - row->sinks), sinks = (double)row->sinks;
    const double gap = row->delta + row->sigma * pcast_theory_delta_k(row->sinks);
    /* Under weights p^2 the scores are normal about 2 sigma^2. */
    const double flushed = row->order == PCAST_ORDER_FORWARD
                               ? pcast_normal_cdf((gap - depth - 2 * variance) / row->sigma)
                               : 0;
    const double log_l = log(others + sinks * exp(row->delta)) + variance / 2;
    const double value = others * (flushed + rho * (1 - flushed)) * exp(2 * variance - 2 * log_l);
    return gsl_finite(log_l) ? value : GSL_NAN;
}
