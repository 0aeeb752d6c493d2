/* SPDX-License-Identifier: MIT */
/* The inner loops of drawing as a table of functions, one table per CPU level. All give the same
 * bits. */
#ifndef PCAST_RANDOM_ENGINE_H
#define PCAST_RANDOM_ENGINE_H

#include "pcast/cpu.h"
#include "random/draws.h"

typedef struct pcast_draw_engine {
    /* Philox blocks block .. block + count - 1, [count][4] words. */
    void (*blocks)(pcast_stream stream, uint64_t block, size_t count, uint32_t *words);
    /* Normal quantiles of (words[i] + 0.5) * 2^-32. */
    void (*quantiles)(const uint32_t *words, size_t n, double *out);
} pcast_draw_engine;

/* The fastest engine at or below the level. */
const pcast_draw_engine *pcast_draw_engine_for(pcast_cpu level);

extern const pcast_draw_engine pcast_draw_engine_scalar;
extern const pcast_draw_engine pcast_draw_engine_avx2;
extern const pcast_draw_engine pcast_draw_engine_avx512;

#endif
