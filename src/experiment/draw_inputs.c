/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors to try a kernel on. */
#include "pcast/attend.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "random/draws.h"

void pcast_draw_inputs(uint64_t seed, uint32_t which, int outliers, size_t count, float *out)
{
    enum { CHUNK = 256 };
    const pcast_stream body = {seed, which, PCAST_STREAM_INPUTS};
    const pcast_stream rare = {seed, which, PCAST_STREAM_OUTLIERS};
    const pcast_stream choice = {seed, which, PCAST_STREAM_OUTLIER_CHOICE};
    double normals[CHUNK], large[CHUNK];
    uint32_t words[CHUNK];
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t n = count - first < CHUNK ? count - first : CHUNK;
        pcast_draw_normals(body, pcast_cpu_detect(), first, n, normals);
        if (outliers) {
            pcast_draw_normals(rare, pcast_cpu_detect(), first, n, large);
            pcast_draw_words(choice, first, n, words);
        }
        for (size_t i = 0; i < n; i++) {
            const int is_rare = outliers && (double)words[i] * 0x1p-32 < 0.001;
            out[first + i] = (float)(normals[i] + (is_rare ? 10 * large[i] : 0));
        }
    }
    pcast_fpenv_leave(&env);
}
