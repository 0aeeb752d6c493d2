/* SPDX-License-Identifier: MIT */
/* The machine's limits: copying, reading, multiplying and adding. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *bench_limit_name(bench_limit limit)
{
    static const char *const names[] = {"copy", "read", "fma"};
    return names[limit];
}

static void copy(const bench *self, const bench_case *what)
{
    (void)what;
    memcpy(self->result, self->floats[0], self->floats_count * sizeof(float));
}

/* Asks for memory ahead as the library does: without it the processor waits more. */
static void read_all(const bench *self, const bench_case *what)
{
    const uint8_t *bytes = (const uint8_t *)self->floats[0];
    const size_t size = self->floats_count * sizeof(float);
    uint64_t sums[8] = {0}, words[8];
    (void)what;
    for (size_t i = 0; i < size; i += sizeof words) {
        __builtin_prefetch((const void *)((uintptr_t)bytes + i + 4096));
        memcpy(words, bytes + i, sizeof words);
        for (int j = 0; j < 8; j++)
            sums[j] += words[j];
    }
    memcpy(self->result, sums, sizeof sums);
}

/* Sums held in registers: more than an addition's latency times two a cycle. */
enum { SUMS = 12, STEPS = 256 };

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static void fma_avx512(size_t blocks, float *out)
{
    __m512 sums[SUMS];
    const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < SUMS; i++)
        sums[i] = _mm512_set1_ps((float)i);
    for (size_t step = 0; step < blocks * STEPS; step++)
        for (int i = 0; i < SUMS; i++)
            sums[i] = _mm512_fmadd_ps(sums[i], a, b);
    for (int i = 1; i < SUMS; i++)
        sums[0] = _mm512_add_ps(sums[0], sums[i]);
    _mm512_storeu_ps(out, sums[0]);
}

__attribute__((target("avx2,fma"))) static void fma_avx2(size_t blocks, float *out)
{
    __m256 sums[SUMS];
    const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < SUMS; i++)
        sums[i] = _mm256_set1_ps((float)i);
    for (size_t step = 0; step < blocks * STEPS; step++)
        for (int i = 0; i < SUMS; i++)
            sums[i] = _mm256_fmadd_ps(sums[i], a, b);
    for (int i = 1; i < SUMS; i++)
        sums[0] = _mm256_add_ps(sums[0], sums[i]);
    _mm256_storeu_ps(out, sums[0]);
}
#endif

enum { PORTABLE_LANES = 4 };

static void fma_portable(size_t blocks, float *out)
{
    float sums[SUMS][PORTABLE_LANES];
    for (int i = 0; i < SUMS; i++)
        for (int j = 0; j < PORTABLE_LANES; j++)
            sums[i][j] = (float)(i + j);
    for (size_t step = 0; step < blocks * STEPS; step++)
        for (int i = 0; i < SUMS; i++)
            for (int j = 0; j < PORTABLE_LANES; j++)
                sums[i][j] = fmaf(sums[i][j], 0.999f, 1e-3f);
    memcpy(out, sums, sizeof sums[0]);
}

double bench_fma_block(pcast_cpu level)
{
    const int lanes = level == PCAST_CPU_AVX512 ? 16 : level == PCAST_CPU_AVX2 ? 8 : PORTABLE_LANES;
    return (double)SUMS * STEPS * lanes;
}

void bench_fma(pcast_cpu level, size_t blocks, float *out)
{
#if defined(__x86_64__)
    if (level == PCAST_CPU_AVX512) {
        fma_avx512(blocks, out);
        return;
    }
    if (level == PCAST_CPU_AVX2) {
        fma_avx2(blocks, out);
        return;
    }
#endif
    (void)level;
    fma_portable(blocks, out);
}

static void fma_level(const bench *self, const bench_case *what)
{
    float out[16];
    bench_fma((pcast_cpu)what->level, 1, out);
    memcpy(self->result, out, sizeof out);
}

void bench_add_limits(bench *self)
{
    bench_case what = {.group = "limit", .data = "", .level = -1, .threads = 1, .work = 1};
    what.units = (double)self->floats_count;
    what.unit = "floats";
    for (int limit = BENCH_COPY; limit <= BENCH_READ; limit++) {
        snprintf(what.name, sizeof what.name, "%s", bench_limit_name((bench_limit)limit));
        what.limit = (bench_limit)limit;
        what.run = limit == BENCH_COPY ? copy : read_all;
        bench_add(self, &what);
    }
    const pcast_cpu highest = pcast_cpu_detect();
    what.limit = BENCH_FMA;
    what.level = (int)highest;
    what.unit = "multiply-adds";
    what.units = bench_fma_block(highest);
    what.run = fma_level;
    snprintf(what.name, sizeof what.name, "%s", bench_limit_name(BENCH_FMA));
    bench_add(self, &what);
}
