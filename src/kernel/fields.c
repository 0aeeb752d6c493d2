/* SPDX-License-Identifier: MIT */
/* The table of fields, and reading and writing one of them as text. */
#include "kernel/fields.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "math/math.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of the choices, each list in the order of its enum. */
static const char *const semantics_words[] = {"fp32", "hardware", NULL};
static const char *const exp_unit_words[] = {
    "exact", "ex2", "fa4_poly3", "fa4_poly5", "fa4_mix", "expf", "expf_fast", "unsettled", NULL};
static const char *const reciprocal_words[] = {"div", "rcp_approx", "unsettled", NULL};
static const char *const sum_order_words[] = {"reference", "fa3",  "fa4",       "fmha_v2", "sage",
                                              "hpc_ops",   "fp64", "unsettled", NULL};
static const char *const machine_words[] = {"hopper-wgmma",      "ada-mma",   "hopper-mma",
                                            "blackwell-tcgen05", "unsettled", NULL};
static const char *const order_words[] = {"forward", "reverse", NULL};
static const char *const traversal_words[] = {"contiguous", "strided", NULL};
static const char *const block_words[] = {"", "fa3", "fa3-vllm", "flashinfer-fa3", "fmha-v2", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const scale_at_words[] = {"multiply", "exponent", NULL};
static const char *const exponent_words[] = {"natural", "exp2_fma", "exp2_mul", "exp2_fma_rz",
                                             NULL};
static const char *const bias_words[] = {"two_roundings", "fma", NULL};
static const char *const correction_words[] = {"difference", "natural", "bias", NULL};
static const char *const max_over_words[] = {"scaled", "raw", NULL};
static const char *const unit_words[] = {"log2", "nats", NULL};
static const char *const test_words[] = {"le", "lt", NULL};
static const char *const row_sum_words[] = {"precast", "cast", NULL};
static const char *const sum_scale_words[] = {"out", "in", NULL};
static const char *const normalise_words[] = {"end", "partition", NULL};
static const char *const epilogue_words[] = {"divide", "reciprocal", "quotient", "two_step", NULL};
static const char *const p_format_words[] = {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz",
                                             "f16",  "bf16", "f32",      NULL};
static const char *const output_words[] = {"f32", "bf16", "f16", NULL};
static const char *const overflow_words[] = {"sat", "nan", NULL};
static const char *const accumulator_words[] = {"fp32_fma", "fp64", "tensor_core", "fp16", NULL};
static const char *const lse_words[] = {"none", "e", "2", NULL};
static const char *const qkv_words[] = {"f32",      "bf16",     "f16",  "e4m3", "e5m2",
                                        "e4m3fnuz", "e5m2fnuz", "int8", NULL};
static const char *const granularity_words[] = {"tensor", "kv_head", "head", "block",
                                                "token",  "channel", NULL};
static const char *const mask_words[] = {"none", "causal", "causal_top_left", NULL};
static const char *const mask_value_words[] = {"-inf", "-FLT_MAX", "-1e5", "-5e6", NULL};
static const char *const masked_rows_words[] = {"unguarded", "zero", "mean_v", "nan", NULL};
static const char *const empty_max_words[] = {"guard", "store_zero", "unguarded", NULL};
static const char *const learned_sink_words[] = {"none", "denominator", "initial", NULL};

#define CHOICE(field, list)                                                                        \
    {                                                                                              \
#field, PCAST_KIND_CHOICE, offsetof(pcast_kernel, field), list, 0, 0, NULL                 \
    }
#define COUNT(field, low, high, range)                                                             \
    {                                                                                              \
#field, PCAST_KIND_COUNT, offsetof(pcast_kernel, field), NULL, low, high, range            \
    }
#define REAL(field, low, high, range)                                                              \
    {                                                                                              \
#field, PCAST_KIND_REAL, offsetof(pcast_kernel, field), NULL, low, high, range             \
    }

const pcast_field_info pcast_fields[PCAST_FIELD_COUNT] = {
    [PCAST_FIELD_SEMANTICS] = CHOICE(semantics, semantics_words),
    [PCAST_FIELD_ORDER] = CHOICE(order, order_words),
    [PCAST_FIELD_TRAVERSAL] = CHOICE(traversal, traversal_words),
    [PCAST_FIELD_BLOCK] = {"block", PCAST_KIND_BLOCK, offsetof(pcast_kernel, block), block_words, 1,
                           PCAST_BLOCK_MAX, "1 to 1048576"},
    [PCAST_FIELD_PAGED] = CHOICE(paged, no_yes),
    [PCAST_FIELD_QUERY_BLOCK] = COUNT(query_block, 0, PCAST_BLOCK_MAX, "0 to 1048576"),
    [PCAST_FIELD_SPLITS] = COUNT(splits, 0, PCAST_SPLITS_MAX, "0 to 1024"),
    [PCAST_FIELD_PARTITION] = COUNT(partition, 0, PCAST_BLOCK_MAX, "0 (none) to 1048576"),
    [PCAST_FIELD_PARTIALS] = CHOICE(partials, output_words),
    [PCAST_FIELD_SCALE] = REAL(scale, 0x1p-64, 0x1p64, "2^-64 to 2^64"),
    [PCAST_FIELD_SCALE_LOG2] = REAL(scale_log2, -64, 64, "-64 to 64"),
    [PCAST_FIELD_SCALE_AT] = CHOICE(scale_at, scale_at_words),
    [PCAST_FIELD_EXPONENT] = CHOICE(exponent, exponent_words),
    [PCAST_FIELD_EXP_UNIT] = CHOICE(exp_unit, exp_unit_words),
    [PCAST_FIELD_POLY_FREQ] = COUNT(poly_freq, 0, 64, "0 to 64"),
    [PCAST_FIELD_POLY_START] = COUNT(poly_start, 0, 64, "0 to 64"),
    [PCAST_FIELD_BIAS] = CHOICE(bias, bias_words),
    [PCAST_FIELD_CORRECTION] = CHOICE(correction, correction_words),
    [PCAST_FIELD_MAX_OVER] = CHOICE(max_over, max_over_words),
    [PCAST_FIELD_RESCALE_THRESHOLD] = REAL(rescale_threshold, 0, 64, "0 to 64"),
    [PCAST_FIELD_THRESHOLD_UNIT] = CHOICE(threshold_unit, unit_words),
    [PCAST_FIELD_THRESHOLD_TEST] = CHOICE(threshold_test, test_words),
    [PCAST_FIELD_ROW_SUM] = CHOICE(row_sum, row_sum_words),
    [PCAST_FIELD_SUM_SCALE] = CHOICE(sum_scale, sum_scale_words),
    [PCAST_FIELD_SUM_ORDER] = CHOICE(sum_order, sum_order_words),
    [PCAST_FIELD_NORMALISE] = CHOICE(normalise, normalise_words),
    [PCAST_FIELD_EPILOGUE] = CHOICE(epilogue, epilogue_words),
    [PCAST_FIELD_RECIPROCAL] = CHOICE(reciprocal, reciprocal_words),
    [PCAST_FIELD_P_FORMAT] = CHOICE(p_format, p_format_words),
    [PCAST_FIELD_OVERFLOW] = CHOICE(overflow, overflow_words),
    [PCAST_FIELD_ACCUMULATOR] = CHOICE(accumulator, accumulator_words),
    [PCAST_FIELD_MACHINE] = CHOICE(machine, machine_words),
    [PCAST_FIELD_PROMOTION] = {"promotion", PCAST_KIND_PROMOTION, offsetof(pcast_kernel, promotion),
                               NULL, 1, PCAST_PROMOTION_MAX, "1 to 65536"},
    [PCAST_FIELD_OUT_FORMAT] = CHOICE(out_format, output_words),
    [PCAST_FIELD_LSE] = CHOICE(lse, lse_words),
    [PCAST_FIELD_QKV] = CHOICE(qkv, qkv_words),
    [PCAST_FIELD_Q_SCALE] = CHOICE(q_scale, granularity_words),
    [PCAST_FIELD_K_SCALE] = CHOICE(k_scale, granularity_words),
    [PCAST_FIELD_V_SCALE] = CHOICE(v_scale, granularity_words),
    [PCAST_FIELD_SCALE_ROWS] = COUNT(scale_rows, 0, PCAST_BLOCK_MAX, "0 (query_block) to 1048576"),
    [PCAST_FIELD_V_RANGE] = REAL(
        v_range, 0, 57344, "0 (all of the format), or 2^-20 to the largest number of V's format"),
    [PCAST_FIELD_ROTATION] = CHOICE(rotation, no_yes),
    [PCAST_FIELD_K_MEAN] = CHOICE(k_mean, no_yes),
    [PCAST_FIELD_MASK] = CHOICE(mask, mask_words),
    [PCAST_FIELD_WINDOW_LEFT] = COUNT(window_left, 0, 4294967296.0, "0 (no window) to 2^32"),
    [PCAST_FIELD_WINDOW_RIGHT] = COUNT(window_right, 0, 4294967296.0, "0 (no window) to 2^32"),
    [PCAST_FIELD_MASK_VALUE] = CHOICE(mask_value, mask_value_words),
    [PCAST_FIELD_MASKED_ROWS] = CHOICE(masked_rows, masked_rows_words),
    [PCAST_FIELD_EMPTY_MAX] = CHOICE(empty_max, empty_max_words),
    [PCAST_FIELD_INITIAL_SUM] = REAL(initial_sum, 0, 1, "0 to 1"),
    [PCAST_FIELD_LEARNED_SINK] = CHOICE(learned_sink, learned_sink_words),
    [PCAST_FIELD_SINK_LOGIT] = {"sink_logit", PCAST_KIND_SINK, offsetof(pcast_kernel, sink_logit),
                                NULL, -1e4, 1e4, "-10000 to 10000, or 'none'"},
    [PCAST_FIELD_SOFTCAP] = REAL(softcap, 0, 1e4, "0 (none) to 10000"),
};

const char *pcast_field_name(pcast_field field)
{
    return pcast_fields[field].name;
}

const char *pcast_order_name(pcast_order order)
{
    return order_words[order];
}

int pcast_find_word(const char *const *words, const char *text, size_t length)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return i;
    return -1;
}

