/* SPDX-License-Identifier: MIT */
/* From accumulators and row sums to the output and its log-sum-exp (docs/numerics.md, steps 4.7 to
 * 4.10). */
#ifndef PCAST_SOFTMAX_EPILOGUE_H
#define PCAST_SOFTMAX_EPILOGUE_H

#include "softmax/row.h"

/* out[dim] = o / l with S and the descale of V taken care of; out may be o. */
void pcast_normalise_output(const pcast_plan *plan, const float *o, float l, float *out,
                            size_t dim);

/* Weighs the finished splits by their log-sum-exp: output into row->o, weights into row->splits;
 * returns the log-sum-exp of all. */
float pcast_merge_splits(pcast_row *row);

/* Rounds values[count] to a format of results. */
void pcast_round_output(pcast_output format, float *values, size_t count);

#endif
