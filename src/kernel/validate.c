/* SPDX-License-Identifier: MIT */
/* Which kernels make sense: ranges of single fields, then combinations. */
#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "kernel/fields.h"
#include "math/constants.h"
#include "math/math.h"

#include <string.h>

static pcast_status check_field(const pcast_kernel *kernel, pcast_field field, pcast_error *err)
{
    const pcast_field_info *info = &pcast_fields[field];
    const char *at = (const char *)kernel + info->offset;
    size_t count;
    float real;
    int known = 0;
    switch (info->kind) {
    case PCAST_KIND_CHOICE:
        while (info->words[known] != NULL)
            known++;
        if (pcast_field_choice(kernel, field) >= 0 && pcast_field_choice(kernel, field) < known)
            return PCAST_OK;
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: %d is no choice", info->name,
                          pcast_field_choice(kernel, field));
    case PCAST_KIND_SINK:
    case PCAST_KIND_REAL:
        memcpy(&real, at, sizeof real);
        if ((double)real >= info->low && (double)real <= info->high)
            return PCAST_OK;
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: %g is not a number from %s", info->name,
                          (double)real, info->range);
    case PCAST_KIND_PROMOTION:
        if (kernel->promotion >= PCAST_PROMOTION_TILE && kernel->promotion <= PCAST_PROMOTION_MAX)
            return PCAST_OK;
        return pcast_fail(err, PCAST_ERR_VALUE, "promotion: %d is no interval", kernel->promotion);
    case PCAST_KIND_BLOCK:
    case PCAST_KIND_COUNT:
        memcpy(&count, at, sizeof count);
        if (((double)count >= info->low && (double)count <= info->high) ||
            (info->kind == PCAST_KIND_BLOCK && count == 0 &&
             kernel->block_table > PCAST_BLOCKS_CONSTANT &&
             kernel->block_table <= PCAST_BLOCKS_FMHA_V2))
            return PCAST_OK;
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: %zu is not from %s", info->name, count,
                          info->range);
    }
    return PCAST_OK;
}

/* A combination that makes no sense; the text begins with the field to change. */
typedef struct rule {
    int broken;
    const char *why;
} rule;

static pcast_status check_rules(const rule *rules, size_t count, pcast_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].broken)
            return pcast_fail(err, PCAST_ERR_VALUE, "%s", rules[i].why);
    return PCAST_OK;
}

#define CHECK_RULES(rules, err) check_rules(rules, sizeof(rules) / sizeof(rules)[0], err)

static pcast_status check_scale(const pcast_kernel *k, pcast_error *err)
{
    const int at_exponent = k->scale_at == PCAST_SCALE_AT_EXPONENT;
    const int partition = k->normalise == PCAST_NORMALISE_PARTITION;
    const int sum_out = k->sum_scale == PCAST_SUM_SCALE_OUT;
    const rule rules[] = {
        {k->scale_log2 != 0 && !at_exponent,
         "scale_log2: is a term of the exponent, so it needs scale_at=exponent"},
        {k->scale_log2 != 0 && k->exponent == PCAST_EXPONENT_NATURAL,
         "scale_log2: a natural exponent adds ln S, not log2 S; give scale"},
        {k->scale_log2 != 0 && k->scale != pcast_exp2_f32(k->scale_log2),
         "scale: is not 2^scale_log2"},
        {partition && at_exponent,
         "scale_at: exponent with normalise=partition: S cancels when P is divided by its sum, "
         "before the cast"},
        {partition && k->row_sum == PCAST_ROW_SUM_CAST,
         "row_sum: cast with normalise=partition: P is divided by the sum before it is cast"},
        {partition && !sum_out,
         "sum_scale: in with normalise=partition: S would cancel before the cast"},
        {at_exponent && sum_out,
         "sum_scale: out with scale_at=exponent: the exponential contains S, and so does its sum"},
        {k->row_sum == PCAST_ROW_SUM_CAST && sum_out,
         "sum_scale: out with row_sum=cast: cast values contain S"},
    };
    pcast_status status = CHECK_RULES(rules, err);
    /* l <= 2^32 keys * 2^tau, with S inside or multiplied in the end. */
    const float tau = k->rescale_threshold *
                      (k->threshold_unit == PCAST_THRESHOLD_NATS ? PCAST_LOG2_E_F32 : 1.0f);
    if (status == PCAST_OK && pcast_log2_f32(k->scale) + tau > 95)
        status = pcast_fail(err, PCAST_ERR_VALUE,
                            "scale: S * l overflows float32: S = %g, and rescale_threshold lets P "
                            "grow by 2^%g",
                            (double)k->scale, (double)tau);
    return status;
}