/* Enums of the struct have the size of int, whatever their signedness. */
_Static_assert(sizeof(pcast_order) == sizeof(int), "an enum field is read as an int");

int pcast_field_choice(const pcast_kernel *kernel, pcast_field field)
{
    int choice;
    memcpy(&choice, (const char *)kernel + pcast_fields[field].offset, sizeof choice);
    return choice;
}

static pcast_status set_choice(pcast_kernel *kernel, const pcast_field_info *info,
                               const char *value, pcast_error *err)
{
    const int choice = pcast_find_word(info->words, value, strlen(value));
    if (choice >= 0) {
        memcpy((char *)kernel + info->offset, &choice, sizeof choice);
        return PCAST_OK;
    }
    if (info->words[2] == NULL)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: '%s' is neither '%s' nor '%s'", info->name,
                          value, info->words[0], info->words[1]);
    char known[128] = "";
    for (int i = 0; info->words[i] != NULL; i++) {
        strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, info->words[i], sizeof known - strlen(known) - 1);
    }
    return pcast_fail(err, PCAST_ERR_VALUE, "%s: '%s' is none of %s", info->name, value, known);
}

static pcast_status parse_count(const pcast_field_info *info, const char *value, size_t *count,
                                const char *words, pcast_error *err)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 ||
        (double)number < info->low || (double)number > info->high)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: '%s' is not a whole number from %s%s",
                          info->name, value, info->range, words);
    *count = (size_t)number;
    return PCAST_OK;
}

