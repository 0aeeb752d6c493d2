/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what attend works on. */
#include "attend.h"

#include "pcast/tensor.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the text read as a number, whatever its size? Then it is no file. */
static int is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end != text && *end == '\0';
}

/* A number, which goes into *number, or a file. */
static pcast_status read_scalars(const char *text, const char *name, float *number,
                                 pcast_tensor *tensor, const pcast_tensor **used, pcast_error *err)
{
    if (text == NULL)
        return PCAST_OK;
    *used = tensor;
    if (!is_number(text))
        return pcast_tensor_read(text, name, PCAST_E4M3, tensor, err);
    *number = strtof(text, NULL);
    *tensor = (pcast_tensor){.data = number, .format = PCAST_F32};
    if (isfinite(*number))
        return PCAST_OK;
    snprintf(err->text, sizeof err->text, "%s: '%.40s' is not a number from -%g to %g", name, text,
             (double)FLT_MAX, (double)FLT_MAX);
    return PCAST_ERR_VALUE;
}

static pcast_status read_starts(const char *path, const char *option, size_t **starts,
                                size_t *sequences, pcast_error *err)
{
    size_t count;
    const pcast_status status = pcast_counts_read(path, starts, &count, err);
    if (status != PCAST_OK)
        return status;
    if (count < 2 || (*sequences != 0 && *sequences != count - 1)) {
        snprintf(err->text, sizeof err->text,
                 "%s: %zu cumulative lengths for --%s; one more than there are sequences, as many "
                 "for q and k",
                 path, count, option);
        return PCAST_ERR_INPUT;
    }
    *sequences = count - 1;
    return PCAST_OK;
}

static pcast_status read_lengths(const attend_options *options, attend_inputs *inputs,
                                 pcast_error *err)
{
    pcast_attend *attend = &inputs->attend;
    pcast_status status = PCAST_OK;
    size_t count = 0;
    if (options->cu_q != NULL)
        status =
            read_starts(options->cu_q, "cu-seqlens-q", &inputs->q_starts, &attend->sequences, err);
    if (status == PCAST_OK && options->cu_k != NULL)
        status =
            read_starts(options->cu_k, "cu-seqlens-k", &inputs->k_starts, &attend->sequences, err);
    if (status == PCAST_OK && options->kv_lengths != NULL)
        status = pcast_counts_read(options->kv_lengths, &inputs->kv_lengths, &count, err);
    if (status != PCAST_OK)
        return status;
    attend->q_starts = inputs->q_starts;
    attend->k_starts = inputs->k_starts;
    attend->kv_lengths = inputs->kv_lengths;
    const size_t batch = attend->q_starts != NULL ? attend->sequences
                         : inputs->q.rank == 4    ? inputs->q.shape[0]
                                                  : 1;
    if (options->kv_lengths != NULL && count != batch) {
        snprintf(err->text, sizeof err->text, "%s: %zu KV lengths for %zu sequences",
                 options->kv_lengths, count, batch);
        return PCAST_ERR_INPUT;
    }
    return PCAST_OK;
}

static void draw_tensor(const attend_options *options, attend_inputs *inputs, uint32_t which,
                        pcast_tensor *tensor)
{
    const size_t shape[] = {1, options->heads, options->n, options->dim};
    const size_t size = options->heads * options->n * options->dim;
    float *data = inputs->drawn[which] = cli_alloc(size, sizeof *data);
    *tensor = (pcast_tensor){.rank = 4, .data = data, .format = PCAST_F32};
    memcpy(tensor->shape, shape, sizeof shape);
    pcast_draw_inputs(options->seed, which, strcmp(options->draw, "outliers") == 0, size, data);
}

void attend_draw(const attend_options *options, attend_inputs *inputs)
{
    draw_tensor(options, inputs, 0, &inputs->q);
    draw_tensor(options, inputs, 1, &inputs->k);
    draw_tensor(options, inputs, 2, &inputs->v);
}

pcast_status attend_read(const attend_options *options, attend_inputs *inputs, pcast_error *err)
{
    pcast_attend *attend = &inputs->attend;
    *attend = (pcast_attend){.q = &inputs->q,
                             .k = &inputs->k,
                             .v = &inputs->v,
                             .layout = options->layout,
                             .softmax_scale = options->softmax_scale,
                             .prepare = options->quantize,
                             .quantised = PCAST_STAGE_QKV};
    pcast_status status = PCAST_OK;
    if (options->draw != NULL) {
        attend_draw(options, inputs);
        return read_scalars(options->learned_sink, "sink", &inputs->numbers[3],
                            &inputs->learned_sink, &attend->learned_sink, err);
    }
    status = pcast_tensor_read(options->q, "q", options->fp8, &inputs->q, err);
    if (status == PCAST_OK)
        status = pcast_tensor_read(options->k, "k", options->fp8, &inputs->k, err);
    if (status == PCAST_OK)
        status = pcast_tensor_read(options->v, "v", options->fp8, &inputs->v, err);
    if (status == PCAST_OK)
        status = read_scalars(options->q_descale, "q_descale", &inputs->numbers[0],
                              &inputs->q_descale, &attend->q_descale, err);
    if (status == PCAST_OK)
        status = read_scalars(options->k_descale, "k_descale", &inputs->numbers[1],
                              &inputs->k_descale, &attend->k_descale, err);
    if (status == PCAST_OK)
        status = read_scalars(options->v_descale, "v_descale", &inputs->numbers[2],
                              &inputs->v_descale, &attend->v_descale, err);
    if (status == PCAST_OK)
        status = read_scalars(options->learned_sink, "sink", &inputs->numbers[3],
                              &inputs->learned_sink, &attend->learned_sink, err);
    return status == PCAST_OK ? read_lengths(options, inputs, err) : status;
}

void attend_inputs_free(attend_inputs *inputs)
{
    pcast_tensor *const tensors[] = {&inputs->q,           &inputs->k,         &inputs->v,
                                     &inputs->q_descale,   &inputs->k_descale, &inputs->v_descale,
                                     &inputs->learned_sink};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        pcast_tensor_free(tensors[i]);
    for (int i = 0; i < 3; i++)
        free(inputs->drawn[i]);
    free(inputs->q_starts);
    free(inputs->k_starts);
    free(inputs->kv_lengths);
}
