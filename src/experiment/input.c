/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading tokens of an input, and changing them by means and scales that are known. */
#include "experiment/input.h"

#include <stdlib.h>

size_t pcast_input_tokens(const pcast_input *input, size_t batch)
{
    return input->lengths != NULL ? input->lengths[batch]
                                  : pcast_sequence_of(&input->view, input->starts, batch).count;
}

void pcast_input_load(const pcast_input *input, size_t batch, size_t head, size_t first,
                      size_t count, float *x)
{
    pcast_view_get(&input->view, input->tensor, input->starts, batch, head, first, count, x);
}

/* One channel of x[count][dim]. */
static void quantise_column(const pcast_input *input, float descale, float *x, size_t count)
{
    enum { PIECE = 256 };
    const size_t dim = input->view.dim;
    float column[PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t here = count - done < PIECE ? count - done : PIECE;
        float *piece = x + done * dim;
        for (size_t t = 0; t < here; t++)
            column[t] = piece[t * dim];
        pcast_quantize(input->format, descale, column, here);
        for (size_t t = 0; t < here; t++)
            piece[t * dim] = column[t];
    }
}

void pcast_input_prepare(const pcast_input *input, size_t batch, size_t head, size_t first,
                         size_t count, float *x)
{
    const size_t dim = input->view.dim, heads = input->view.heads;
    const size_t of_head = (batch * heads + head) * dim;
    for (size_t t = 0; input->mean != NULL && t < count; t++)
        for (size_t c = 0; c < dim; c++)
            x[t * dim + c] = x[t * dim + c] - input->mean[of_head + c];
    if (input->rotation.base != 0)
        pcast_rotation_apply(&input->rotation, x, count);
    for (size_t t = 0; input->descale != NULL && t < count; t++) {
        const size_t index = pcast_token_index(&input->view, input->starts, batch, first + t);
        pcast_quantize(input->format, input->descale[index * heads + head], x + t * dim, dim);
    }
    for (size_t c = 0; input->channel != NULL && c < dim; c++)
        quantise_column(input, input->channel[of_head + c], x + c, count);
}

void pcast_input_free(pcast_input *input)
{
    free(input->mean);
    free(input->descale);
    free(input->channel);
    pcast_rotation_free(&input->rotation);
    *input = (pcast_input){0};
}
