/* SPDX-License-Identifier: MIT */
/* O = alpha*O + P.V under each accumulator (docs/numerics.md, steps 4.6 and 12.4). */
#ifndef PCAST_SOFTMAX_ACCUMULATE_H
#define PCAST_SOFTMAX_ACCUMULATE_H

#include "softmax/row.h"

/* P is the cast in scratch, [count]; V [count][dim]. */
void pcast_accumulate(pcast_row *row, float alpha, pcast_values values, size_t count,
                      pcast_row_scratch *scratch);

#endif
