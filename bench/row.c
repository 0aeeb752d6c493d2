/* SPDX-License-Identifier: MIT */
/* The online softmax: dot products and P.V of one block of 128 keys x 128 channels, with one row
 * and with many at once, and whole rows of 4096 keys. The limit is the multiply-adds of Q.K or P.V
 * alone. */
#include "bench.h"

#include "pcast/softmax.h"
#include "softmax/engine.h"

#include <stdio.h>

enum { KEYS = 4096, BLOCK = 128, DIM = 128, ROWS = 48 };

typedef struct data {
    float scores[KEYS], values[KEYS * DIM];
    float p[ROWS][BLOCK], o[ROWS][DIM];
} data;

static void dots(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    const pcast_engine *engine = pcast_engine_for((pcast_cpu)what->level);
    for (int i = 0; i < BLOCK; i++)
        arrays->o[0][i] = engine->dot(arrays->p[0], arrays->values + i * DIM, DIM);
}

static void accumulate(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    float *o[ROWS], alpha[ROWS];
    const float *p[ROWS];
    for (int r = 0; r < ROWS; r++) {
        o[r] = arrays->o[r];
        p[r] = arrays->p[r];
        alpha[r] = 0.5f;
    }
    pcast_engine_for((pcast_cpu)what->level)
        ->accumulate(o, alpha, p, (size_t)what->choice[0], arrays->values, BLOCK, DIM);
}

static void row(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    const pcast_kernel kernel = {.block = BLOCK, .scale = 256};
    const pcast_row_input input = {arrays->scores, arrays->values, KEYS, DIM, KEYS, 0};
    pcast_row_output output = {.o = arrays->o[0]};
    pcast_softmax_row(&kernel, (pcast_cpu)what->level, &input, NULL, NULL, &output, NULL);
}

static void fill(data *arrays, const float *normals)
{
    for (int i = 0; i < KEYS; i++)
        arrays->scores[i] = normals[i] + (i < 4 ? 6.0f : 0.0f);
    for (int i = 0; i < KEYS * DIM; i++)
        arrays->values[i] = normals[i];
    for (int i = 0; i < ROWS * BLOCK; i++)
        arrays->p[i / BLOCK][i % BLOCK] = normals[i] > 0 ? normals[i] : -normals[i];
}

void bench_add_row(bench *self)
{
    static const int rows[] = {1, 3, 6, ROWS};
    const int owned = (int)self->owned_count;
    data *arrays = bench_alloc(self, 1, sizeof *arrays);
    if (arrays == NULL)
        return;
    fill(arrays, self->floats[0]);
    for (int level = 0; level <= PCAST_CPU_AVX512; level++) {
        if (!self->levels[level])
            continue;
        bench_case what = {.group = "row",
                           .data = "",
                           .level = level,
                           .threads = 1,
                           .unit = "multiply-adds",
                           .units = BLOCK * DIM,
                           .limit = BENCH_FMA,
                           .work = 1,
                           .run = dots,
                           .choice = {0, owned}};
        snprintf(what.name, sizeof what.name, "Q.K");
        bench_add(self, &what);
        what.run = accumulate;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            snprintf(what.name, sizeof what.name, "P.V of %d row%s", rows[i],
                     rows[i] > 1 ? "s" : "");
            what.choice[0] = rows[i];
            what.units = (double)BLOCK * DIM * rows[i];
            bench_add(self, &what);
        }
        snprintf(what.name, sizeof what.name, "softmax 4096 x 128");
        what.run = row;
        what.unit = "keys";
        what.units = KEYS;
        what.work = DIM;
        bench_add(self, &what);
    }
}
