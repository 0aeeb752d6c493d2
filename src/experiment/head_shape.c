/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over a head's scores for its distribution, one for the predictions. */
#include "experiment/head_shape.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/heads_view.h"
#include "pcast/theory.h"
#include "softmax/scores.h"
#include "softmax/walk.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Standardised scores are counted in bins of this width from -RANGE to RANGE. */
enum { BINS = 4096, RANGE = 16 };

typedef struct head_scores {
    const pcast_heads *experiment;
    pcast_kernel kernel; /* resolved */
    const pcast_engine *engine;
    pcast_heads_shape shape;
    size_t head;
    float *products, *scores; /* [keys] */
    uint8_t *is_sink;         /* [keys] */
    double *below;            /* [BINS + 1] share of other keys below the bin, over all queries */
} head_scores;

/* Mean and spread of the other visible keys' scores, and the largest of all. */
typedef struct query_stats {
    double mean, sd, max;
    size_t others;
} query_stats;

static pcast_range load_query(head_scores *self, size_t query)
{
    const pcast_range visible =
        pcast_visible_keys(&self->kernel, self->shape.queries, self->shape.keys, query);
    pcast_heads_products(self->experiment, &self->shape, self->engine, self->head, query, visible,
                         self->products + visible.first);
    pcast_scores(self->products + visible.first, visible.count, self->shape.softmax_scale,
                 self->kernel.softcap, self->scores + visible.first);
    return visible;
}

static query_stats stats_of(const head_scores *self, pcast_range visible)
{
    query_stats stats = {.max = -INFINITY};
    double sum = 0, squares = 0;
    for (size_t i = visible.first; i < visible.first + visible.count; i++) {
        const double z = (double)self->scores[i];
        stats.max = z > stats.max ? z : stats.max;
        if (!self->is_sink[i]) {
            sum += z;
            stats.others++;
        }
    }
    stats.mean = sum / (double)stats.others;
    for (size_t i = visible.first; i < visible.first + visible.count; i++) {
        const double deviation = (double)self->scores[i] - stats.mean;
        squares += self->is_sink[i] ? 0 : deviation * deviation;
    }
    stats.sd = sqrt(squares / (double)stats.others);
    return stats;
}

static int usable(const query_stats *stats)
{
    return stats->others >= 2 && stats->sd > 0;
}

static size_t bin_of(double x)
{
    const double at = (x + RANGE) * (BINS / (2.0 * RANGE));
    return at < 0 ? 0 : at >= BINS ? BINS - 1 : (size_t)at;
}

/* Running maxima of the query's walk: how they rise, and which keys a stale one would saturate. */
typedef struct walk_sums {
    double lag_total, lag_largest;
    uint64_t queries, tiles, raising, saturated, keys;
} walk_sums;

static void add_walk(const head_scores *self, pcast_range visible, size_t query, walk_sums *sums)
{
    const double per_log2 = 0.69314718055994531, tau = (double)self->kernel.rescale_threshold;
    const double depth =
        log2(pcast_format_overflow_bound(self->kernel.p_format)) - log2((double)self->kernel.scale);
    const pcast_range visited =
        pcast_visited_keys(&self->kernel, self->shape.queries, self->shape.keys, query);
    double first = NAN, max = -INFINITY, held = -INFINITY;
    pcast_walk walk;
    pcast_visit visit;
    pcast_walk_start(&walk, &self->kernel, self->shape.keys, visited.first,
                     visited.first + visited.count);
    while (pcast_walk_next(&walk, &visit)) {
        double tile = -INFINITY;
        const size_t end = visit.range.first + visit.range.count;
        for (size_t i = visit.range.first; i < end; i++)
            if (i >= visible.first && i < visible.first + visible.count)
                tile = fmax(tile, (double)self->scores[i]);
        if (tile == -INFINITY)
            continue;
        if (isnan(first)) {
            first = max = held = tile;
        } else {
            const double step = (tile - max) / per_log2;
            sums->tiles++;
            sums->raising += step > 0;
            sums->lag_largest = step > sums->lag_largest ? step : sums->lag_largest;
            max = fmax(max, tile);
            if ((max - held) / per_log2 > tau)
                held = max;
        }
        for (size_t i = visit.range.first; i < end; i++)
            if (i >= visible.first && i < visible.first + visible.count) {
                sums->keys++;
                sums->saturated += ((double)self->scores[i] - held) / per_log2 > depth;
            }
    }
    sums->queries++;
    sums->lag_total += (max - first) / per_log2;
}

