/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long theory takes, beside what it replaces: one point of mse_theory against one simulated
 * trial of the same row, which is what a Monte Carlo estimate would need some thousands of; and
 * rows of closed forms in a second. */
#include "pcast/theory.h"
#include "pcast/experiment.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* what other processes do does not count */
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Mean time of one trial of the row, one channel, one thread. */
static double trial_time(const pcast_theory_row *row)
{
    const pcast_kernel kernel = {
        .order = row->order, .block = row->block, .scale = (float)row->scale};
    const pcast_synthetic experiment = {row->keys, 1, row->sinks, 1, 50, &row->delta, 1, 1, 0, 0};
    const pcast_run run = {
        .kernels = &kernel, .kernel_count = 1, .threads = 1, .cpu = pcast_cpu_detect()};
    pcast_summary summary;
    const double start = now();
    pcast_synthetic_run(&experiment, &run, &summary, NULL);
    return (now() - start) / 50;
}

enum { ROWS = 25 };

int main(void)
{
    static const size_t sizes[] = {256, 4096, 32768};
    static const double scales[] = {1, 16, 256, 448};
    gsl_set_error_handler_off();
    for (int n = 0; n < 3; n++) {
        double worst = 0, total = 0, sum = 0;
        int points = 0;
        for (int order = 0; order < 2; order++)
            for (int s = 0; s < 4; s++)
                for (double delta = 0; delta <= 13; delta += 1) {
                    const pcast_theory_row row = {(pcast_order)order, sizes[n], 4, 64,
                                                  scales[s],          delta,    1};
                    const double start = now();
                    sum += pcast_theory_mse(&row);
                    const double time = now() - start;
                    total += time;
                    worst = time > worst ? time : worst;
                    points++;
                }
        const pcast_theory_row row = {PCAST_ORDER_FORWARD, sizes[n], 4, 64, 1, 6, 1};
        printf("mse_theory, N = %zu: %.2f ms a point, at most %.2f ms; a simulated trial %.3f ms "
               "(sum %.3g)\n",
               sizes[n], 1e3 * total / points, 1e3 * worst, 1e3 * trial_time(&row), sum);
    }
    pcast_theory_row rows[ROWS];
    double mse[ROWS];
    for (int i = 0; i < ROWS; i++)
        rows[i] = (pcast_theory_row){PCAST_ORDER_FORWARD, 4096, 4, 128, 1, 0.5 * i, 1};
    double start = now();
    pcast_theory_mse_rows(rows, ROWS, mse);
    printf("%d Delta of one S together: %.2f ms a point (last %.3g)\n", ROWS,
           1e3 * (now() - start) / ROWS, mse[ROWS - 1]);
    start = now();
    double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum +=
            pcast_theory_f(0.013 * i, 1 + i % 448, 4, 1) + pcast_theory_delta_c(1 + i % 448, 4, 1) +
            pcast_theory_reverse_bound(4096, 1 + i % 448, 1) + pcast_theory_dp_formula(1 + i % 448);
    printf("1000 points of closed forms: %.3f s (sum %.6g)\n", now() - start, sum);
    return 0;
}
