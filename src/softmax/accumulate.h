/* SPDX-License-Identifier: MIT */
/* O = alpha*O + P.V under each accumulator (docs/numerics.md, step 4.6). */
#ifndef PCAST_SOFTMAX_ACCUMULATE_H
#define PCAST_SOFTMAX_ACCUMULATE_H

#include "softmax/row.h"

/* p[count], values[count][dim]; o_tile is working memory of [dim]. */
void pcast_accumulate(pcast_row *row, float alpha, const float *p, const float *values,
                      size_t count, float *o_tile);

#endif
