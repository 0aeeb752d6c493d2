/* SPDX-License-Identifier: MIT */
/* Philox words and normals by index. */
#include "random/draws.h"

#include "base/bits.h"
#include "random/engine.h"

enum { CHUNK = 256 };

static void draw(const pcast_draw_engine *engine, pcast_stream stream, uint64_t first, size_t count,
                 uint32_t *out)
{
    uint32_t ends[4];
    size_t done = 0;
    while (done < count) {
        const uint64_t index = first + done;
        if (index % 4 == 0 && count - done >= 4) { /* whole blocks */
            const size_t whole = (count - done) / 4;
            engine->blocks(stream, index / 4, whole, out + done);
            done += 4 * whole;
            continue;
        }
        engine->blocks(stream, index / 4, 1, ends);
        for (size_t w = index % 4; w < 4 && done < count; w++)
            out[done++] = ends[w];
    }
}

void pcast_draw_words(pcast_stream stream, uint64_t first, size_t count, uint32_t *out)
{
    draw(&pcast_draw_engine_scalar, stream, first, count, out);
}

void pcast_draw_normals(pcast_stream stream, pcast_cpu cpu, uint64_t first, size_t count,
                        double *out)
{
    const pcast_draw_engine *engine = pcast_draw_engine_for(cpu);
    uint32_t words[CHUNK];
    for (size_t done = 0; done < count;) {
        const size_t n = count - done < CHUNK ? count - done : CHUNK;
        draw(engine, stream, first + done, n, words);
        engine->quantiles(words, n, out + done);
        done += n;
    }
}
