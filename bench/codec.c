/* SPDX-License-Identifier: MIT */
/* Numbers converted in a second by one thread: 2^24 normals and 2^24 random bit patterns, far more
 * than the caches near a core hold, and 2^11 that stay in the first one, at every CPU level; beside
 * them, in the same run, a copy of the floats and reading them. Every round runs all of them in
 * turn; medians over the rounds.
 *
 * usage: bench_codec [ROUNDS [FOLDER]]
 *
 * With a folder, the floats are written there for bench/codec_peers.py. */
#include "pcast/format.h"

#include "random/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COUNT = 1 << 24,
    SMALL = 1 << 11,
    ROUNDS_MAX = 99,
    DATA = 2,
    LEVELS = PCAST_CPU_AVX512 + 1,
    BY_ONE = 1 << 20, /* numbers for the one-by-one loop, which is slow */
};

static const char *const data_names[DATA] = {"normals", "random bits"};

typedef enum what { CONVERT, SMALL_CONVERT, ONE_BY_ONE, COPY, READ } what;

typedef struct operation {
    what what;
    pcast_format to, from;
} operation;

static const operation operations[] = {
    {COPY, PCAST_F32, PCAST_F32},           {READ, PCAST_F32, PCAST_F32},
    {ONE_BY_ONE, PCAST_E4M3, PCAST_F32},    {CONVERT, PCAST_E4M3, PCAST_F32},
    {CONVERT, PCAST_E5M2, PCAST_F32},       {CONVERT, PCAST_E4M3FNUZ, PCAST_F32},
    {CONVERT, PCAST_F16, PCAST_F32},        {CONVERT, PCAST_BF16, PCAST_F32},
    {CONVERT, PCAST_E4M3, PCAST_F16},       {CONVERT, PCAST_E4M3, PCAST_BF16},
    {CONVERT, PCAST_F32, PCAST_E4M3},       {CONVERT, PCAST_F32, PCAST_F16},
    {SMALL_CONVERT, PCAST_E4M3, PCAST_F32}, {SMALL_CONVERT, PCAST_F32, PCAST_E4M3},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static float *floats[DATA];
static uint8_t *source, *result;
static double seconds[DATA][OPERATIONS][LEVELS][ROUNDS_MAX];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); /* what other processes do does not count */
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Asks for memory ahead as the library does: without it the processor waits more. */
static uint64_t read_all(const void *bytes, size_t size)
{
    uint64_t sums[8] = {0}, words[8];
    for (size_t i = 0; i < size; i += sizeof words) {
        __builtin_prefetch((const void *)((uintptr_t)bytes + i + 4096));
        memcpy(words, (const uint8_t *)bytes + i, sizeof words);
        for (int j = 0; j < 8; j++)
            sums[j] += words[j];
    }
    for (int j = 1; j < 8; j++)
        sums[0] += sums[j];
    return sums[0];
}

static void run(const operation *o, const void *in, const float *x, pcast_cpu level)
{
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_SATURATE};
    const pcast_cast widening = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    const pcast_cast chosen = o->to == PCAST_F32 ? widening : cast;
    static volatile uint64_t kept;
    switch (o->what) {
    case CONVERT:
        pcast_convert_array(o->to, result, o->from, in, COUNT, chosen, level);
        break;
    case SMALL_CONVERT:
        for (int i = 0; i < COUNT / SMALL; i++)
            pcast_convert_array(o->to, result, o->from, in, SMALL, chosen, level);
        break;
    case ONE_BY_ONE:
        for (int i = 0; i < BY_ONE; i++)
            result[i] = (uint8_t)pcast_encode_f32(o->to, x[i], cast);
        break;
    case COPY:
        memcpy(result, in, COUNT * sizeof *x);
        break;
    case READ:
        kept = read_all(in, COUNT * sizeof *x);
        break;
    }
    (void)kept;
}

static int by_level(const operation *o)
{
    return o->what == CONVERT || o->what == SMALL_CONVERT;
}

static void measure(int data, int round)
{
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_SATURATE};
    for (int o = 0; o < OPERATIONS; o++) {
        const void *in = floats[data];
        if (operations[o].from != PCAST_F32) {
            pcast_encode_array(operations[o].from, source, floats[data], COUNT, cast,
                               pcast_cpu_detect());
            in = source;
        }
        for (int level = 0; level <= (by_level(&operations[o]) ? (int)pcast_cpu_detect() : 0);
             level++) {
            const double start = now();
            run(&operations[o], in, floats[data], (pcast_cpu)level);
            seconds[data][o][level][round] = now() - start;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers a second. */
static double rate(int data, int o, int level, int rounds)
{
    double *times = seconds[data][o][level];
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    const double median = (times[(rounds - 1) / 2] + times[rounds / 2]) / 2;
    return (operations[o].what == ONE_BY_ONE ? BY_ONE : COUNT) / median;
}

static void print(int data, int rounds)
{
    static const char *const names[] = {"", ", in cache", ", one by one", "copy", "read"};
    const double copy = rate(data, 0, 0, rounds);
    for (int o = 0; o < OPERATIONS; o++)
        for (int level = 0; level <= (by_level(&operations[o]) ? (int)pcast_cpu_detect() : 0);
             level++) {
            const operation *here = &operations[o];
            const double r = rate(data, o, level, rounds);
            char name[64];
            if (here->what == COPY || here->what == READ)
                snprintf(name, sizeof name, "%s", names[here->what]);
            else
                snprintf(name, sizeof name, "%s to %s%s", pcast_format_name(here->from),
                         pcast_format_name(here->to), names[here->what]);
            printf("%-12s %-26s %-7s %7.1f million/s %6.2f of the copy\n", data_names[data], name,
                   by_level(here) ? pcast_cpu_name((pcast_cpu)level) : "", r / 1e6, r / copy);
        }
}

static void fill(void)
{
    const pcast_stream stream = {1, 0, PCAST_STREAM_VALUES};
    enum { PIECE = 4096 };
    double normals[PIECE];
    uint64_t state = 1;
    uint32_t *bits = (uint32_t *)(void *)floats[1];
    for (size_t first = 0; first < COUNT; first += PIECE) {
        pcast_draw_normals(stream, first, PIECE, normals);
        for (size_t i = 0; i < PIECE; i++) {
            floats[0][first + i] = (float)normals[i];
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bits[first + i] = (uint32_t)(state >> 32);
        }
    }
}

static int save(const char *folder)
{
    static const char *const files[DATA] = {"normals.f32", "random.f32"};
    for (int data = 0; data < DATA; data++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, files[data]);
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(floats[data], sizeof(float), COUNT, file) != COUNT) {
            perror(path);
            return 0;
        }
        fclose(file);
    }
    return 1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 11;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    for (int data = 0; data < DATA; data++)
        floats[data] = malloc(COUNT * sizeof(float));
    source = malloc(COUNT * sizeof(float));
    result = malloc(COUNT * sizeof(float));
    if (floats[0] == NULL || floats[1] == NULL || source == NULL || result == NULL)
        return 4;
    fill();
    memset(source, 1, COUNT * sizeof(float));
    memset(result, 1, COUNT * sizeof(float));
    if (argc > 2 && !save(argv[2]))
        return 4;
    for (int round = 0; round < rounds; round++)
        for (int data = 0; data < DATA; data++)
            measure(data, round);
    for (int data = 0; data < DATA; data++)
        print(data, rounds);
    return 0;
}
