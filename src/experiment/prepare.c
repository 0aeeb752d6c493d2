/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of Q, K and V before a kernel reads them: its fields, and what the tensors are. */
#include "experiment/prepare.h"

#include "base/error.h"

#include <stdlib.h>

enum { ROTATION_SEED = 1 };

/* Format and range of Q and K, or of V. */
static int format_of(const pcast_kernel *kernel, int values, pcast_quantized *format, float *range)
{
    switch (kernel->qkv) {
    case PCAST_QKV_F32:
    case PCAST_QKV_BF16:
    case PCAST_QKV_F16:
        return 0;
    case PCAST_QKV_E4M3:
        *format = PCAST_QUANTIZED_E4M3;
        break;
    case PCAST_QKV_E5M2:
        *format = PCAST_QUANTIZED_E5M2;
        break;
    case PCAST_QKV_E4M3FNUZ:
        *format = PCAST_QUANTIZED_E4M3FNUZ;
        break;
    case PCAST_QKV_E5M2FNUZ:
        *format = PCAST_QUANTIZED_E5M2FNUZ;
        break;
    case PCAST_QKV_INT8:
        *format = values ? PCAST_QUANTIZED_E4M3 : PCAST_QUANTIZED_INT8;
        break;
    }
    *range = pcast_quantized_range(*format);
    if (values && kernel->v_range > 0)
        *range = kernel->v_range;
    return 1;
}

/* Views of the tensors, which are read as they are. */
static void place(const pcast_attend *attend, const pcast_attend_shape *shape,
                  pcast_input inputs[3])
{
    static const char *const names[] = {"q", "k", "v"};
    const pcast_tensor *const tensors[] = {attend->q, attend->k, attend->v};
    for (int which = 0; which < 3; which++) {
        inputs[which] = (pcast_input){
            .tensor = tensors[which],
            .starts = which == 0 ? attend->q_starts : attend->k_starts,
            .lengths = which == 0 ? NULL : attend->kv_lengths,
            .batch = shape->batch,
        };
        pcast_view_of(attend, tensors[which], names[which], &inputs[which].view, NULL);
    }
}

/* Room for the mean of K, and the rotation of Q and K. */
static pcast_status plan_changes(const pcast_attend *attend, const pcast_kernel *kernel, int which,
                                 pcast_input *input, pcast_error *err)
{
    if (which == 1 && kernel->k_mean && !pcast_input_given(attend, 1)) {
        input->mean =
            calloc(input->batch * input->view.heads, input->view.dim * sizeof *input->mean);
        if (input->mean == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for means");
    }
    if (which < 2 && kernel->rotation && !pcast_input_given(attend, 0) &&
        !pcast_input_given(attend, 1))
        return pcast_rotation_init(&input->rotation, input->view.dim, ROTATION_SEED, err);
    return PCAST_OK;
}

/* Room for scales. */
static pcast_status plan_scales(const pcast_attend *attend, const pcast_kernel *kernel,
                                const pcast_attend_shape *shape, int which, pcast_input *input,
                                pcast_error *err)
{
    const pcast_granularity granularity[] = {kernel->q_scale, kernel->k_scale, kernel->v_scale};
    const size_t rows = kernel->scale_rows > 0    ? kernel->scale_rows
                        : kernel->query_block > 0 ? kernel->query_block
                                                  : 1;
    if (((attend->quantised >> which) & 1) == 0 || pcast_input_given(attend, which) ||
        !format_of(kernel, which == 2, &input->format, &input->range))
        return PCAST_OK;
    input->granularity = granularity[which];
    input->group = which == 0 ? shape->heads / shape->kv_heads : 1;
    input->block_rows = which == 0 ? rows : kernel->block;
    const pcast_view *view = &input->view;
    const size_t tokens = attend->q_starts != NULL ? view->tokens : view->batch * view->tokens;
    if (input->granularity == PCAST_SCALE_CHANNEL)
        input->channel = calloc(input->batch * view->heads, view->dim * sizeof *input->channel);
    else
        input->descale = calloc(tokens, view->heads * sizeof *input->descale);
    if (input->channel == NULL && input->descale == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for scales");
    return PCAST_OK;
}

pcast_status pcast_prepare(const pcast_attend *attend, const pcast_kernel *kernel,
                           const pcast_attend_shape *shape, pcast_input inputs[3], pcast_error *err)
{
    pcast_kernel resolved = *kernel;
    pcast_status status = PCAST_OK;
    pcast_kernel_resolve(&resolved, shape->dim);
    place(attend, shape, inputs);
    for (int which = 0; attend->prepare && status == PCAST_OK && which < 3; which++) {
        status = plan_changes(attend, &resolved, which, &inputs[which], err);
        if (status == PCAST_OK)
            status = plan_scales(attend, &resolved, shape, which, &inputs[which], err);
        if (status == PCAST_OK)
            status = pcast_input_measure(&inputs[which], err);
    }
    if (status != PCAST_OK)
        pcast_prepare_free(inputs);
    return status;
}

void pcast_prepare_free(pcast_input inputs[3])
{
    for (int which = 0; which < 3; which++)
        pcast_input_free(&inputs[which]);
}
