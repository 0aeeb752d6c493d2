/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of the default sweep: 25 Delta, three S, both orders, 4096 keys of 128 channels, with
 * draws, exact references and losses; no theory, which is computed once for a grid. A unit is one
 * configuration of one trial; its limit is P.V alone. */
#include "bench.h"

#include "pcast/experiment.h"

#include <omp.h>
#include <stdio.h>

enum { DELTAS = 25, SCALES = 3, KERNELS = 2 * SCALES, KEYS = 4096, DIM = 128 };

static void sweep(const bench *self, const bench_case *what)
{
    static const float scales[SCALES] = {1, 256, 448};
    double deltas[DELTAS];
    pcast_kernel kernels[KERNELS];
    pcast_summary summaries[KERNELS * DELTAS];
    for (int i = 0; i < DELTAS; i++)
        deltas[i] = 0.5 * i;
    for (int i = 0; i < KERNELS; i++)
        kernels[i] = (pcast_kernel){.order = i < SCALES ? PCAST_ORDER_FORWARD : PCAST_ORDER_REVERSE,
                                    .block = 128,
                                    .scale = scales[i % SCALES]};
    const pcast_synthetic experiment = {.keys = KEYS,
                                        .dim = DIM,
                                        .sinks = 4,
                                        .seed = 1,
                                        .trials = (size_t)what->choice[0],
                                        .deltas = deltas,
                                        .delta_count = DELTAS};
    const pcast_run run = {.kernels = kernels,
                           .kernel_count = KERNELS,
                           .threads = what->threads,
                           .cpu = (pcast_cpu)what->level};
    (void)self;
    pcast_synthetic_run(&experiment, &run, summaries, NULL);
}

static void add(bench *self, int level, int threads, int trials)
{
    bench_case what = {.group = "sweep",
                       .data = "",
                       .level = level,
                       .threads = threads,
                       .unit = "configurations x trials",
                       .units = (double)KERNELS * DELTAS * trials,
                       .limit = BENCH_FMA,
                       .work = (double)KEYS * DIM / threads,
                       .run = sweep,
                       .choice = {trials}};
    snprintf(what.name, sizeof what.name, "default grid");
    bench_add(self, &what);
}

void bench_add_sweep(bench *self)
{
    const int processors = omp_get_num_procs();
    for (int level = 0; level <= PCAST_CPU_AVX512; level++) {
        if (!self->levels[level])
            continue;
        add(self, level, 1, self->quick ? 1 : 4);
        if (processors > 1)
            add(self, level, processors, processors * (self->quick ? 1 : 4));
    }
}
