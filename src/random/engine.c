/* SPDX-License-Identifier: MIT */
/* The scalar engine, on Random123's Philox, and the choice of an engine. */
#include "random/engine.h"

#include "base/bits.h"

#include <Random123/philox.h>

static void blocks(pcast_stream stream, uint64_t block, size_t count, uint32_t *words)
{
    const philox4x32_key_t key = {{(uint32_t)stream.seed, (uint32_t)(stream.seed >> 32)}};
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = block + i;
        const philox4x32_ctr_t counter = {
            {stream.trial, stream.stream, (uint32_t)index, (uint32_t)(index >> 32)}};
        const philox4x32_ctr_t out = philox4x32(counter, key);
        memcpy(words + 4 * i, out.v, sizeof out.v);
    }
}

static void quantiles(const uint32_t *words, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = pcast_normal_quantile(((double)words[i] + 0.5) * 0x1p-32);
}

const pcast_draw_engine pcast_draw_engine_scalar = {blocks, quantiles};

const pcast_draw_engine *pcast_draw_engine_for(pcast_cpu level)
{
#if defined(PCAST_HAVE_AVX2)
    const pcast_cpu here = pcast_cpu_detect();
    if (level >= PCAST_CPU_AVX512 && here >= PCAST_CPU_AVX512)
        return &pcast_draw_engine_avx512;
    if (level >= PCAST_CPU_AVX2 && here >= PCAST_CPU_AVX2)
        return &pcast_draw_engine_avx2;
#endif
    (void)level;
    return &pcast_draw_engine_scalar;
}
