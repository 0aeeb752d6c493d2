/* SPDX-License-Identifier: MIT */
/* Measurements of speed: cases, and the machine's own limits measured beside them in the same run.
 * Every round runs all cases in turn, so that what disturbs the machine for a while disturbs case
 * and limit alike; results are medians over the rounds. A case on one thread counts the thread's
 * own time: what other processes take does not count. */
#ifndef PCAST_BENCH_BENCH_H
#define PCAST_BENCH_BENCH_H

#include "pcast/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { BENCH_ROUNDS_MAX = 99, BENCH_DATA = 2, BENCH_ALLOCATIONS_MAX = 64 };

/* What the machine can do at most. */
typedef enum bench_limit {
    BENCH_COPY, /* copying floats with memcpy */
    BENCH_READ, /* reading floats */
    BENCH_FMA,  /* fused multiply-adds in binary32, at the processor's highest CPU level */
    BENCH_LIMITS,
} bench_limit;

typedef struct bench bench;
typedef struct bench_case bench_case;

struct bench_case {
    const char *group;
    char name[48];
    const char *data; /* what it works on; "" where that does not matter */
    int level;        /* a pcast_cpu; -1: it has none */
    int threads;
    const char *unit;
    double units; /* in one call of run */
    bench_limit limit;
    double work; /* floats of the limit, or multiply-adds, that one unit takes at least */
    void (*run)(const bench *self, const bench_case *what);
    void (*prepare)(const bench *self, const bench_case *what); /* not timed; may be NULL */
    int choice[3]; /* for run: what each group makes of them */
    const void *state;
    size_t calls; /* of run in a round */
    double seconds[BENCH_ROUNDS_MAX];
};

struct bench {
    int quick; /* small arrays, short rounds */
    int rounds;
    int levels[PCAST_CPU_AVX512 + 1]; /* is this CPU level asked for? */
    bench_case *cases;
    size_t count, room;
    size_t floats_count;
    float *floats[BENCH_DATA]; /* normals, and random bit patterns; [floats_count] */
    uint8_t *source, *result;  /* as large */
    void *owned[BENCH_ALLOCATIONS_MAX];
    size_t owned_count;
    int failed; /* memory ran out */
};

/* Buffers, and the limits as first cases. quick, rounds and levels are set. */
void bench_start(bench *self);
void bench_free(bench *self);

/* Memory that bench_free gives back; NULL sets failed. */
void *bench_alloc(bench *self, size_t count, size_t size);

/* Adds a copy of the case. */
void bench_add(bench *self, const bench_case *what);

/* The groups. */
void bench_add_limits(bench *self);
void bench_add_codec(bench *self);
void bench_add_exponentials(bench *self);
void bench_add_row(bench *self);
void bench_add_sweep(bench *self);
void bench_add_tensor_core(bench *self);

/* All rounds of all cases. */
void bench_run(bench *self);

/* Units a second: the median, and the fastest round. */
double bench_median(const bench *self, const bench_case *what);
double bench_best(const bench *self, const bench_case *what);

/* What of the case's units its limit allows in a second. */
double bench_limit_rate(const bench *self, const bench_case *what);
const char *bench_limit_name(bench_limit limit);

/* Fused multiply-adds of one thread as fast as the level's registers allow; returns how many, times
 * `blocks`. */
double bench_fma_block(pcast_cpu level);
void bench_fma(pcast_cpu level, size_t blocks, float *out);

#endif