static pcast_status check_exponent(const pcast_kernel *k, pcast_error *err)
{
    const int natural = k->exponent == PCAST_EXPONENT_NATURAL;
    const int raw = k->max_over == PCAST_MAX_OVER_RAW;
    const rule rules[] = {
        {natural && raw,
         "max_over: raw with exponent=natural: exp(z - m) needs scores already scaled"},
        {natural && k->bias == PCAST_BIAS_FMA,
         "bias: fma with exponent=natural: there is no product to fuse"},
        {natural && k->correction == PCAST_CORRECTION_BIAS,
         "correction: bias with exponent=natural: there is no bias"},
        {raw && k->correction == PCAST_CORRECTION_NATURAL,
         "correction: natural with max_over=raw: exp(m_old - m_new) needs scaled scores"},
        {k->rescale_threshold > 0 && k->normalise == PCAST_NORMALISE_PARTITION,
         "rescale_threshold: with normalise=partition P is formed after the true maximum is known"},
        {k->rescale_threshold > 0 && k->correction == PCAST_CORRECTION_NATURAL &&
             k->threshold_unit == PCAST_THRESHOLD_LOG2 && !natural,
         "threshold_unit: log2 with correction=natural: the lag is in nats"},
    };
    return CHECK_RULES(rules, err);
}

static pcast_status check_accumulator(const pcast_kernel *k, pcast_error *err)
{
    const int tensor_core = k->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE;
    const rule rules[] = {
        {tensor_core && k->qkv == PCAST_QKV_F32,
         "accumulator: tensor_core with qkv=f32: a tensor core multiplies no FP32 V"},
        {tensor_core && k->p_format == PCAST_F32,
         "accumulator: tensor_core with p_format=f32: a tensor core multiplies no FP32 P"},
        {k->accumulator == PCAST_ACCUMULATOR_FP64 && k->promotion != PCAST_PROMOTION_NEVER,
         "promotion: to FP32 from accumulator=fp64 would lose bits; only 'never'"},
    };
    return CHECK_RULES(rules, err);
}

/* What the kernel reads V in. */
static pcast_format v_format_of(pcast_qkv qkv)
{
    static const pcast_format formats[] = {
        [PCAST_QKV_F32] = PCAST_F32,           [PCAST_QKV_BF16] = PCAST_BF16,
        [PCAST_QKV_F16] = PCAST_F16,           [PCAST_QKV_E4M3] = PCAST_E4M3,
        [PCAST_QKV_E5M2] = PCAST_E5M2,         [PCAST_QKV_E4M3FNUZ] = PCAST_E4M3FNUZ,
        [PCAST_QKV_E5M2FNUZ] = PCAST_E5M2FNUZ, [PCAST_QKV_INT8] = PCAST_E4M3,
    };
    return formats[qkv];
}

/* Below 2^-20 most of V's codes would be zero, and its descale near overflow. */
static pcast_status check_v_range(const pcast_kernel *k, pcast_error *err)
{
    const pcast_format format = v_format_of(k->qkv);
    const double largest = pcast_decode_f64(format, pcast_format_largest(format));
    if (k->v_range == 0 || (k->v_range >= 0x1p-20f && (double)k->v_range <= largest))
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_VALUE,
                      "v_range: %g is neither 0 nor from 2^-20 to %g, the "
                      "largest number of V in %s",
                      (double)k->v_range, largest, pcast_format_name(format));
}

