/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over a head's scores for its distribution, one for the predictions. */
#include "experiment/head_shape.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "experiment/heads_view.h"
#include "math/constants.h"
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
    pcast_head_keys keys;
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
    pcast_heads_products(self->experiment, &self->shape, self->engine, &self->keys, self->head,
                         query, visible, self->products + visible.first);
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
    uint64_t splits, tiles, raising, saturated, keys;
} walk_sums;

/* The maximum of a split: of all that it has seen, and the one it works with (step 4.1). */
typedef struct running_max {
    float first, max, held; /* first: after its first tile with a visible key, NaN before */
    double sum;             /* normalise=partition: of exp(score - max) */
} running_max;

static running_max begin_split(const pcast_kernel *kernel, const pcast_visit *visit)
{
    const int sink = visit->split == 0 && kernel->sink_given &&
                     kernel->learned_sink == PCAST_LEARNED_SINK_INITIAL;
    const float start = sink ? kernel->sink_logit : -INFINITY;
    return (running_max){NAN, start, start, 0};
}

/* A tile's largest score enters the maximum; the kernel's stays while it lags by no more than tau.
 */
static void raise_max(const pcast_kernel *kernel, running_max *running, float tile, walk_sums *sums)
{
    const float factor = kernel->threshold_unit == PCAST_THRESHOLD_NATS ? 1.0f : PCAST_LOG2_E_F32;
    const double step = ((double)tile - (double)running->max) / PCAST_LN2;
    const float tau = kernel->rescale_threshold;
    running->max = tile > running->max ? tile : running->max;
    if (isnan(running->first)) {
        running->first = running->max;
    } else {
        sums->tiles++;
        sums->raising += step > 0;
        sums->lag_largest = step > sums->lag_largest ? step : sums->lag_largest;
    }
    const float lag = (running->max - running->held) * factor;
    const int stays = kernel->threshold_test == PCAST_THRESHOLD_LT ? lag < tau : lag <= tau;
    if (running->held == -INFINITY || !stays)
        running->held = running->max;
}

/* The first of two passes: the sum by which P is divided before its cast. */
static void add_sum(running_max *running, float max_before, const float *scores, size_t count)
{
    running->sum *= max_before == -INFINITY ? 0 : exp((double)max_before - (double)running->max);
    for (size_t i = 0; i < count; i++)
        running->sum += exp((double)scores[i] - (double)running->max);
}

static void end_split(const running_max *running, walk_sums *sums)
{
    if (isnan(running->first))
        return;
    sums->splits++;
    sums->lag_total += ((double)running->max - (double)running->first) / PCAST_LN2;
}

static pcast_range overlap(pcast_range a, pcast_range b)
{
    const size_t a_end = a.first + a.count, b_end = b.first + b.count;
    const size_t first = a.first > b.first ? a.first : b.first;
    const size_t end = a_end < b_end ? a_end : b_end;
    return (pcast_range){first, end > first ? end - first : 0};
}

static void add_walk(const head_scores *self, pcast_range visible, size_t query, walk_sums *sums)
{
    const pcast_kernel *kernel = &self->kernel;
    const int two_passes = kernel->normalise == PCAST_NORMALISE_PARTITION;
    const double depth =
        log2(pcast_format_overflow_bound(kernel->p_format)) - log2((double)kernel->scale);
    const pcast_range visited =
        pcast_visited_keys(kernel, self->shape.queries, self->shape.keys, query);
    running_max running = {NAN, -INFINITY, -INFINITY, 0};
    pcast_walk walk;
    pcast_visit visit;
    pcast_walk_start(&walk, kernel, self->shape.keys, visited.first, visited.first + visited.count);
    while (pcast_walk_next(&walk, &visit)) {
        const pcast_range seen = overlap(visit.range, visible);
        const float *scores = self->scores + seen.first;
        if (visit.begins_split) {
            end_split(&running, sums);
            running = begin_split(kernel, &visit);
        }
        if (seen.count == 0)
            continue;
        const float max_before = running.max;
        if (visit.sums_only || !two_passes)
            raise_max(kernel, &running, self->engine->max(-INFINITY, scores, seen.count), sums);
        if (visit.sums_only) {
            add_sum(&running, max_before, scores, seen.count);
            continue;
        }
        const double divided = two_passes ? log(running.sum) : 0;
        for (size_t i = 0; i < seen.count; i++)
            sums->saturated +=
                ((double)scores[i] - (double)running.held - divided) / PCAST_LN2 > depth;
        sums->keys += seen.count;
    }
    end_split(&running, sums);
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
    pcast_status status = pcast_head_keys_init(&self.keys, experiment, &self.shape, err);
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
        pcast_head_keys_load(&self.keys, experiment, &self.shape, head);
        fill_distribution(&self);
        predict(&self, shape, &sums, &variance, &used);
        pcast_fpenv_leave(&env);
        shape->score_sd = sqrt(variance / (double)used);
        shape->underflow_normal /= (double)used;
        shape->underflow_shape /= (double)used;
        shape->lag_total = sums.lag_total / (double)sums.splits;
        shape->lag_largest = sums.lag_largest;
        shape->raising = (double)sums.raising / (double)sums.tiles;
        shape->saturated = (double)sums.saturated / (double)sums.keys;
    }
    pcast_head_keys_free(&self.keys);
    free(self.products);
    free(self.scores);
    free(self.is_sink);
    free(self.below);
    return status;
}
