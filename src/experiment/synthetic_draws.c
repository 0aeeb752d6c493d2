/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws of a trial (docs/numerics.md, steps 1.3 and 1.4). */
#include "experiment/synthetic_draws.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "pcast/quantize.h"
#include "random/draws.h"

#include <stdlib.h>

enum { CACHE_BYTES = 16 << 20, PIECE = 512 };

pcast_status pcast_draws_init(pcast_draws *draws, pcast_cpu cpu, uint64_t seed, pcast_draw draw,
                              size_t keys, size_t dim, size_t block, pcast_error *err)
{
    const size_t key_bytes = sizeof(double) + dim * sizeof(float);
    *draws = (pcast_draws){.cpu = cpu, .seed = seed, .keys = keys, .dim = dim, .draw = draw};
    draws->cached = keys <= CACHE_BYTES / key_bytes;
    const size_t held = draws->cached ? keys : block;
    draws->normals = calloc(held, sizeof *draws->normals);
    draws->values = pcast_alloc_lines(held, dim * sizeof *draws->values);
    if (draws->normals != NULL && draws->values != NULL)
        return PCAST_OK;
    pcast_draws_free(draws);
    return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for draws of %zu keys x %zu channels",
                      held, dim);
}

void pcast_draws_free(pcast_draws *draws)
{
    free(draws->normals);
    free(draws->values);
    *draws = (pcast_draws){0};
}

static void draw_values(pcast_draws *draws, size_t first, size_t count)
{
    const pcast_stream stream = {draws->seed, draws->trial, PCAST_STREAM_VALUES};
    if (draws->draw == PCAST_DRAW_ONES) {
        for (size_t i = 0; i < count * draws->dim; i++)
            draws->values[i] = 1.0f;
        return;
    }
    double normals[PIECE];
    const size_t numbers = count * draws->dim;
    for (size_t done = 0; done < numbers;) {
        const size_t n = numbers - done < PIECE ? numbers - done : PIECE;
        pcast_draw_normals(stream, draws->cpu, (uint64_t)first * draws->dim + done, n, normals);
        for (size_t i = 0; i < n; i++)
            draws->values[done + i] = (float)normals[i];
        done += n;
    }
    if (draws->draw != PCAST_DRAW_NORMAL) /* E4M3's values */
        pcast_quantize(PCAST_QUANTIZED_E4M3, 1.0f, draws->values, numbers);
}

static void draw_normals(pcast_draws *draws, size_t first, size_t count)
{
    const pcast_stream stream = {draws->seed, draws->trial, PCAST_STREAM_SCORES};
    if (draws->draw != PCAST_DRAW_NORMAL)
        memset(draws->normals, 0, count * sizeof *draws->normals);
    else
        pcast_draw_normals(stream, draws->cpu, first, count, draws->normals);
}

void pcast_draws_start_trial(pcast_draws *draws, uint32_t trial)
{
    draws->trial = trial;
    if (draws->cached) {
        draw_normals(draws, 0, draws->keys);
        draw_values(draws, 0, draws->keys);
    }
}

const double *pcast_draws_normals(pcast_draws *draws, size_t first, size_t count)
{
    if (draws->cached)
        return draws->normals + first;
    draw_normals(draws, first, count);
    return draws->normals;
}

const float *pcast_draws_values(pcast_draws *draws, size_t first, size_t count)
{
    if (draws->cached)
        return draws->values + first * draws->dim;
    draw_values(draws, first, count);
    return draws->values;
}
