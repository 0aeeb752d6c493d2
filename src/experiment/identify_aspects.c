/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of aspects. */
#include "experiment/identify_aspects.h"

#include <stdio.h>
#include <string.h>

static const char *const order[] = {"order=forward", "order=reverse", NULL};
static const char *const block[] = {"block=16",  "block=32",  "block=48",   "block=64",
                                    "block=80",  "block=96",  "block=112",  "block=128",
                                    "block=160", "block=176", "block=192",  "block=224",
                                    "block=256", "block=512", "block=4096", NULL};
static const char *const scale[] = {
    "scale=1",   "scale=2",   "scale=4",   "scale=8",   "scale=16",         "scale=32", "scale=64",
    "scale=128", "scale=240", "scale=256", "scale=448", "scale_log2=8.807", NULL};
static const char *const place[] = {"scale_at=multiply;sum_scale=out",
                                    "scale_at=multiply;sum_scale=in",
                                    "scale_at=exponent;sum_scale=in", NULL};
static const char *const threshold[] = {
    "rescale_threshold=0",
    "rescale_threshold=0.75;threshold_unit=log2",
    "rescale_threshold=2;threshold_unit=log2",
    "rescale_threshold=4;threshold_unit=log2",
    "rescale_threshold=8;threshold_unit=log2",
    "rescale_threshold=4;threshold_unit=nats",
    NULL,
};
static const char *const row_sum[] = {"row_sum=precast", "row_sum=cast;sum_scale=in", NULL};
static const char *const format[] = {"p_format=e4m3",
                                     "p_format=f32",
                                     "p_format=bf16",
                                     "p_format=f16",
                                     "p_format=e4m3fnuz",
                                     "p_format=e5m2",
                                     NULL};
static const char *const output[] = {"out_format=f32", "out_format=bf16", "out_format=f16", NULL};
static const char *const lse[] = {"lse=e", "lse=2", NULL};
static const char *const exponent[] = {"exponent=natural", "exponent=exp2_fma", "exponent=exp2_mul",
                                       "exponent=exp2_fma_rz", NULL};
static const char *const max_over[] = {"max_over=scaled", "max_over=raw", NULL};
static const char *const bias[] = {"bias=two_roundings", "bias=fma", NULL};
static const char *const correction[] = {"correction=difference", "correction=natural",
                                         "correction=bias", NULL};
static const char *const accumulator[] = {"accumulator=fp32_fma;promotion=never",
                                          "accumulator=fp32_fma;promotion=tile",
                                          "accumulator=tensor_core;promotion=never",
                                          "accumulator=tensor_core;promotion=tile",
                                          "accumulator=fp16;promotion=tile",
                                          "accumulator=fp64;promotion=never",
                                          NULL};
static const char *const machine[] = {"machine=hopper-wgmma", "machine=ada-mma",
                                      "machine=hopper-mma", "machine=blackwell-tcgen05", NULL};
static const char *const exp_unit[] = {"exp_unit=exact",
                                       "exp_unit=ex2",
                                       "exp_unit=fa4_poly3",
                                       "exp_unit=fa4_mix",
                                       "exp_unit=expf",
                                       "exp_unit=expf_fast",
                                       NULL};
static const char *const reciprocal[] = {"reciprocal=div", "reciprocal=rcp_approx", NULL};
static const char *const sum_order[] = {"sum_order=reference",
                                        "sum_order=fa3",
                                        "sum_order=fa4",
                                        "sum_order=fmha_v2",
                                        "sum_order=sage",
                                        "sum_order=hpc_ops",
                                        NULL};
static const char *const epilogue[] = {"epilogue=divide", "epilogue=reciprocal",
                                       "epilogue=quotient", "epilogue=two_step", NULL};
static const char *const splits[] = {"splits=1;partition=0",   "splits=2;partition=0",
                                     "splits=3;partition=0",   "splits=4;partition=0",
                                     "splits=8;partition=0",   "splits=1;partition=256",
                                     "splits=1;partition=512", NULL};
