/* SPDX-License-Identifier: MIT */
/* From scores to P, before and after its cast, and the factor for earlier blocks (docs/numerics.md,
 * steps 4.1 to 4.5). */
#ifndef PCAST_SOFTMAX_PROBABILITIES_H
#define PCAST_SOFTMAX_PROBABILITIES_H

#include "softmax/plan.h"

#include <stdint.h>

/* The running maximum after a block: the larger of m and the scores, or m where it lags by no more
 * than the threshold. */
float pcast_next_max(const pcast_plan *plan, float m, const float *scores, size_t count);

/* p[count] under the running maximum m. */
void pcast_exponentials(const pcast_plan *plan, float m, const float *scores, size_t count,
                        float *p);

/* scaled = p * S, its codes and their values, all [count]. */
void pcast_cast_row(const pcast_plan *plan, const float *p, size_t count, float *scaled,
                    uint32_t *codes, float *values);

#endif
