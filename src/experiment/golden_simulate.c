/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A golden problem as a batch of heads for pcast_attend_run. */
#include "pcast/golden_simulate.h"

#include "base/error.h"
#include "pcast/attend.h"
#include "pcast/identify.h"

#include <math.h>
#include <stdlib.h>

/* What the kernel reads; with INT8 Q and K, V. */
static pcast_format format_of(pcast_qkv qkv)
{
    static const pcast_format formats[] = {
        [PCAST_QKV_F32] = PCAST_F32,           [PCAST_QKV_BF16] = PCAST_BF16,
        [PCAST_QKV_F16] = PCAST_F16,           [PCAST_QKV_E4M3] = PCAST_E4M3,
        [PCAST_QKV_E5M2] = PCAST_E5M2,         [PCAST_QKV_E4M3FNUZ] = PCAST_E4M3FNUZ,
        [PCAST_QKV_E5M2FNUZ] = PCAST_E5M2FNUZ, [PCAST_QKV_INT8] = PCAST_E4M3,
    };
    return formats[qkv];
}

static int has_number(pcast_format format, int int8, float x)
{
    const pcast_cast cast = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    if (int8)
        return fabsf(x) <= 127 && x == truncf(x);
    return pcast_decode_f32(format, pcast_encode_f32(format, x, cast)) == x;
}

/* Has the kernel's input format all numbers of a tensor, but for NaN beyond a sequence's length? */
static pcast_status check_format(const pcast_kernel *kernel, const pcast_tensor *tensor,
                                 const char *name, pcast_error *err)
{
    const int int8 = kernel->qkv == PCAST_QKV_INT8 && name[0] != 'v';
    const pcast_format format = format_of(kernel->qkv);
    char word[32];
    const float *data = tensor->data;
    for (size_t i = 0; i < pcast_tensor_size(tensor); i++)
        if (!isnan(data[i]) && !has_number(format, int8, data[i])) {
            pcast_kernel_get(kernel, PCAST_FIELD_QKV, word, sizeof word);
            return pcast_fail(err, PCAST_ERR_VALUE, "qkv: %s does not have %g, which is in %s",
                              word, (double)data[i], name);
        }
    return PCAST_OK;
}

/* The kernel on this problem. */
static pcast_kernel adapt(const pcast_kernel *kernel, const pcast_problem *problem)
{
    pcast_kernel adapted = *kernel;
    adapted.mask = problem->mask;
    adapted.window_left = problem->window_left;
    adapted.window_right = problem->window_right;
    adapted.sink_given = 0;
    adapted.sink_logit = 0;
    return adapted;
}

static pcast_tensor heads_of(const pcast_problem *problem, float *data, size_t heads, size_t tokens)
{
    return (pcast_tensor){4, {problem->batch, heads, tokens, problem->dim}, data, PCAST_F32, NULL};
}

static pcast_tensor list_of(float *data, size_t count)
{
    return (pcast_tensor){1, {count}, data, PCAST_F32, NULL};
}

pcast_sighting pcast_sighting_of(const pcast_problem *problem, pcast_problem_tensors *tensors)
{
    const size_t heads = problem->heads, kv_heads = problem->kv_heads;
    *tensors = (pcast_problem_tensors){
        .q = heads_of(problem, problem->q, heads, problem->queries),
        .k = heads_of(problem, problem->k, kv_heads, problem->keys),
        .v = heads_of(problem, problem->v, kv_heads, problem->keys),
        .q_descale = list_of(problem->q_descale, kv_heads),
        .k_descale = list_of(problem->k_descale, kv_heads),
        .v_descale = list_of(problem->v_descale, kv_heads),
        .sink = list_of(problem->sink, heads),
    };
    return (pcast_sighting){
        .attend = {.q = &tensors->q,
                   .k = &tensors->k,
                   .v = &tensors->v,
                   .kv_lengths = problem->kv_lengths,
                   .q_descale = problem->q_descale != NULL ? &tensors->q_descale : NULL,
                   .k_descale = problem->k_descale != NULL ? &tensors->k_descale : NULL,
                   .v_descale = problem->v_descale != NULL ? &tensors->v_descale : NULL,
                   .learned_sink = problem->sink != NULL ? &tensors->sink : NULL,
                   .softmax_scale = problem->softmax_scale,
                   .outputs_only = 1},
        .mask = problem->mask,
        .window_left = problem->window_left,
        .window_right = problem->window_right,
    };
}

pcast_status pcast_golden_simulate(const pcast_problem *problem, const pcast_kernel *kernel,
                                   pcast_cpu cpu, float *o, float *lse, pcast_error *err)
{
    pcast_problem_tensors tensors;
    const size_t heads = problem->heads;
    const pcast_sighting sighting = pcast_sighting_of(problem, &tensors);
    const pcast_kernel adapted = adapt(kernel, problem);
    const pcast_run run = {.kernels = &adapted, .kernel_count = 1, .threads = 1, .cpu = cpu};
    pcast_status status = pcast_kernel_validate(&adapted, err);
    if (status == PCAST_OK)
        status = check_format(&adapted, &tensors.q, "q", err);
    if (status == PCAST_OK)
        status = check_format(&adapted, &tensors.k, "k", err);
    if (status == PCAST_OK)
        status = check_format(&adapted, &tensors.v, "v", err);
    if (status != PCAST_OK)
        return status;
    pcast_attend_head *results = calloc(problem->batch * heads, sizeof *results);
    if (results == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu heads",
                          problem->batch * heads);
    status = pcast_attend_run(&sighting.attend, &run,
                              &(pcast_attend_result){.o = o, .lse = lse, .heads = results}, err);
    free(results);
    return status;
}
