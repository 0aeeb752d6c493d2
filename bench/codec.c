/* SPDX-License-Identifier: MIT */
/* Conversions of arrays: far more numbers than the caches near a core hold, and 2^11 that stay in
 * the first one, beside copying as many floats. */
#include "bench.h"

#include "pcast/format.h"

#include <stdio.h>

enum { SMALL = 1 << 11, BY_ONE = 1 << 18 };

typedef enum what_to_do { CONVERT, SMALL_CONVERT, ONE_BY_ONE } what_to_do;

/* choice[] of a case. */
enum { TO, FROM, DATA };

typedef struct operation {
    what_to_do what;
    pcast_format to, from;
} operation;

static const operation operations[] = {
    {ONE_BY_ONE, PCAST_E4M3, PCAST_F32},    {CONVERT, PCAST_E4M3, PCAST_F32},
    {CONVERT, PCAST_E5M2, PCAST_F32},       {CONVERT, PCAST_E4M3FNUZ, PCAST_F32},
    {CONVERT, PCAST_F16, PCAST_F32},        {CONVERT, PCAST_BF16, PCAST_F32},
    {CONVERT, PCAST_E4M3, PCAST_F16},       {CONVERT, PCAST_E4M3, PCAST_BF16},
    {CONVERT, PCAST_F32, PCAST_E4M3},       {CONVERT, PCAST_F32, PCAST_F16},
    {SMALL_CONVERT, PCAST_E4M3, PCAST_F32}, {SMALL_CONVERT, PCAST_F32, PCAST_E4M3},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const pcast_cast saturating = {.overflow = PCAST_OVERFLOW_SATURATE};

static const void *input(const bench *self, const bench_case *what)
{
    return what->choice[FROM] == PCAST_F32 ? (const void *)self->floats[what->choice[DATA]]
                                           : self->source;
}

static void prepare(const bench *self, const bench_case *what)
{
    if (what->choice[FROM] != PCAST_F32)
        pcast_encode_array((pcast_format)what->choice[FROM], self->source,
                           self->floats[what->choice[DATA]], self->floats_count, saturating,
                           pcast_cpu_detect());
}

static void convert(const bench *self, const bench_case *what, size_t count)
{
    const pcast_cast widening = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    pcast_convert_array((pcast_format)what->choice[TO], self->result,
                        (pcast_format)what->choice[FROM], input(self, what), count,
                        what->choice[TO] == PCAST_F32 ? widening : saturating,
                        (pcast_cpu)what->level);
}

static void convert_all(const bench *self, const bench_case *what)
{
    convert(self, what, self->floats_count);
}

static void convert_small(const bench *self, const bench_case *what)
{
    convert(self, what, SMALL);
}

static void one_by_one(const bench *self, const bench_case *what)
{
    const float *x = self->floats[what->choice[DATA]];
    for (int i = 0; i < BY_ONE; i++)
        self->result[i] =
            (uint8_t)pcast_encode_f32((pcast_format)what->choice[TO], x[i], saturating);
}

static void add(bench *self, const operation *o, int data, int level)
{
    static const char *const names[] = {"", " in cache", " one by one"};
    static const char *const data_names[BENCH_DATA] = {"normals", "random bits"};
    const size_t units[] = {self->floats_count, SMALL, BY_ONE};
    bench_case what = {
        .group = "codec",
        .data = data_names[data],
        .level = level,
        .threads = 1,
        .unit = "numbers",
        .units = (double)units[o->what],
        .limit = BENCH_COPY,
        .work = 1,
        .run = o->what == CONVERT         ? convert_all
               : o->what == SMALL_CONVERT ? convert_small
                                          : one_by_one,
        .prepare = prepare,
        .choice = {(int)o->to, (int)o->from, data},
    };
    snprintf(what.name, sizeof what.name, "%s to %s%s", pcast_format_name(o->from),
             pcast_format_name(o->to), names[o->what]);
    bench_add(self, &what);
}

void bench_add_codec(bench *self)
{
    for (int data = 0; data < BENCH_DATA; data++)
        for (int o = 0; o < OPERATIONS; o++) {
            if (operations[o].what == ONE_BY_ONE)
                add(self, &operations[o], data, -1);
            for (int level = 0; operations[o].what != ONE_BY_ONE && level <= PCAST_CPU_AVX512;
                 level++)
                if (self->levels[level])
                    add(self, &operations[o], data, level);
        }
}
