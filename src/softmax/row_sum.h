/* SPDX-License-Identifier: MIT */
/* The row sum, in the order in which the kernel's threads add (docs/numerics.md, steps 4.4 and
 * 12.3). */
#ifndef PCAST_SOFTMAX_ROW_SUM_H
#define PCAST_SOFTMAX_ROW_SUM_H

#include "softmax/row.h"

/* Before the first block of a split: initial_sum, or S_in where a sink is the first maximum. */
void pcast_row_sum_start(pcast_row *row, int sink_first);

/* What a row of the same sum has after the block. */
void pcast_row_sum_copy(pcast_row *row, const pcast_row *from);

/* One block: row->l times alpha plus x[0] + ... + x[count - 1], x[i] being column i of the block.
 */
void pcast_row_sum_add(pcast_row *row, float alpha, const float *x, size_t count);

#endif
