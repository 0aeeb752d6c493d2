/* SPDX-License-Identifier: MIT */
/* Philox words and normals by index. */
#include "random/draws.h"

#include "base/bits.h"

#include <Random123/philox.h>

static philox4x32_ctr_t block_of(pcast_stream stream, uint64_t block)
{
    const philox4x32_ctr_t counter = {
        {stream.trial, stream.stream, (uint32_t)block, (uint32_t)(block >> 32)}};
    const philox4x32_key_t key = {{(uint32_t)stream.seed, (uint32_t)(stream.seed >> 32)}};
    return philox4x32(counter, key);
}

void pcast_draw_words(pcast_stream stream, uint64_t first, size_t count, uint32_t *out)
{
    size_t done = 0;
    while (done < count) {
        const uint64_t index = first + done;
        const philox4x32_ctr_t words = block_of(stream, index / 4);
        for (size_t w = index % 4; w < 4 && done < count; w++)
            out[done++] = words.v[w];
    }
}

void pcast_draw_normals(pcast_stream stream, uint64_t first, size_t count, double *out)
{
    uint32_t words[256];
    for (size_t done = 0; done < count;) {
        const size_t n = count - done < 256 ? count - done : 256;
        pcast_draw_words(stream, first + done, n, words);
        for (size_t i = 0; i < n; i++)
            out[done + i] = pcast_normal_quantile(((double)words[i] + 0.5) * 0x1p-32);
        done += n;
    }
}
