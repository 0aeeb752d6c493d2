/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels with one stage exact, and the error budget of attention on tensors. */
#include "pcast/budget.h"

#include "base/bits.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

const char *pcast_budget_name(pcast_budget_stage stage)
{
    static const char *const names[PCAST_BUDGET_STAGES] = {
        "q", "k", "v", "exp_unit", "p_cast", "accumulator", "row_sum", "output"};
    return names[stage];
}

int pcast_budget_beside_accumulator(pcast_budget_stage stage)
{
    return stage <= PCAST_BUDGET_V || stage == PCAST_BUDGET_P_CAST;
}

/* In FP64, or where each block of V has its scale in FP32: that needs promotion. */
static void make_accumulator_exact(pcast_kernel *kernel)
{
    if (kernel->v_scale == PCAST_SCALE_BLOCK) {
        kernel->accumulator = PCAST_ACCUMULATOR_FP32_FMA;
        return;
    }
    kernel->accumulator = PCAST_ACCUMULATOR_FP64;
    kernel->promotion = PCAST_PROMOTION_NEVER;
}

pcast_kernel pcast_budget_kernel(const pcast_kernel *kernel, pcast_budget_stage stage)
{
    pcast_kernel exact = *kernel;
    if (pcast_budget_beside_accumulator(stage) || stage == PCAST_BUDGET_ACCUMULATOR)
        make_accumulator_exact(&exact);
    switch (stage) {
    case PCAST_BUDGET_V:
        exact.qkv = PCAST_QKV_F32;
        break;
    case PCAST_BUDGET_EXP_UNIT:
        exact.exp_unit = PCAST_EXP_UNIT_EXACT;
        break;
    case PCAST_BUDGET_P_CAST:
        exact.p_format = PCAST_F32;
        break;
    case PCAST_BUDGET_ROW_SUM:
        exact.sum_order = PCAST_SUM_ORDER_FP64;
        break;
    case PCAST_BUDGET_OUTPUT:
        exact.out_format = exact.partials = PCAST_OUTPUT_F32;
        exact.reciprocal = PCAST_RECIPROCAL_DIV;
        break;
    default:
        break;
    }
    return exact;
}

pcast_budget pcast_budget_of(double all, const double without[PCAST_BUDGET_STAGES])
{
    pcast_budget budget = {.all = all, .remainder = all};
    for (int s = 0; s < PCAST_BUDGET_STAGES; s++) {
        const double base = pcast_budget_beside_accumulator((pcast_budget_stage)s)
                                ? without[PCAST_BUDGET_ACCUMULATOR]
                                : all;
        budget.stages[s] = base - without[s];
        budget.remainder -= isnan(budget.stages[s]) ? 0 : budget.stages[s];
    }
    return budget;
}

/* Mean squared errors of one run, into mse[heads]. */
static pcast_status run_one(const pcast_attend *attend, const pcast_run *run,
                            const pcast_kernel *kernel, unsigned quantised,
                            const pcast_attend_result *result, size_t heads, double *mse,
                            pcast_error *err)
{
    pcast_attend inputs = *attend;
    pcast_run one = *run;
    inputs.prepare = 1;
    inputs.quantised = quantised;
    one.kernels = kernel;
    const pcast_status status = pcast_attend_run(&inputs, &one, result, err);
    for (size_t h = 0; status == PCAST_OK && h < heads; h++)
        mse[h] = result->heads[h].summary.mse;
    return status;
}

/* Q, K and V are made exact by not quantising them: the kernel must still read what it reads. */
static pcast_status run_without(const pcast_attend *attend, const pcast_run *run,
                                pcast_budget_stage stage, const pcast_attend_result *result,
                                size_t heads, double *mse, pcast_error *err)
{
    const unsigned bit[] = {PCAST_STAGE_Q, PCAST_STAGE_K, PCAST_STAGE_V};
    const int input = stage <= PCAST_BUDGET_V;
    pcast_kernel kernel = pcast_budget_kernel(&run->kernels[0], stage);
    kernel.qkv = run->kernels[0].qkv;
    return run_one(attend, run, &kernel,
                   input ? PCAST_STAGE_QKV & ~bit[stage] : (unsigned)PCAST_STAGE_QKV, result, heads,
                   mse, err);
}

pcast_status pcast_attend_budget(const pcast_attend *attend, const pcast_run *run, unsigned stages,
                                 const pcast_attend_result *result, pcast_budget *budgets,
                                 pcast_error *err)
{
    pcast_attend_shape shape;
    pcast_status status = pcast_attend_check(attend, &run->kernels[0], &shape, err);
    if (status != PCAST_OK)
        return status;
    const size_t heads = shape.batch * shape.heads;
    double *mse = malloc((heads + 1) * PCAST_BUDGET_STAGES * sizeof *mse);
    double *all = malloc((heads + 1) * sizeof *all);
    if (mse == NULL || all == NULL)
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu heads", heads);
    stages |= 1u << PCAST_BUDGET_ACCUMULATOR;
    for (int s = 0; status == PCAST_OK && s < PCAST_BUDGET_STAGES; s++) {
        for (size_t h = 0; h < heads; h++)
            mse[(size_t)s * heads + h] = NAN;
        if ((stages >> s) & 1)
            status = run_without(attend, run, (pcast_budget_stage)s, result, heads,
                                 mse + (size_t)s * heads, err);
    }
    if (status == PCAST_OK)
        status = run_one(attend, run, &run->kernels[0], PCAST_STAGE_QKV, result, heads, all, err);
    for (size_t h = 0; status == PCAST_OK && h < heads; h++) {
        double without[PCAST_BUDGET_STAGES];
        for (int s = 0; s < PCAST_BUDGET_STAGES; s++)
            without[s] = mse[(size_t)s * heads + h];
        budgets[h] = pcast_budget_of(all[h], without);
    }
    free(mse);
    free(all);
    return status;
}