static pcast_status set_real(pcast_kernel *kernel, const pcast_field_info *info, const char *value,
                             pcast_error *err)
{
    char *end;
    pcast_fpenv env;
    pcast_fpenv_enter(&env); /* strtof rounds as the caller's mode says */
    const float real = strtof(value, &end);
    pcast_fpenv_leave(&env);
    if (end == value || *end != '\0' || !((double)real >= info->low && (double)real <= info->high))
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: '%s' is not a number from %s", info->name,
                          value, info->range);
    memcpy((char *)kernel + info->offset, &real, sizeof real);
    return PCAST_OK;
}

/* A number, or the name of a table; `block` 0 stands for the table. */
static pcast_status set_block(pcast_kernel *kernel, const pcast_field_info *info, const char *value,
                              pcast_error *err)
{
    const int table = pcast_find_word(info->words + 1, value, strlen(value)) + 1;
    kernel->block_table = (pcast_block_table)table;
    if (table > 0) {
        kernel->block = 0;
        return PCAST_OK;
    }
    return parse_count(info, value, &kernel->block,
                       ", nor a table: fa3, fa3-vllm, flashinfer-fa3, fmha-v2", err);
}

static pcast_status set_promotion(pcast_kernel *kernel, const pcast_field_info *info,
                                  const char *value, pcast_error *err)
{
    size_t count = 0;
    if (strcmp(value, "never") == 0 || strcmp(value, "tile") == 0) {
        kernel->promotion = value[0] == 'n' ? PCAST_PROMOTION_NEVER : PCAST_PROMOTION_TILE;
        return PCAST_OK;
    }
    const pcast_status status = parse_count(info, value, &count, ", 'never' or 'tile'", err);
    if (status == PCAST_OK)
        kernel->promotion = (int)count;
    return status;
}

