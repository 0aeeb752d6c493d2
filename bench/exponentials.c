/* SPDX-License-Identifier: MIT */
/* The exponentials of P (binary32) and of the exact reference (binary64), and the normals of the
 * synthetic experiment, on arrays in the first cache.
 *
 * The limit counts the additions and multiplications in binary64 of the source, each worth two
 * multiply-adds in binary32 as a vector holds half as many: 26 for both exponentials
 * (src/math/exp_vector.h), 35 for a normal near the centre and 60 more for 15 % that are in the
 * tails (src/random/engine_simd.h). Integer work, selections and table look-ups do not count. */
#include "bench.h"

#include "measure/engine.h"
#include "random/draws.h"
#include "softmax/engine.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 1024 };

typedef struct data {
    float scores[COUNT], p[COUNT];
    double doubles[COUNT];
    uint64_t next; /* draws go on, or branches would be learnt by heart */
} data;

static void exponentials(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    memcpy(arrays->p, arrays->scores, sizeof arrays->p);
    pcast_engine_for((pcast_cpu)what->level)->exponentials(arrays->p, COUNT, what->choice[0]);
}

static void weights(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    pcast_measure_engine_for((pcast_cpu)what->level)
        ->weights(arrays->scores, 0, arrays->doubles, COUNT);
}

static void normals(const bench *self, const bench_case *what)
{
    data *arrays = (data *)self->owned[what->choice[1]];
    const pcast_stream stream = {1, 2, PCAST_STREAM_VALUES};
    pcast_draw_normals(stream, (pcast_cpu)what->level, arrays->next, COUNT, arrays->doubles);
    arrays->next += COUNT;
}

void bench_add_exponentials(bench *self)
{
    static const struct {
        const char *name;
        void (*run)(const bench *self, const bench_case *what);
        int base2;
        double operations;
    } functions[] = {{"exp f32", exponentials, 0, 26},
                     {"exp2 f32", exponentials, 1, 26},
                     {"exp f64", weights, 0, 26},
                     {"normals", normals, 0, 44}};
    const int owned = (int)self->owned_count;
    data *arrays = bench_alloc(self, 1, sizeof *arrays);
    if (arrays == NULL)
        return;
    for (int i = 0; i < COUNT; i++)
        arrays->scores[i] = self->floats[0][i] - 6; /* Delta = 6 behind a sink */
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
        for (int level = 0; level <= PCAST_CPU_AVX512; level++) {
            bench_case what = {.group = "exponential",
                               .data = "",
                               .level = level,
                               .threads = 1,
                               .unit = "numbers",
                               .units = COUNT,
                               .limit = BENCH_FMA,
                               .work = 2 * functions[f].operations,
                               .run = functions[f].run,
                               .choice = {functions[f].base2, owned}};
            snprintf(what.name, sizeof what.name, "%s", functions[f].name);
            if (self->levels[level])
                bench_add(self, &what);
        }
}
