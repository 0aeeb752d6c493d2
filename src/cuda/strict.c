/* SPDX-License-Identifier: MIT */
/* Kernels and shapes on which the strict kernel is compared. */
#include "cuda/strict.h"

#include "base/error.h"

#include <stdio.h>

static const pcast_strict_shape shapes[] = {
    {3, 64, 64, 200, PCAST_MASK_NONE, 0, 0, 1, 3, 1},
    {1, 128, 128, 131, PCAST_MASK_CAUSAL, 0, 0, 3, 12, 0},
    {9, 32, 32, 77, PCAST_MASK_CAUSAL, 0, 0, 1, 6, 1},
    {5, 256, 256, 33, PCAST_MASK_CAUSAL_TOP_LEFT, 0, 0, 2, 2, 0},
    {12, 64, 48, 90, PCAST_MASK_CAUSAL, 13, 0, 2, 40, 1},
    {4, 32, 17, 64, PCAST_MASK_NONE, 9, 5, 1, 2, 0},
    {14, 32, 32, 6, PCAST_MASK_CAUSAL, 0, 0, 2, 3, 1}, /* rows that see nothing */
    {2, 33, 1, 1, PCAST_MASK_NONE, 0, 0, 4, 1, 1},
    {6, 1, 32, 150, PCAST_MASK_CAUSAL, 0, 0, 2, 0, 1},
    {3, 256, 192, 129, PCAST_MASK_NONE, 0, 0, 2, 4, 1},
    /* large */
    {96, 128, 128, 4096, PCAST_MASK_CAUSAL, 0, 0, 1, 3, 1},
    {64, 64, 64, 2048, PCAST_MASK_NONE, 0, 0, 4, 12, 0},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], LARGE = 2 };

/* What no preset has. */
static const char *const settings[] = {
    "paper:accumulator=fp64;block=48;sum_order=fp64",
    "paper:accumulator=fp16;promotion=tile;block=64;splits=3;partials=f16",
    "fa3:accumulator=fp16;promotion=1;exponent=exp2_fma_rz;p_format=e5m2;overflow=nan",
    "fa3:p_format=bf16;row_sum=cast;sum_scale=in;promotion=2;order=forward",
    "fa3:p_format=e4m3fnuz;empty_max=store_zero;mask_value=-inf;masked_rows=nan",
    "fa3:p_format=f32;accumulator=fp32_fma;empty_max=unguarded;masked_rows=unguarded;bias=fma",
    "fmha-v2:block=32;partition=64;learned_sink=denominator;normalise=partition;"
    "scale_at=multiply;sum_scale=out",
    "vllm-triton:block=4096;softcap=5",
    "fa3:block=4096;softcap=5;out_format=f16",
    "fa4:traversal=strided;splits=3;query_block=4;block=16",
    "fa4:exponent=exp2_mul;threshold_test=lt;rescale_threshold=2;block=32",
    "hpc-ops:p_format=f16;partials=bf16;splits=2;block=48",
    "paper:p_format=e5m2fnuz;order=reverse;block=40;scale=64",
    "paper:block=16384", /* whose P does not fit shared memory */
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* A run of the check. */
typedef struct checking {
    pcast_strict_runner *run;
    void *context;
    int repeats;
    pcast_check_result *result;
    uint64_t *heads; /* that the kernel at hand can have */
} checking;

static pcast_status check_head(const checking *self, const pcast_kernel *kernel, const char *name,
                               size_t number, const pcast_strict_shape *shape, pcast_error *err)
{
    pcast_strict_head head;
    pcast_status status = pcast_strict_head_init(&head, kernel, shape, (uint32_t)number, err);
    const int can = status != PCAST_ERR_VALUE;
    for (int n = 0; status == PCAST_OK && n < self->repeats; n++) {
        const int given = shape->logits == 0 || (number + (size_t)n) % 4 == 3;
        const pcast_row_job job = pcast_strict_head_job(&head, given);
        status = self->run(self->context, &job, err);
        if (status == PCAST_OK)
            pcast_strict_head_compare(&head, name, self->result);
    }
    *self->heads += status == PCAST_OK;
    pcast_strict_head_free(&head);
    return can ? status : PCAST_OK;
}

static pcast_status check_kernel(const checking *self, const pcast_kernel *kernel, const char *spec,
                                 size_t number, size_t shape_count, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    *self->heads = 0;
    for (size_t s = 0; status == PCAST_OK && s < shape_count; s++) {
        char name[PCAST_SPEC_MAX + 64];
        snprintf(name, sizeof name, "%s, %u queries, %zu keys, %u channels", spec,
                 shapes[s].queries, shapes[s].keys, shapes[s].dim);
        status = check_head(self, kernel, name, number * SHAPES + s, &shapes[s], err);
    }
    if (status == PCAST_OK && *self->heads == 0)
        status = pcast_fail(err, PCAST_ERR_VALUE, "%s: can have none of the shapes", spec);
    pcast_check_add_count(self->result, "heads", *self->heads);
    return status;
}

pcast_status pcast_strict_check(pcast_strict_runner *run, void *context, int repeats, int large,
                                pcast_check_result *result, pcast_error *err)
{
    uint64_t heads = 0;
    const checking self = {run, context, repeats, result, &heads};
    const size_t presets = pcast_preset_count(), count = large ? SHAPES : SHAPES - LARGE;
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < presets; i++)
        status = check_kernel(&self, &pcast_preset_at(i)->kernel, pcast_preset_at(i)->name, i,
                              count, err);
    for (size_t i = 0; status == PCAST_OK && i < SETTINGS; i++) {
        pcast_kernel kernel;
        status = pcast_kernel_parse(settings[i], &kernel, NULL, err);
        if (status == PCAST_OK)
            status = check_kernel(&self, &kernel, settings[i], presets + i, count, err);
    }
    return status;
}

static pcast_status run_on_gpu(void *context, const pcast_row_job *job, pcast_error *err)
{
    return pcast_cuda_rows(context, job, 1, err);
}

static pcast_status run_part(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err)
{
    return pcast_strict_check(run_on_gpu, cuda, quick ? 1 : 2, !quick, result, err);
}

const pcast_check_part pcast_strict_part = {
    "strict", "the strict kernel: O, log-sum-exp, every cast P of all presets", run_part};
