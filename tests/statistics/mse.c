/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mse_theory against the mean of mse_given_p over trials, on the grid of underflow.c: within 1 %
 * and three standard errors, on every cell.
 *
 * usage: mse [TRIALS TRIALS_AT_32768 [EVERY]]   (default 20000 and 5000, every cell); EVERY n takes
 * every n-th Delta. */
#include "pcast/experiment.h"
#include "pcast/theory.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SINKS = 4, DELTAS = 27, KERNELS = 16 };

/* Running mean and sum of squared deviations of mse_given_p, [kernel][delta]. */
typedef struct moments {
    size_t deltas;
    double mean[KERNELS * DELTAS], squares[KERNELS * DELTAS];
} moments;

static pcast_status collect(void *context, size_t row, const pcast_loss *losses)
{
    moments *all = context;
    for (size_t i = 0; i < KERNELS * all->deltas; i++) {
        const double step = losses[i].mse_given_p - all->mean[i];
        all->mean[i] += step / (double)(row + 1);
        all->squares[i] += step * (losses[i].mse_given_p - all->mean[i]);
    }
    return PCAST_OK;
}

static size_t fill_kernels(pcast_kernel kernels[KERNELS])
{
    static const float scales[] = {1, 16, 256, 448};
    size_t count = 0;
    for (int order = 0; order < 2; order++)
        for (size_t block = 64; block <= 128; block *= 2)
            for (size_t s = 0; s < 4; s++)
                kernels[count++] =
                    (pcast_kernel){.order = (pcast_order)order, .block = block, .scale = scales[s]};
    return count;
}

static int check(size_t n, size_t trials, size_t every, size_t *tested)
{
    static moments all;
    double deltas[DELTAS], worst = 0;
    pcast_kernel kernels[KERNELS];
    pcast_error err = {""};
    int wrong = 0;
    all = (moments){0};
    for (size_t d = 0; d < DELTAS; d += every)
        deltas[all.deltas++] = 0.5 * (double)d;
    const pcast_synthetic experiment = {n, 1, SINKS, 7, trials, deltas, all.deltas, 1, 0, 0};
    const pcast_run run = {.kernels = kernels,
                           .kernel_count = fill_kernels(kernels),
                           .cpu = pcast_cpu_detect(),
                           .each_row = collect,
                           .row_context = &all};
    pcast_summary *summaries = malloc(KERNELS * DELTAS * sizeof *summaries);
    if (summaries == NULL || pcast_synthetic_run(&experiment, &run, summaries, &err) != PCAST_OK) {
        printf("N = %zu: %s\n", n, err.text);
        return 1;
    }
    free(summaries);
    for (size_t i = 0; i < KERNELS * all.deltas; i++) {
        const pcast_kernel *kernel = &kernels[i / all.deltas];
        const pcast_theory_row row = {
            kernel->order,          n, SINKS, kernel->block, (double)kernel->scale,
            deltas[i % all.deltas], 1};
        const double theory = pcast_theory_mse(&row), t = (double)trials;
        const double se = sqrt(all.squares[i] / (t - 1) / t), away = fabs(theory - all.mean[i]);
        ++*tested;
        worst = away / (0.01 * all.mean[i] + 3 * se) > worst ? away / (0.01 * all.mean[i] + 3 * se)
                                                             : worst;
        if (away <= 0.01 * all.mean[i] + 3 * se)
            continue;
        wrong++;
        printf("N = %zu, B = %zu, %s, S = %g, Delta = %g: simulated %.6g +- %.2g, theory %.6g\n", n,
               row.block, pcast_order_name(row.order), row.scale, row.delta, all.mean[i], se,
               theory);
    }
    printf("N = %zu: %zu cells, %zu trials, %d outside; the worst at %.2f of what is allowed\n", n,
           KERNELS * all.deltas, trials, wrong, worst);
    return wrong;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {256, 4096, 32768};
    const size_t trials = argc > 2 ? strtoul(argv[1], NULL, 10) : 20000;
    const size_t trials_large = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000;
    const size_t every = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    size_t tested = 0;
    int wrong = 0;
    gsl_set_error_handler_off();
    if (trials < 2 || trials_large < 2 || every < 1) {
        fprintf(stderr, "mse: at least two trials, EVERY from 1\n");
        return 2;
    }
    for (size_t i = 0; i < 3; i++)
        wrong += check(sizes[i], i < 2 ? trials : trials_large, every, &tested);
    printf("mse_theory against simulation: %zu cells, %d outside\n", tested, wrong);
    return wrong == 0 && tested > 0 ? 0 : 1;
}
