/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means and scales of an input, group by group. */
#include "experiment/input.h"

#include "base/error.h"

#include <stdlib.h>

static float largest(const float *amax, size_t count)
{
    float all = 0;
    for (size_t i = 0; i < count; i++)
        all = amax[i] > all ? amax[i] : all;
    return all;
}

/* Descale of tokens first .. first + count - 1 of a head. */
static void set_descale(pcast_input *input, size_t batch, size_t head, size_t first, size_t count,
                        float amax)
{
    const float descale = pcast_descale(amax, input->range);
    for (size_t t = first; t < first + count; t++) {
        const size_t index = pcast_token_index(&input->view, input->starts, batch, t);
        input->descale[index * input->view.heads + head] = descale;
    }
}

static void measure_channels(pcast_input *input, size_t batch, size_t head, const float *x,
                             size_t tokens)
{
    const size_t dim = input->view.dim;
    float *channel = input->channel + (batch * input->view.heads + head) * dim;
    for (size_t c = 0; c < dim; c++)
        channel[c] = pcast_descale(pcast_amax(x + c, tokens, 1, dim), input->range);
}

/* Blocks, or tokens one by one. */
static void measure_rows(pcast_input *input, size_t batch, size_t head, const float *x,
                         size_t tokens)
{
    const size_t dim = input->view.dim;
    const size_t rows = input->granularity == PCAST_SCALE_TOKEN ? 1 : input->block_rows;
    for (size_t first = 0; first < tokens; first += rows) {
        const size_t count = tokens - first < rows ? tokens - first : rows;
        set_descale(input, batch, head, first, count, pcast_amax(x + first * dim, count, dim, dim));
    }
}

/* Loads and measures head i of all sequences' heads; amax is for scales of a head or more. */
static void measure_head(pcast_input *input, size_t i, float *x, float *amax)
{
    const size_t heads = input->view.heads, batch = i / heads, head = i % heads;
    const size_t tokens = pcast_input_tokens(input, batch), dim = input->view.dim;
    pcast_input_load(input, batch, head, 0, tokens, x);
    if (input->mean != NULL)
        pcast_subtract_mean(x, tokens, dim, input->mean + i * dim);
    if (input->rotation.base != 0)
        pcast_rotation_apply(&input->rotation, x, tokens);
    if (input->channel != NULL)
        measure_channels(input, batch, head, x, tokens);
    else if (input->descale != NULL && input->granularity > PCAST_SCALE_HEAD)
        measure_rows(input, batch, head, x, tokens);
    else if (input->descale != NULL)
        *amax = pcast_amax(x, tokens, dim, dim);
}

/* Descales of whole heads; also of tokens that are not valid, and of heads without tokens. */
static void set_heads(pcast_input *input, const float *amax)
{
    const size_t heads = input->view.heads, count = input->batch * heads;
    const size_t group = input->granularity == PCAST_SCALE_TENSOR    ? count
                         : input->granularity == PCAST_SCALE_KV_HEAD ? input->group
                                                                     : 1;
    float of_group = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % group == 0)
            of_group = largest(amax + i, group);
        set_descale(input, i / heads, i % heads, 0,
                    pcast_sequence_of(&input->view, input->starts, i / heads).count, of_group);
    }
}

pcast_status pcast_input_measure(pcast_input *input, pcast_error *err)
{
    const size_t count = input->batch * input->view.heads;
    size_t most = 1;
    if (input->mean == NULL && input->descale == NULL && input->channel == NULL)
        return PCAST_OK;
    for (size_t b = 0; b < input->batch; b++)
        if (pcast_input_tokens(input, b) > most)
            most = pcast_input_tokens(input, b);
    float *x = malloc(most * input->view.dim * sizeof *x);
    float *amax = calloc(count, sizeof *amax);
    pcast_status status = PCAST_OK;
    if (x == NULL || amax == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a head of %zu tokens", most);
    for (size_t i = 0; status == PCAST_OK && i < count; i++)
        measure_head(input, i, x, &amax[i]);
    if (status == PCAST_OK && input->descale != NULL && input->granularity <= PCAST_SCALE_HEAD)
        set_heads(input, amax);
    free(x);
    free(amax);
    return status;
}
