/* SPDX-License-Identifier: MIT */
/* Heads on which the attention kernel is compared with its model. */
#include "cuda/attention_check.h"

#include <stdio.h>

static const pcast_attention_shape heads[] = {
    {64, 64, 128, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_RANDOM, ""},
    {17, 128, 200, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_RANDOM, "promotion=tile"},
    {70, 64, 97, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_SINKS, "order=forward"},
    {3, 256, 65, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_WIDE, "order=forward;promotion=tile"},
    {64, 256, 160, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_SINKS, "out_format=f32"},
    {1, 64, 1, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_RANDOM, "out_format=f32"},
    {40, 128, 24, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_WIDE,
     "scale=448"}, /* rows see nothing */
    {20, 64, 300, PCAST_MASK_CAUSAL, 33, 0, PCAST_ATTENTION_RANDOM, "scale=16;promotion=tile"},
    {9, 128, 95, PCAST_MASK_CAUSAL_TOP_LEFT, 0, 0, PCAST_ATTENTION_CODES, "out_format=f32"},
    {33, 64, 190, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_CODES, "promotion=tile;order=forward"},
    {5, 64, 130, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_NANS, "scale=1"},
    {66, 128, 100, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_NANS, ""},
    {12, 64, 96, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_LOST, "out_format=f32"},
    {7, 128, 33, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_LOST, "promotion=tile"},
    {18, 64, 160, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_EQUAL, "scale=448;out_format=f16"},
    {25, 64, 32, PCAST_MASK_NONE, 9, 5, PCAST_ATTENTION_CODES, "scale=448"},
    {30, 128, 129, PCAST_MASK_NONE, 40, 17, PCAST_ATTENTION_SINKS, "scale=4096;order=forward"},
    /* large */
    {512, 128, 4096, PCAST_MASK_CAUSAL, 0, 0, PCAST_ATTENTION_SINKS, ""},
    {256, 256, 2048, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_RANDOM, "promotion=tile"},
    {128, 64, 4096, PCAST_MASK_CAUSAL, 512, 0, PCAST_ATTENTION_CODES,
     "order=forward;out_format=f32"},
};
enum { SHAPES = sizeof heads / sizeof heads[0], LARGE = 3 };

static pcast_status check_shape(pcast_attention_runner *run, void *context, int repeats,
                                size_t number, pcast_check_result *result, pcast_error *err)
{
    const pcast_attention_shape *shape = &heads[number];
    pcast_attention_head head;
    char name[PCAST_SPEC_MAX + 64];
    snprintf(name, sizeof name, "%u queries, %zu keys, %u channels%s%s", shape->queries,
             shape->keys, shape->dim, shape->spec[0] != '\0' ? ", " : "", shape->spec);
    pcast_status status = pcast_attention_head_init(&head, shape, (uint32_t)number, err);
    for (int n = 0; status == PCAST_OK && n < repeats; n++) {
        status = run(context, &head.job, err);
        if (status == PCAST_OK)
            pcast_attention_head_compare(&head, name, result);
    }
    pcast_check_add_count(result, "heads", status == PCAST_OK);
    pcast_attention_head_free(&head);
    return status;
}

pcast_status pcast_attention_check(pcast_attention_runner *run, void *context, int repeats,
                                   int large, pcast_check_result *result, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    for (size_t n = 0; status == PCAST_OK && n < (large ? SHAPES : SHAPES - LARGE); n++)
        status = check_shape(run, context, repeats, n, result, err);
    return status;
}

static pcast_status run_on_gpu(void *context, const pcast_attention_job *job, pcast_error *err)
{
    return pcast_cuda_attention(context, job, err);
}

static pcast_status run_part(pcast_cuda *cuda, int quick, pcast_check_result *result,
                             pcast_error *err)
{
    const pcast_status status = pcast_attention_check(run_on_gpu, cuda, 2, !quick, result, err);
    return status == PCAST_OK && !quick ? pcast_attention_time(cuda, result, err) : status;
}

const pcast_check_part pcast_attention_part = {
    "wgmma", "FP8 attention on the tensor core: O, log-sum-exp, cast P of pcast-wgmma", run_part};