static pcast_status check_inputs(const pcast_kernel *k, pcast_error *err)
{
    const rule rules[] = {
        {k->q_scale == PCAST_SCALE_CHANNEL,
         "q_scale: channel: a scale by channel does not factor out of Q.K"},
        {k->k_scale == PCAST_SCALE_CHANNEL,
         "k_scale: channel: a scale by channel does not factor out of Q.K"},
        {k->v_scale == PCAST_SCALE_BLOCK && k->promotion != PCAST_PROMOTION_TILE,
         "v_scale: block needs promotion=tile: each block's product is scaled before it is added"},
        {k->v_scale == PCAST_SCALE_TOKEN,
         "v_scale: token: a scale by token would have to enter P before its cast"},
    };
    return CHECK_RULES(rules, err);
}

/* Natural exponentials come from expf, those to base 2 from the others. */
static pcast_status check_units(const pcast_kernel *k, pcast_error *err)
{
    const int natural = k->exponent == PCAST_EXPONENT_NATURAL;
    const int expf = k->exp_unit == PCAST_EXP_UNIT_EXPF || k->exp_unit == PCAST_EXP_UNIT_EXPF_FAST;
    const int fixed =
        k->exp_unit == PCAST_EXP_UNIT_EXACT || k->exp_unit == PCAST_EXP_UNIT_UNSETTLED;
    const rule rules[] = {
        {natural && !expf && !fixed,
         "exp_unit: computes exp2, but exponent=natural needs exact, expf or expf_fast"},
        {!natural && expf, "exp_unit: computes exp, but the exponent is to base 2"},
        {k->exp_unit == PCAST_EXP_UNIT_FA4_MIX && k->poly_freq < 4,
         "poly_freq: exp_unit=fa4_mix gives four columns of each run of poly_freq, 4 to 64, to the "
         "polynomial; the kernel has 10, 8 or 16"},
        {k->sum_order != PCAST_SUM_ORDER_REFERENCE && k->sum_order != PCAST_SUM_ORDER_FP64 &&
             k->sum_order != PCAST_SUM_ORDER_UNSETTLED && k->row_sum == PCAST_ROW_SUM_CAST,
         "sum_order: with row_sum=cast no thread adds; reference or fp64"},
    };
    return CHECK_RULES(rules, err);
}

/* What hardware semantics cannot answer: choices that no source settles, formats without a machine.
 */
static pcast_status check_available(const pcast_kernel *k, pcast_error *err)
{
    const int machine =
        k->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE || k->accumulator == PCAST_ACCUMULATOR_FP16;
    const int p_fp8 = k->p_format == PCAST_E4M3 || k->p_format == PCAST_E5M2;
    const int v_fp8 = k->qkv == PCAST_QKV_E4M3 || k->qkv == PCAST_QKV_E5M2 ||
                      k->qkv == PCAST_QKV_INT8; /* which has V in E4M3 */
    const rule rules[] = {
        {k->exp_unit == PCAST_EXP_UNIT_UNSETTLED,
         "exp_unit: not settled by this kernel's sources; give exp_unit=ex2 or another"},
        {k->reciprocal == PCAST_RECIPROCAL_UNSETTLED,
         "reciprocal: not settled by this kernel's sources; give reciprocal=div or rcp_approx"},
        {k->sum_order == PCAST_SUM_ORDER_UNSETTLED,
         "sum_order: not settled by this kernel's sources; give sum_order=fa3 or another"},
        {machine && k->machine == PCAST_MACHINE_UNSETTLED,
         "machine: not settled by this kernel's sources; give machine=hopper-wgmma or another"},
        {machine && k->row_sum == PCAST_ROW_SUM_CAST && k->sum_order != PCAST_SUM_ORDER_FP64,
         "row_sum: a sum of casts is the tensor core's, which is not modelled; only "
         "sum_order=fp64"},
        {machine && !p_fp8, "p_format: hardware semantics multiplies P in e4m3 or e5m2 only"},
        {machine && !v_fp8, "qkv: hardware semantics multiplies V in e4m3 or e5m2 only"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].broken)
            return pcast_fail(err, PCAST_ERR_UNAVAILABLE, "%s", rules[i].why);
    return PCAST_OK;
}

