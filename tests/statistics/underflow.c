/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated underflow against theory, cell by cell of the grid Delta 0..13 step 0.5, S in {1, 16,
 * 256, 448}, both orders, N in {256, 4096, 32768}, B in {64, 128}.
 *
 * Primary test: given the running maxima of each trial, the keys of a block are independent. Where
 * the maximum m was reached in an earlier block, or by a sink, every other key is a normal
 * truncated at m; where another key of the block is the maximum, that one is not lost and the rest
 * are truncated. So the number lost given the maxima is a sum of independent indicators with P =
 * Phi(m - D) / Phi(m), whatever the joint law of the maxima is. The count over all trials must lie
 * within an interval of level 0.01 / (number of cells): exact Poisson for small expectations (a sum
 * of indicators has lighter tails than Poisson), normal with the sum's own variance for large ones.
 * Secondary test: the unconditional mean against pcast_theory_underflow, where at least 30 trials
 * lose a key.
 *
 * usage: underflow [TRIALS [TRIALS_AT_32768]]   (default 400 and 60) */
#include "pcast/softmax.h"
#include "pcast/theory.h"

#include "random/draws.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SINKS = 4,
    DELTAS = 27,
    SCALES = 4,
    ORDERS = 2,
    BLOCKS = 2,
    CELLS = DELTAS * SCALES * ORDERS * BLOCKS
};

static const float scales[SCALES] = {1, 16, 256, 448};
static const size_t blocks[BLOCKS] = {64, 128};

typedef struct cell {
    double lost, expected, variance; /* over trials */
    double lost_squares;
    size_t losing_trials;
} cell;

typedef struct watch {
    double depth, m; /* m: running maximum before the block */
    cell trial;
    const float *scores;
} watch;

static void observe(void *context, const pcast_tile *tile)
{
    watch *seen = context;
    const double m = (double)tile->m;
    double others = 0;
    for (size_t i = 0; i < tile->count; i++) {
        const size_t key = tile->first_key + i;
        if (key < SINKS)
            continue;
        /* The key that raised the maximum is known not to be lost. */
        others += !((double)seen->scores[key] == m && m > seen->m);
        seen->trial.lost += tile->p8[i] == 0;
    }
    const double p =
        seen->depth > 0 ? gsl_cdf_ugaussian_P(m - seen->depth) / gsl_cdf_ugaussian_P(m) : 1;
    seen->trial.expected += others * p;
    seen->trial.variance += others * p * (1 - p);
    seen->m = m;
}

static cell run_row(const pcast_row_input *input, pcast_order order, size_t block, float scale)
{
    const pcast_kernel kernel = {.order = order, .block = block, .scale = scale};
    watch seen = {
        .depth = pcast_theory_flush_depth((double)scale), .m = -INFINITY, .scores = input->scores};
    float o;
    pcast_row_output output = {.o = &o};
    pcast_softmax_row(&kernel, pcast_cpu_detect(), input, observe, &seen, &output, NULL);
    return seen.trial;
}

static void add(cell *sum, const cell *trial)
{
    sum->lost += trial->lost;
    sum->lost_squares += trial->lost * trial->lost;
    sum->expected += trial->expected;
    sum->variance += trial->variance;
    sum->losing_trials += trial->lost > 0;
}

static void run_trial(size_t n, uint32_t trial, cell cells[CELLS])
{
    double *normals = malloc(n * sizeof *normals);
    float *scores = malloc(n * sizeof *scores), *values = calloc(n, sizeof *values);
    pcast_draw_normals((pcast_stream){2026, trial, (uint32_t)n}, pcast_cpu_detect(), 0, n, normals);
    const pcast_row_input input = {scores, values, n, 1, n, 0};
    for (size_t c = 0; c < CELLS; c++) {
        const size_t b = c % BLOCKS, o = c / BLOCKS % ORDERS, s = c / BLOCKS / ORDERS % SCALES;
        const size_t d = c / BLOCKS / ORDERS / SCALES;
        if (c % (BLOCKS * ORDERS * SCALES) == 0)
            for (size_t j = 0; j < n; j++)
                scores[j] = (float)(j < SINKS ? 0.5 * (double)d + normals[j] : normals[j]);
        const cell one = run_row(&input, (pcast_order)o, blocks[b], scales[s]);
#pragma omp critical
        add(&cells[c], &one);
    }
    free(normals);
    free(scores);
    free(values);
}

