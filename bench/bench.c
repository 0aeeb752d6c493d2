/* SPDX-License-Identifier: MIT */
/* Cases, rounds, medians. */
#include "bench.h"

#include "random/draws.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(const bench_case *what)
{
    struct timespec time;
    clock_gettime(what->threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void *bench_alloc(bench *self, size_t count, size_t size)
{
    void *memory = NULL;
    if (self->owned_count < BENCH_ALLOCATIONS_MAX)
        memory = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (memory == NULL) {
        self->failed = 1;
        return NULL;
    }
    self->owned[self->owned_count++] = memory;
    return memset(memory, 0, count * size);
}

static void fill(bench *self)
{
    const pcast_stream stream = {1, 0, PCAST_STREAM_VALUES};
    enum { PIECE = 4096 };
    double normals[PIECE];
    uint64_t state = 1;
    for (size_t first = 0; first < self->floats_count; first += PIECE) {
        pcast_draw_normals(stream, pcast_cpu_detect(), first, PIECE, normals);
        for (size_t i = 0; i < PIECE; i++) {
            self->floats[0][first + i] = (float)normals[i];
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint32_t bits = (uint32_t)(state >> 32);
            memcpy(&self->floats[1][first + i], &bits, sizeof bits);
        }
    }
}

void bench_start(bench *self)
{
    self->floats_count = (size_t)1 << (self->quick ? 21 : 24);
    for (int data = 0; data < BENCH_DATA; data++)
        self->floats[data] = bench_alloc(self, self->floats_count, sizeof(float));
    self->source = bench_alloc(self, self->floats_count, sizeof(float));
    self->result = bench_alloc(self, self->floats_count, sizeof(float));
    if (self->failed)
        return;
    fill(self);
    memset(self->source, 1, self->floats_count * sizeof(float)); /* pages that exist */
    memset(self->result, 1, self->floats_count * sizeof(float));
    bench_add_limits(self);
}

void bench_free(bench *self)
{
    for (size_t i = 0; i < self->owned_count; i++)
        free(self->owned[i]);
    free(self->cases);
}

void bench_add(bench *self, const bench_case *what)
{
    if (self->count == self->room) {
        const size_t room = 2 * self->room + 64;
        bench_case *more = realloc(self->cases, room * sizeof *more);
        if (more == NULL) {
            self->failed = 1;
            return;
        }
        self->cases = more;
        self->room = room;
    }
    self->cases[self->count++] = *what;
}

static double time_calls(const bench *self, const bench_case *what, size_t calls)
{
    if (what->prepare != NULL)
        what->prepare(self, what);
    const double start = now(what);
    for (size_t i = 0; i < calls; i++)
        what->run(self, what);
    return now(what) - start;
}

/* As many calls as fill a round, after one that warms up. */
static void calibrate(const bench *self, bench_case *what)
{
    const double target = self->quick ? 1e-3 : 2e-2;
    size_t calls = 1;
    double seconds = time_calls(self, what, calls);
    while (seconds < target / 4 && calls < (size_t)1 << 24) {
        calls *= 2;
        seconds = time_calls(self, what, calls);
    }
    const double wanted = (double)calls * target / seconds;
    what->calls = wanted < 1 ? 1 : (size_t)wanted;
}

void bench_run(bench *self)
{
    for (size_t i = 0; i < self->count; i++)
        calibrate(self, &self->cases[i]);
    for (int round = 0; round < self->rounds; round++)
        for (size_t i = 0; i < self->count; i++) {
            bench_case *what = &self->cases[i];
            what->seconds[round] = time_calls(self, what, what->calls);
        }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rate(const bench_case *what, double seconds)
{
    return what->units * (double)what->calls / seconds;
}

double bench_median(const bench *self, const bench_case *what)
{
    double sorted[BENCH_ROUNDS_MAX];
    const int rounds = self->rounds;
    memcpy(sorted, what->seconds, (size_t)rounds * sizeof *sorted);
    qsort(sorted, (size_t)rounds, sizeof *sorted, ascending);
    return rate(what, (sorted[(rounds - 1) / 2] + sorted[rounds / 2]) / 2);
}

double bench_best(const bench *self, const bench_case *what)
{
    double least = what->seconds[0];
    for (int round = 1; round < self->rounds; round++)
        least = what->seconds[round] < least ? what->seconds[round] : least;
    return rate(what, least);
}

double bench_limit_rate(const bench *self, const bench_case *what)
{
    return bench_median(self, &self->cases[what->limit]) / what->work;
}
