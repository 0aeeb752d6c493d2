/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error budget: what each stage of a kernel contributes to its squared error, found by making
 * one stage exact at a time (docs/numerics.md, step 12.6). */
#ifndef PCAST_BUDGET_H
#define PCAST_BUDGET_H

#include "pcast/attend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_budget_stage {
    PCAST_BUDGET_Q, /* quantising Q, K and V */
    PCAST_BUDGET_K,
    PCAST_BUDGET_V,
    PCAST_BUDGET_EXP_UNIT,
    PCAST_BUDGET_P_CAST,
    PCAST_BUDGET_ACCUMULATOR, /* of P.V, and of Q.K where a tensor core multiplies it */
    PCAST_BUDGET_ROW_SUM,
    PCAST_BUDGET_OUTPUT, /* rounding of the output, and the reciprocal */
    PCAST_BUDGET_STAGES,
} pcast_budget_stage;

/* "q", "k", "v", "exp_unit", "p_cast", "accumulator", "row_sum", "output". */
const char *pcast_budget_name(pcast_budget_stage stage);

/* Mean squared errors. */
typedef struct pcast_budget {
    double all;                         /* with every stage as the kernel has it */
    double stages[PCAST_BUDGET_STAGES]; /* what a stage adds: the error with it less that without;
                                           NaN for one that was not asked for */
    double remainder;                   /* all less the stages */
} pcast_budget;

/* The kernel with a stage exact. Q and K are not the kernel's to make exact: their kernel is that
 * of an exact accumulator, to be run on a Q or K that is not quantised. */
pcast_kernel pcast_budget_kernel(const pcast_kernel *kernel, pcast_budget_stage stage);

/* Is the stage compared with the kernel of an exact accumulator, rather than with the kernel as it
 * is? A tensor core multiplies nothing that is not quantised. */
int pcast_budget_beside_accumulator(pcast_budget_stage stage);

/* From mean squared errors: `all`, and `without` each stage; without[PCAST_BUDGET_ACCUMULATOR] is
 * always needed, NaN elsewhere leaves the stage out. */
pcast_budget pcast_budget_of(double all, const double without[PCAST_BUDGET_STAGES]);

/* Fills budgets[batch * heads] for the stages in the set (1 << stage), Q, K and V being quantised
 * as the kernel says. Result is working memory of the size pcast_attend_run wants, and holds the
 * run with every stage afterwards. Failures as pcast_attend_run. */
pcast_status pcast_attend_budget(const pcast_attend *attend, const pcast_run *run, unsigned stages,
                                 const pcast_attend_result *result, pcast_budget *budgets,
                                 pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