static const char *const masked[] = {"mask_value=-inf;masked_rows=zero;empty_max=guard",
                                     "mask_value=-inf;masked_rows=nan;empty_max=guard",
                                     "mask_value=-inf;masked_rows=unguarded;empty_max=guard",
                                     "mask_value=-inf;masked_rows=unguarded;empty_max=unguarded",
                                     "mask_value=-inf;masked_rows=unguarded;empty_max=store_zero",
                                     NULL};

/* Those that move the outputs most come first. */
const pcast_aspect pcast_aspects[] = {
    {"output type", "unit-row", output},
    {"format of P", "cast-table", format},
    {"S", "cast-table", scale},
    {"where S enters", "cast-table", place},
    {"order", "walk", order},
    {"block", "walk", block},
    {"staleness", "stale-maximum-rising", threshold},
    {"row sum", "sums-of-cast", row_sum},
    {"splits", "split-merge", splits},
    {"accumulator", "accumulator-width", accumulator},
    {"log-sum-exp", "unit-row", lse},
    {"exponent", "walk", exponent},
    {"maximum over", "walk", max_over},
    {"bias", "walk", bias},
    {"correction", "walk", correction},
    {"epilogue", "walk", epilogue},
    {"masked rows", "masked-rows", masked},
    {"machine", "accumulator-width", machine},
    {"exponential unit", "walk", exp_unit},
    {"reciprocal", "walk", reciprocal},
    {"order of the row sum", "walk", sum_order},
};
const size_t pcast_aspect_count = sizeof pcast_aspects / sizeof pcast_aspects[0];

static pcast_field find_field(const char *name, size_t length)
{
    int field = 0;
    while (field < PCAST_FIELD_COUNT &&
           (strlen(pcast_field_name((pcast_field)field)) != length ||
            strncmp(pcast_field_name((pcast_field)field), name, length) != 0))
        field++;
    return (pcast_field)field;
}

int pcast_aspect_set(pcast_kernel *kernel, const char *value)
{
    pcast_error err;
    while (*value != '\0') {
        char text[64];
        const char *equals = strchr(value, '='), *end = strchr(value, ';');
        const size_t length = end != NULL ? (size_t)(end - equals - 1) : strlen(equals + 1);
        snprintf(text, sizeof text, "%.*s", (int)length, equals + 1);
        if (pcast_kernel_set(kernel, find_field(value, (size_t)(equals - value)), text, &err) !=
            PCAST_OK)
            return 0;
        value = end != NULL ? end + 1 : "";
    }
    return pcast_kernel_validate(kernel, &err) == PCAST_OK;
}

void pcast_aspect_get(const pcast_kernel *kernel, const pcast_aspect *aspect, char *text,
                      size_t size)
{
    const char *value = aspect->values[0];
    int length = 0;
    text[0] = '\0';
    while (*value != '\0' && length < (int)size) {
        char own[64];
        const char *equals = strchr(value, '='), *end = strchr(value, ';');
        pcast_kernel_get(kernel, find_field(value, (size_t)(equals - value)), own, sizeof own);
        length += snprintf(text + length, size - (size_t)length, "%s%.*s=%s", length > 0 ? ";" : "",
                           (int)(equals - value), value, own);
        value = end != NULL ? end + 1 : "";
    }
}

void pcast_kernel_spec(const pcast_kernel *kernel, const pcast_preset *preset, char *text,
                       size_t size)
{
    int length = snprintf(text, size, "%s", preset->name);
    const char *separator = ":";
    for (int field = 0; field < PCAST_FIELD_COUNT && length < (int)size; field++) {
        char own[128], given[128];
        pcast_kernel_get(kernel, (pcast_field)field, own, sizeof own);
        pcast_kernel_get(&preset->kernel, (pcast_field)field, given, sizeof given);
        if (strcmp(own, given) == 0)
            continue;
        length += snprintf(text + length, size - (size_t)length, "%s%s=%s", separator,
                           pcast_field_name((pcast_field)field), own);
        separator = ";";
    }
}
