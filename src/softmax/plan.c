/* SPDX-License-Identifier: MIT */
/* Constants of a kernel for one head. */
#include "softmax/plan.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "math/constants.h"
#include "math/math.h"
#include "softmax/steps.h"

#include <math.h>

static int positive(float x)
{
    return x > 0 && isfinite(x);
}

static pcast_status check(const pcast_kernel *kernel, const pcast_head_scales *scales,
                          pcast_error *err)
{
    if (!positive(scales->softmax_scale))
        return pcast_fail(err, PCAST_ERR_VALUE, "softmax scale: %g is not a positive number",
                          (double)scales->softmax_scale);
    if (!positive(scales->qk_descale))
        return pcast_fail(err, PCAST_ERR_VALUE, "q and k descale: %g is not a positive number",
                          (double)scales->qk_descale);
    if (!isfinite(scales->v_descale))
        return pcast_fail(err, PCAST_ERR_VALUE, "v descale: %g is not finite",
                          (double)scales->v_descale);
    if (scales->sink_given && kernel->learned_sink == PCAST_LEARNED_SINK_NONE)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "learned_sink: this kernel knows no learned sink, but one is given");
    if (kernel->partition % kernel->block != 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "partition: %zu is no multiple of the block, %zu",
                          kernel->partition, kernel->block);
    return PCAST_OK;
}

/* c, and what a difference of scores is in the unit of rescale_threshold. */
static void set_factors(pcast_plan *plan)
{
    const pcast_kernel *kernel = &plan->kernel;
    const int raw = kernel->max_over == PCAST_MAX_OVER_RAW;
    /* Nats of a raw score of 1. */
    const float unit = kernel->softcap > 0 ? kernel->softcap : plan->score_scale;
    plan->c = raw ? (float)((double)unit * PCAST_LOG2_E) : PCAST_LOG2_E_F32;
    plan->lag_factor = plan->c;
    if (kernel->threshold_unit == PCAST_THRESHOLD_NATS)
        plan->lag_factor = raw ? unit : 1.0f;
    plan->sink_score = raw ? plan->sink_nats / unit : plan->sink_nats;
}

static void set_scale(pcast_plan *plan)
{
    const pcast_kernel *kernel = &plan->kernel;
    const int at_exponent = kernel->scale_at == PCAST_SCALE_AT_EXPONENT;
    plan->offset = 0;
    if (at_exponent && !plan->base2)
        plan->offset = pcast_log_f32(kernel->scale);
    else if (at_exponent)
        plan->offset = kernel->scale_log2 != 0 ? kernel->scale_log2 : pcast_log2_f32(kernel->scale);
    plan->after = at_exponent ? 1.0f : kernel->scale;
    plan->inside = kernel->sum_scale == PCAST_SUM_SCALE_IN ? kernel->scale : 1.0f;
}

/* FP32 semantics replaces what belongs to the hardware. */
static void settle_units(pcast_kernel *kernel)
{
    if (kernel->semantics == PCAST_SEMANTICS_HARDWARE)
        return;
    kernel->exp_unit = PCAST_EXP_UNIT_EXACT;
    kernel->reciprocal = PCAST_RECIPROCAL_DIV;
    if (kernel->sum_order != PCAST_SUM_ORDER_FP64)
        kernel->sum_order = PCAST_SUM_ORDER_REFERENCE;
    if (kernel->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE)
        kernel->accumulator = PCAST_ACCUMULATOR_FP32_FMA;
}

/* What a hardware kernel reads, and the tensor core that multiplies it. */
static void set_core(pcast_plan *plan, pcast_cpu cpu)
{
    const pcast_kernel *kernel = &plan->kernel;
    const int f16 = kernel->accumulator == PCAST_ACCUMULATOR_FP16;
    if (kernel->semantics != PCAST_SEMANTICS_HARDWARE)
        return;
    plan->reads_codes = kernel->qkv == PCAST_QKV_E4M3 || kernel->qkv == PCAST_QKV_E5M2 ||
                        kernel->qkv == PCAST_QKV_INT8;
    plan->v_format = kernel->qkv == PCAST_QKV_E5M2 ? PCAST_E5M2 : PCAST_E4M3;
    for (uint32_t code = 0; code < 256; code++)
        plan->v_value[code] = pcast_decode_f32(plan->v_format, code);
    plan->by_machine = f16 || kernel->accumulator == PCAST_ACCUMULATOR_TENSOR_CORE;
    if (plan->by_machine)
        plan->core =
            (pcast_tensor_core){.machine = (pcast_machine)kernel->machine,
                                .a = kernel->p_format,
                                .b = plan->v_format,
                                .output = f16 ? PCAST_TENSOR_CORE_F16 : PCAST_TENSOR_CORE_F32,
                                .cpu = cpu};
}

