/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact expectations of the mean squared error given P and of the attention mass kept
 * (docs/theory.md, section 7).
 *
 * Both are sums over keys i of w(s_i - m_j) / L^r, where m_j is the running maximum after key i's
 * block and L = sum over all keys of e^(s - m_j); for the error r = 2 and w(x) = (e^x - c(x))^2,
 * for the mass r = 1 and w = c(x) or e^x, with c(x) = E4M3(S e^x) / S. Writing 1/L^r as the
 * integral of u^(r-1) e^(-uL) makes the keys factorise for fixed (m, u). The names of the factors
 * below (free, below, cast, density) are those of the table in docs/theory.md. What remains is a
 * double integral over m and ln u by the trapezoidal rule, which converges exponentially for such
 * integrands, and a geometric sum over blocks. */
#include "pcast/theory.h"

#include "theory/loss_transforms.h"
#include "theory/normal.h"
#include "theory/visits.h"

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `below` is a difference of numbers up to 1; a smaller one has no digits left, and nothing to add
 * to a result. */
#define VANISHES 1e-13

enum { ERROR = PCAST_WEIGHT_ERROR, KEPT = PCAST_WEIGHT_KEPT, MASS = PCAST_WEIGHT_MASS };

/* One kind of key at one m and u. */
typedef struct factors {
    double free, below, density;
    double cast[PCAST_WEIGHTS];
} factors;

typedef struct moments {
    const pcast_theory_row *row;
    pcast_loss_tables *tables;
    pcast_loss_grid grid;
    double *free_other, *free_sink; /* by z = ln u - m, index z / step - z_low */
    long z_low, z_count;
    pcast_visits runs[3];
    int run_count;
} moments;

/* Sum over keys and blocks of the integrand at (m, u), for each weight; without e^(-u) of the
 * maximum. */
static void add_point(const moments *self, const factors *other, const factors *sink,
                      double sums[PCAST_WEIGHTS])
{
    const double *at_maximum = self->tables->at_maximum;
    const double k = (double)self->row->sinks, all = (double)(self->row->keys - self->row->sinks);
    const double log_below = log(other->below), log_free = log(other->free);
    const double log_sink_below = log(GSL_MAX(sink->below, VANISHES)),
                 log_sink_free = log(sink->free);
    const double f = other->density / other->below;
    /* Where it vanishes, no run with sinks seen is counted. */
    const double g = sink->below < VANISHES ? 0 : sink->density / sink->below;
    for (int i = 0; i < self->run_count; i++) {
        const pcast_visits *run = &self->runs[i];
        const double seen = run->seen, sinks_seen = run->sinks_seen;
        if (sinks_seen > 0 && sink->below < VANISHES)
            continue;
        /* The product over all other keys but the one that is cast, in the run's first block; each
         * further block turns `others` free keys into visited ones. */
        const double rest = sinks_seen * log_sink_below + (k - sinks_seen) * log_sink_free;
        const double product = exp((seen - 1) * log_below + (all - seen) * log_free + rest);
        const pcast_geometric blocks =
            pcast_geometric_sums(run->blocks, run->others * (log_free - log_below));
        for (int w = 0; w < self->tables->weights && run->others > 0; w++) {
            const double first =
                other->cast[w] * ((seen - 1) * f + sinks_seen * g) + at_maximum[w] * other->density;
            sums[w] += run->others * product *
                       (first * blocks.sum + other->cast[w] * f * run->others * blocks.weighted);
        }
        if (run->sink_block) {
            const double own =
                exp(seen * log_below + (all - seen) * log_free + (k - 1) * log_sink_below);
            sums[ERROR] +=
                k * own *
                (sink->cast[ERROR] * (seen * f + (k - 1) * g) + at_maximum[ERROR] * sink->density);
        }
    }
}

/* z = y * ratio - m, as an index of the free transforms. */
static factors factors_at(const moments *self, const pcast_transforms *kind, const double *free,
                          long m_index, long y)
{
    const double here = free[self->grid.ratio * y - m_index - self->z_low];
    const long u = y - self->tables->y_low;
    factors result = {here, here - kind->above[u], kind->density, {0}};
    for (int w = 0; w < self->tables->weights; w++)
        result.cast[w] = kind->cast[w][u];
    return result;
}