static void predict(const head_scores *self, pcast_head_shape *shape, walk_sums *sums,
                    double *variance, uint64_t *used)
{
    const double depth = pcast_theory_flush_depth((double)self->kernel.scale);
    for (size_t query = 0; query < self->shape.queries; query++) {
        const pcast_range visible = load_query((head_scores *)self, query);
        if (visible.count == 0)
            continue;
        const query_stats stats = stats_of(self, visible);
        add_walk(self, visible, query, sums);
        if (!usable(&stats))
            continue;
        const double x = (stats.max - depth - stats.mean) / stats.sd;
        shape->underflow_normal += gsl_cdf_ugaussian_P(x);
        shape->underflow_shape += self->below[bin_of(x)];
        *variance += stats.sd * stats.sd;
        ++*used;
    }
}

/* Distribution of (score - mean) / sd over the other keys of all queries. */
static void fill_distribution(head_scores *self)
{
    double total = 0;
    for (size_t query = 0; query < self->shape.queries; query++) {
        const pcast_range visible = load_query(self, query);
        const query_stats stats = stats_of(self, visible);
        for (size_t i = visible.first; usable(&stats) && i < visible.first + visible.count; i++)
            if (!self->is_sink[i]) {
                self->below[bin_of(((double)self->scores[i] - stats.mean) / stats.sd) + 1] += 1;
                total += 1;
            }
    }
    for (size_t b = 1; b <= BINS; b++)
        self->below[b] = self->below[b - 1] + self->below[b] / total;
}

pcast_status pcast_head_shape_of(const pcast_heads *experiment, const pcast_kernel *kernel,
                                 pcast_cpu cpu, size_t head, const size_t *sinks,
                                 pcast_head_shape *shape, pcast_error *err)
{
    head_scores self = {.experiment = experiment,
                        .kernel = *kernel,
                        .engine = pcast_engine_for(cpu),
                        .shape = pcast_heads_shape_of(experiment),
                        .head = head};
    *shape = (pcast_head_shape){0};
    pcast_kernel_resolve(&self.kernel, self.shape.dim);
    self.products = calloc(self.shape.keys, sizeof *self.products);
    self.scores = calloc(self.shape.keys, sizeof *self.scores);
    self.is_sink = calloc(self.shape.keys, sizeof *self.is_sink);
    self.below = calloc(BINS + 1, sizeof *self.below);
    pcast_status status = PCAST_OK;
    if (self.products == NULL || self.scores == NULL || self.is_sink == NULL || self.below == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu keys", self.shape.keys);
    if (status == PCAST_OK) {
        walk_sums sums = {0};
        double variance = 0;
        uint64_t used = 0;
        pcast_fpenv env;
        pcast_fpenv_enter(&env);
        for (size_t i = 0; i < experiment->sinks; i++)
            self.is_sink[sinks[i]] = 1;
        fill_distribution(&self);
        predict(&self, shape, &sums, &variance, &used);
        pcast_fpenv_leave(&env);
        shape->score_sd = sqrt(variance / (double)used);
        shape->underflow_normal /= (double)used;
        shape->underflow_shape /= (double)used;
        shape->lag_total = sums.lag_total / (double)sums.queries;
        shape->lag_largest = sums.lag_largest;
        shape->raising = (double)sums.raising / (double)sums.tiles;
        shape->saturated = (double)sums.saturated / (double)sums.keys;
    }
    free(self.products);
    free(self.scores);
    free(self.is_sink);
    free(self.below);
    return status;
}