/* Two-sided tail probability of the count given the maxima. */
static double conditional_p(const cell *sum)
{
    if (sum->expected < 200 && sum->expected > 0) {
        const double low = gsl_cdf_poisson_P((unsigned)sum->lost, sum->expected);
        const double high =
            sum->lost > 0 ? gsl_cdf_poisson_Q((unsigned)sum->lost - 1, sum->expected) : 1;
        return GSL_MIN(1, 2 * GSL_MIN(low, high));
    }
    const double away = fabs(sum->lost - sum->expected);
    if (!(sum->variance > 0))
        return away < 0.5 ? 1 : 0;
    return 2 * gsl_cdf_ugaussian_Q(GSL_MAX(away - 0.5, 0) / sqrt(sum->variance));
}

/* Two-sided tail probability of the mean against the unconditional expectation; 1 where too few
 * trials lose a key. */
static double unconditional_p(const cell *sum, const pcast_theory_row *row, size_t trials)
{
    const double t = (double)trials, keys = (double)(row->keys - row->sinks);
    const double mean = sum->lost / t, variance = (sum->lost_squares - t * mean * mean) / (t - 1);
    if (sum->losing_trials < 30 || !(variance > 0))
        return 1;
    return 2 * gsl_cdf_tdist_Q(
                   fabs(mean - keys * pcast_theory_underflow(row).all) / sqrt(variance / t), t - 1);
}

static int check(size_t n, size_t trials, size_t all_cells, size_t *tested)
{
    static cell cells[CELLS];
    int wrong = 0;
    double least = 1;
    for (size_t c = 0; c < CELLS; c++)
        cells[c] = (cell){0};
#pragma omp parallel for schedule(dynamic)
    for (size_t t = 0; t < trials; t++)
        run_trial(n, (uint32_t)t, cells);
    for (size_t c = 0; c < CELLS; c++) {
        const pcast_theory_row row = {.order = (pcast_order)(c / BLOCKS % ORDERS),
                                      .keys = n,
                                      .sinks = SINKS,
                                      .block = blocks[c % BLOCKS],
                                      .scale = (double)scales[c / BLOCKS / ORDERS % SCALES],
                                      .delta = 0.5 * (double)(c / BLOCKS / ORDERS / SCALES),
                                      .sigma = 1};
        const double given = conditional_p(&cells[c]),
                     plain = unconditional_p(&cells[c], &row, trials);
        const double level = 0.01 / (double)all_cells;
        ++*tested;
        least = GSL_MIN(least, GSL_MIN(given, plain));
        if (given >= level && plain >= level)
            continue;
        wrong++;
        printf("N = %zu, B = %zu, %s, S = %g, Delta = %g: lost %g, expected given the maxima %g (p "
               "= %.2g); "
               "unconditional p = %.2g\n",
               n, row.block, pcast_order_name(row.order), row.scale, row.delta, cells[c].lost,
               cells[c].expected, given, plain);
    }
    printf("N = %zu: %d cells, %zu trials, %d outside; least p %.2g\n", n, CELLS, trials, wrong,
           least);
    return wrong;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {256, 4096, 32768};
    const size_t trials = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
    const size_t trials_large = argc > 2 ? strtoul(argv[2], NULL, 10) : 60;
    size_t tested = 0;
    int wrong = 0;
    gsl_set_error_handler_off();
    if (trials < 2 || trials_large < 2) {
        fprintf(stderr, "underflow: at least two trials\n");
        return 2;
    }
    for (size_t i = 0; i < 3; i++)
        wrong += check(sizes[i], i < 2 ? trials : trials_large, 3 * CELLS, &tested);
    printf("underflow against theory: %zu cells, %d outside\n", tested, wrong);
    return wrong == 0 && tested == 3 * CELLS ? 0 : 1;
}
