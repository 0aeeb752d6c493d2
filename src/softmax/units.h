/* SPDX-License-Identifier: MIT */
/* Exponentials, logarithms and quotients of the online softmax, as the plan's units compute them
 * (docs/numerics.md, step 12.2). */
#ifndef PCAST_SOFTMAX_UNITS_H
#define PCAST_SOFTMAX_UNITS_H

#include "base/device.h"
#include "softmax/plan.h"

/* exp and exp2 outside a block's P: factors for earlier blocks, learned sinks, weights of splits.
 */
PCAST_FUNCTION float pcast_unit_exp(const pcast_plan *plan, float x);
PCAST_FUNCTION float pcast_unit_exp2(const pcast_plan *plan, float x);

/* exp2 (exp under a natural exponent) in place, x[i] being the exponent of column i of a block. */
void pcast_unit_exponentials(const pcast_plan *plan, float *x, size_t count);

PCAST_FUNCTION float pcast_unit_log(const pcast_plan *plan, float x);
PCAST_FUNCTION float pcast_unit_log2(const pcast_plan *plan, float x);

/* 1 / x, and a / x, which is a times it where the reciprocal is approximate. */
PCAST_FUNCTION float pcast_unit_reciprocal(const pcast_plan *plan, float x);
PCAST_FUNCTION float pcast_unit_quotient(const pcast_plan *plan, float a, float x);

#endif