static pcast_status set_size(pcast_kernel *kernel, const pcast_field_info *info, const char *value,
                             pcast_error *err)
{
    size_t size = 0;
    const pcast_status status = parse_count(info, value, &size, "", err);
    if (status == PCAST_OK)
        memcpy((char *)kernel + info->offset, &size, sizeof size);
    return status;
}

/* scale and scale_log2 are one quantity: the last one set decides the other. */
static void couple_scales(pcast_kernel *kernel, pcast_field field)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    if (field == PCAST_FIELD_SCALE)
        kernel->scale_log2 = 0;
    else
        kernel->scale = pcast_exp2_f32(kernel->scale_log2);
    pcast_fpenv_leave(&env);
}

pcast_status pcast_kernel_set(pcast_kernel *kernel, pcast_field field, const char *value,
                              pcast_error *err)
{
    if ((int)field < 0 || field >= PCAST_FIELD_COUNT)
        return pcast_fail(err, PCAST_ERR_VALUE, "unknown field number %d", (int)field);
    const pcast_field_info *info = &pcast_fields[field];
    pcast_status status = PCAST_OK;
    switch (info->kind) {
    case PCAST_KIND_CHOICE:
        return set_choice(kernel, info, value, err);
    case PCAST_KIND_REAL:
        status = set_real(kernel, info, value, err);
        if (status == PCAST_OK && (field == PCAST_FIELD_SCALE || field == PCAST_FIELD_SCALE_LOG2))
            couple_scales(kernel, field);
        return status;
    case PCAST_KIND_SINK:
        kernel->sink_given = strcmp(value, "none") != 0;
        return kernel->sink_given ? set_real(kernel, info, value, err) : PCAST_OK;
    case PCAST_KIND_BLOCK:
        return set_block(kernel, info, value, err);
    case PCAST_KIND_PROMOTION:
        return set_promotion(kernel, info, value, err);
    case PCAST_KIND_COUNT:
        return set_size(kernel, info, value, err);
    }
    return PCAST_ERR_VALUE;
}

/* The shortest text that reads back as the same float. */
static void put_real(float real, char *text, size_t size)
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, size, "%.*g", digits, (double)real);
        if (strtof(text, NULL) == real)
            return;
    }
}

void pcast_kernel_get(const pcast_kernel *kernel, pcast_field field, char *text, size_t size)
{
    const pcast_field_info *info = &pcast_fields[field];
    const char *at = (const char *)kernel + info->offset;
    size_t count = 0;
    float real;
    switch (info->kind) {
    case PCAST_KIND_CHOICE:
        snprintf(text, size, "%s", info->words[pcast_field_choice(kernel, field)]);
        return;
    case PCAST_KIND_SINK:
    case PCAST_KIND_REAL:
        memcpy(&real, at, sizeof real);
        if (info->kind == PCAST_KIND_SINK && !kernel->sink_given)
            snprintf(text, size, "none");
        else
            put_real(real, text, size);
        return;
    case PCAST_KIND_PROMOTION:
        if (kernel->promotion > 0)
            snprintf(text, size, "%d", kernel->promotion);
        else
            snprintf(text, size, "%s",
                     kernel->promotion == PCAST_PROMOTION_TILE ? "tile" : "never");
        return;
    case PCAST_KIND_BLOCK:
    case PCAST_KIND_COUNT:
        memcpy(&count, at, sizeof count);
        if (info->kind == PCAST_KIND_BLOCK && count == 0)
            snprintf(text, size, "%s", info->words[kernel->block_table]);
        else
            snprintf(text, size, "%zu", count);
        return;
    }
}
