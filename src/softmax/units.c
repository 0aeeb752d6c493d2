/* SPDX-License-Identifier: MIT */
/* Dispatch from the plan's exp_unit and reciprocal to the functions of math/ and hardware/. */
#include "softmax/units.h"

#include "base/bits.h"
#include "hardware/units.h"
#include "math/constants.h"
#include "math/math.h"

float pcast_unit_exp(const pcast_plan *plan, float x)
{
    switch (plan->kernel.exp_unit) {
    case PCAST_EXP_UNIT_EXACT:
        return pcast_exp_f32(x);
    case PCAST_EXP_UNIT_EXPF:
        return pcast_cuda_expf(x);
    default:
        return pcast_ex2_ftz(x * PCAST_LOG2_E_F32);
    }
}

float pcast_unit_exp2(const pcast_plan *plan, float x)
{
    return plan->kernel.exp_unit == PCAST_EXP_UNIT_EXACT ? pcast_exp2_f32(x) : pcast_ex2_ftz(x);
}

/* Does FlashAttention-4's pattern give the column to the polynomial? Columns go in pairs. */
static int is_polynomial(const pcast_kernel *kernel, size_t column)
{
    enum { GROUP = 32, POLYNOMIALS = 4 };
    const size_t freq = kernel->poly_freq;
    const size_t group = column / GROUP, pair = column % GROUP / 2 * 2;
    return group >= kernel->poly_start && (group + 1) * GROUP < kernel->block &&
           pair % freq >= freq - POLYNOMIALS;
}

static void mixed(const pcast_plan *plan, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = is_polynomial(&plan->kernel, i) ? pcast_fa4_exp2(x[i], 3) : pcast_ex2_ftz(x[i]);
}

void pcast_unit_exponentials(const pcast_plan *plan, float *x, size_t count)
{
    const pcast_exp_unit unit = plan->kernel.exp_unit;
    if (unit == PCAST_EXP_UNIT_FA4_MIX) {
        mixed(plan, x, count);
        return;
    }
    const int degree = unit == PCAST_EXP_UNIT_FA4_POLY3 ? 3 : 5;
    const int polynomial = unit == PCAST_EXP_UNIT_FA4_POLY3 || unit == PCAST_EXP_UNIT_FA4_POLY5;
    if (unit == PCAST_EXP_UNIT_EXACT) {
        plan->engine->exponentials(x, count, plan->base2);
        return;
    }
    for (size_t i = 0; i < count; i++)
        x[i] = unit == PCAST_EXP_UNIT_EXPF_FAST ? pcast_cuda_expf_fast(x[i])
               : !plan->base2                   ? pcast_unit_exp(plan, x[i])
               : polynomial                     ? pcast_fa4_exp2(x[i], degree)
                                                : pcast_unit_exp2(plan, x[i]);
}

float pcast_unit_log2(const pcast_plan *plan, float x)
{
    return plan->kernel.exp_unit == PCAST_EXP_UNIT_EXACT ? pcast_log2_f32(x) : pcast_lg2_ftz(x);
}

float pcast_unit_log(const pcast_plan *plan, float x)
{
    return plan->kernel.exp_unit == PCAST_EXP_UNIT_EXACT ? pcast_log_f32(x)
                                                         : pcast_lg2_ftz(x) * PCAST_LN2_F32;
}

float pcast_unit_reciprocal(const pcast_plan *plan, float x)
{
    return plan->kernel.reciprocal == PCAST_RECIPROCAL_DIV ? 1.0f / x : pcast_rcp_ftz(x);
}

float pcast_unit_quotient(const pcast_plan *plan, float a, float x)
{
    return plan->kernel.reciprocal == PCAST_RECIPROCAL_DIV ? a / x : a * pcast_rcp_ftz(x);
}