static pcast_status check_walk(const pcast_kernel *k, pcast_error *err)
{
    const rule rules[] = {
        {k->partition > 0 && k->splits > 1,
         "partition: fixes the number of splits; give one of the two"},
        {k->partition > 0 && k->traversal == PCAST_TRAVERSAL_STRIDED,
         "traversal: strided with partition: a partition is contiguous"},
        {k->partition > 0 && k->block > 0 && k->partition % k->block != 0,
         "partition: is no multiple of block"},
        {k->mask != PCAST_MASK_NONE && k->window_right != 0,
         "window_right: a causal mask already hides every later key"},
        {k->masked_rows == PCAST_MASKED_ROWS_MEAN_V && k->mask_value == PCAST_MASK_VALUE_INF,
         "masked_rows: mean_v comes from a finite mask_value: under -inf every P is zero"},
        {k->empty_max != PCAST_EMPTY_MAX_GUARD && k->mask_value != PCAST_MASK_VALUE_INF,
         "empty_max: under a finite mask_value the running maximum is never -Inf"},
        {k->learned_sink == PCAST_LEARNED_SINK_NONE && k->sink_given,
         "sink_logit: with learned_sink=none: the kernel knows no learned sink"},
        {k->initial_sum != 0 && k->initial_sum != 1, "initial_sum: is 0 or 1"},
    };
    return CHECK_RULES(rules, err);
}

pcast_status pcast_kernel_validate(const pcast_kernel *kernel, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (int i = 0; status == PCAST_OK && i < PCAST_FIELD_COUNT; i++)
        status = check_field(kernel, (pcast_field)i, err);
    if (status == PCAST_OK)
        status = check_scale(kernel, err);
    if (status == PCAST_OK)
        status = check_exponent(kernel, err);
    if (status == PCAST_OK)
        status = check_accumulator(kernel, err);
    if (status == PCAST_OK)
        status = check_inputs(kernel, err);
    if (status == PCAST_OK)
        status = check_v_range(kernel, err);
    if (status == PCAST_OK)
        status = check_walk(kernel, err);
    if (status == PCAST_OK && kernel->semantics == PCAST_SEMANTICS_HARDWARE)
        status = check_units(kernel, err);
    if (status == PCAST_OK && kernel->semantics == PCAST_SEMANTICS_HARDWARE)
        status = check_available(kernel, err);
    pcast_fpenv_leave(&env);
    return status;
}

pcast_status pcast_kernel_same_problem(const pcast_kernel *a, const pcast_kernel *b,
                                       pcast_error *err)
{
    const pcast_kernel pair[2] = {*a, *b};
    static const pcast_field fields[] = {PCAST_FIELD_MASK, PCAST_FIELD_WINDOW_LEFT,
                                         PCAST_FIELD_WINDOW_RIGHT, PCAST_FIELD_SOFTCAP,
                                         PCAST_FIELD_SINK_LOGIT};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char text[2][32];
        for (int k = 0; k < 2; k++)
            pcast_kernel_get(&pair[k], fields[i], text[k], sizeof text[k]);
        if (strcmp(text[0], text[1]) != 0)
            return pcast_fail(err, PCAST_ERR_VALUE,
                              "%s: all kernels of one run need the same, not %s and %s",
                              pcast_fields[fields[i]].name, text[0], text[1]);
    }
    return PCAST_OK;
}