/* The integral over ln u at one m, added to results. Returns 0 when memory runs out. */
static int add_m(const moments *self, long m_index, double results[PCAST_WEIGHTS])
{
    const double step = self->grid.step, y_step = self->grid.ratio * step;
    const pcast_transforms *others = pcast_transforms_at(self->tables, m_index, 0);
    const pcast_transforms *sinks = pcast_transforms_at(self->tables, m_index, self->row->delta);
    if (others == NULL || sinks == NULL)
        return 0;
    for (long y = self->grid.y_low; y < self->grid.y_end; y++) {
        double sums[PCAST_WEIGHTS] = {0};
        const factors other = factors_at(self, others, self->free_other, m_index, y);
        const factors sink = factors_at(self, sinks, self->free_sink, m_index, y);
        if (other.below < VANISHES)
            continue;
        add_point(self, &other, &sink, sums);
        const double u = self->tables->u[y - self->tables->y_low];
        const double measure = y_step * step * exp(-u) * u; /* du = u d(ln u) */
        results[ERROR] += measure * u * sums[ERROR];
        results[KEPT] += measure * sums[KEPT];
        results[MASS] += measure * sums[MASS];
    }
    return 1;
}

static int integrate(const moments *self, double results[PCAST_WEIGHTS])
{
    const pcast_loss_grid *grid = &self->grid;
    for (long m = grid->m_low; m <= grid->m_high; m++)
        if (!add_m(self, m, results))
            return 0;
    for (long m = grid->second_low; m <= grid->second_high; m++)
        if ((m < grid->m_low || m > grid->m_high) && !add_m(self, m, results))
            return 0;
    return 1;
}

/* Returns 0 when memory runs out. */
static int expectation(const pcast_theory_row *row, pcast_loss_tables *tables,
                       double results[PCAST_WEIGHTS])
{
    moments self = {.row = row, .tables = tables};
    const pcast_loss_grid grid = self.grid = pcast_loss_grid_of(row, tables->weights);
    self.run_count = pcast_visits_of(row, self.runs);
    self.z_low = grid.ratio * grid.y_low - GSL_MAX(grid.m_high, grid.second_high);
    self.z_count =
        grid.ratio * (grid.y_end - 1) - GSL_MIN(grid.m_low, grid.second_low) - self.z_low + 1;
    self.free_other = calloc((size_t)self.z_count, sizeof(double));
    self.free_sink = calloc((size_t)self.z_count, sizeof(double));
    const double z_low = (double)self.z_low * grid.step;
    const int ok =
        self.free_other != NULL && self.free_sink != NULL &&
        pcast_free_transforms(z_low, grid.step, row->sigma, self.z_count, self.free_other) &&
        pcast_free_transforms(z_low + row->delta, grid.step, row->sigma, self.z_count,
                              self.free_sink) &&
        integrate(&self, results);
    free(self.free_other);
    free(self.free_sink);
    return ok;
}

/* How many rows from the first on share its tables; 0 if it is outside the domain. */
static size_t run_length(const pcast_theory_row *rows, size_t count)
{
    size_t n = 0;
    while (n < count && pcast_theory_integrable(&rows[n]) && rows[n].sigma == rows[0].sigma &&
           rows[n].scale == rows[0].scale)
        n++;
    return n;
}

/* Of each row the loss, or where losses is NULL its error alone. NaN outside the domain or without
 * memory. */
static void expectations(const pcast_theory_row *rows, size_t count, pcast_theory_loss *losses,
                         double *errors)
{
    for (size_t first = 0; first < count;) {
        const size_t run = run_length(rows + first, count - first);
        pcast_loss_tables tables = {0};
        int ok = run > 0 && pcast_loss_tables_init(&tables, rows + first, run,
                                                   losses != NULL ? PCAST_WEIGHTS : ERROR + 1);
        for (size_t i = first; i < first + GSL_MAX(run, 1); i++) {
            double results[PCAST_WEIGHTS] = {0};
            ok = ok && expectation(&rows[i], &tables, results);
            if (losses != NULL)
                losses[i] = ok ? (pcast_theory_loss){results[ERROR], results[MASS],
                                                     results[KEPT] / results[MASS]}
                               : (pcast_theory_loss){GSL_NAN, GSL_NAN, GSL_NAN};
            else
                errors[i] = ok ? results[ERROR] : GSL_NAN;
        }
        pcast_loss_tables_free(&tables);
        first += GSL_MAX(run, 1);
    }
}

void pcast_theory_mse_rows(const pcast_theory_row *rows, size_t count, double *mse)
{
    expectations(rows, count, NULL, mse);
}

double pcast_theory_mse(const pcast_theory_row *row)
{
    double mse;
    expectations(row, 1, NULL, &mse);
    return mse;
}

void pcast_theory_expected_losses(const pcast_theory_row *rows, size_t count,
                                  pcast_theory_loss *losses)
{
    expectations(rows, count, losses, NULL);
}

pcast_theory_loss pcast_theory_expected_loss(const pcast_theory_row *row)
{
    pcast_theory_loss loss;
    expectations(row, 1, &loss, NULL);
    return loss;
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