int pcast_plan_codes(const pcast_plan *plan, const float *values, size_t count, uint8_t *codes,
                     float *rounded)
{
    /* E5M2's infinities are codes like others. */
    const pcast_cast cast = {.overflow = PCAST_OVERFLOW_SATURATE, .inf = PCAST_INF_NAN};
    int exact = 1;
    pcast_encode_array(plan->v_format, codes, values, count, cast, plan->cpu);
    for (size_t i = 0; i < count; i++) {
        const float value = plan->v_value[codes[i]];
        exact &= value == values[i] || (isnan(value) && isnan(values[i]));
        if (rounded != NULL)
            rounded[i] = value;
    }
    return exact;
}

pcast_status pcast_plan_init(pcast_plan *plan, const pcast_kernel *kernel, pcast_cpu cpu,
                             const pcast_head_scales *scales, size_t dim, pcast_error *err)
{
    static const float mask_values[] = {
        [PCAST_MASK_VALUE_INF] = -INFINITY,
        [PCAST_MASK_VALUE_FLT_MAX] = -FLT_MAX,
        [PCAST_MASK_VALUE_1E5] = -1e5f,
        [PCAST_MASK_VALUE_5E6] = -5e6f,
    };
    *plan = (pcast_plan){.kernel = *kernel, .engine = pcast_engine_for(cpu), .cpu = cpu};
    pcast_kernel_resolve(&plan->kernel, dim);
    settle_units(&plan->kernel);
    set_core(plan, cpu);
    const pcast_status status = check(&plan->kernel, scales, err);
    if (status != PCAST_OK)
        return status;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    plan->base2 = kernel->exponent != PCAST_EXPONENT_NATURAL;
    plan->sink_given = scales->sink_given;
    plan->sink_nats = scales->sink_logit;
    plan->v_descale = scales->v_descale;
    plan->score_scale = scales->softmax_scale * scales->qk_descale;
    set_factors(plan);
    set_scale(plan);
    plan->mask_value = mask_values[kernel->mask_value];
    plan->initial_max = plan->mask_value;
    if (kernel->mask_value == PCAST_MASK_VALUE_5E6 && plan->base2) /* -5e6 in the exponent's unit */
        plan->initial_max = plan->mask_value / plan->c;
    for (uint32_t code = 0; pcast_format_width(kernel->p_format) == 8 && code < 256; code++)
        plan->value[code] = pcast_decode_f32(kernel->p_format, code);
    pcast_fpenv_leave(&env);
    return PCAST_OK;
}

const float *pcast_plan_scores(const pcast_plan *plan, const float *products, size_t count,
                               float *scores)
{
    const int raw = plan->kernel.max_over == PCAST_MAX_OVER_RAW;
    const float scale = plan->score_scale, cap = plan->kernel.softcap;
    if (cap == 0 && (raw || scale == 1))
        return products;
    for (size_t i = 0; i < count; i++)
        scores[i] = pcast_plan_score(plan, products[i]);
    return scores;
}

size_t pcast_plan_splits(const pcast_plan *plan, size_t keys)
{
    const pcast_kernel *kernel = &plan->kernel;
    if (kernel->partition > 0)
        return keys / kernel->partition + 2; /* both ends may be partial */
    return kernel->splits > 1 ? kernel->splits : 1;
}

/* Fields that decide maxima, factors and P, beside the plan's own numbers. */
static int same_fields(const pcast_kernel *a, const pcast_kernel *b)
{
    return a->block == b->block && a->exponent == b->exponent && a->exp_unit == b->exp_unit &&
           a->poly_freq == b->poly_freq && a->poly_start == b->poly_start && a->bias == b->bias &&
           a->correction == b->correction && a->max_over == b->max_over &&
           a->rescale_threshold == b->rescale_threshold && a->threshold_test == b->threshold_test &&
           a->mask == b->mask && a->masked_rows == b->masked_rows && a->empty_max == b->empty_max &&
           a->learned_sink == b->learned_sink && a->softcap == b->softcap &&
           a->normalise == PCAST_NORMALISE_END && b->normalise == PCAST_NORMALISE_END;
}

int pcast_plan_same_front(const pcast_plan *a, const pcast_plan *b)
{
    return same_fields(&a->kernel, &b->kernel) && a->base2 == b->base2 && a->c == b->c &&
           a->offset == b->offset && a->lag_factor == b->lag_factor &&
           a->score_scale == b->score_scale && a->mask_value == b->mask_value &&
           a->initial_max == b->initial_max && a->sink_given == b->sink_given &&
           (!a->sink_given || a->sink_score == b->sink_score);
}

int pcast_plan_same_sum(const pcast_plan *a, const pcast_plan *b)
{
    const pcast_kernel *x = &a->kernel, *y = &b->kernel;
    const int bare = x->row_sum == PCAST_ROW_SUM_PRECAST && y->row_sum == PCAST_ROW_SUM_PRECAST &&
                     (x->sum_scale == PCAST_SUM_SCALE_OUT || a->after == 1) &&
                     (y->sum_scale == PCAST_SUM_SCALE_OUT || b->after == 1);
    return bare && a->inside == b->inside && x->sum_order == y->sum_order &&
           x->initial_sum == y->initial_sum;
}
