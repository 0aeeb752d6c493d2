/* SPDX-License-Identifier: MIT */
/* Scores of one query against keys (docs/numerics.md, steps 1.1 and 1.2). */
#ifndef PCAST_SOFTMAX_SCORES_H
#define PCAST_SOFTMAX_SCORES_H

#include "softmax/engine.h"

/* scores[j] = RN(dot(q, k_j) * softmax_scale), j < keys; q [dim], k [keys][dim]. */
void pcast_scores(const pcast_engine *engine, const float *q, const float *k, size_t keys,
                  size_t dim, float softmax_scale, float *scores);

/* RN(1 / sqrt(dim)): both operations in binary64, then one rounding to binary32. */
float pcast_default_softmax_scale(size_t dim);

#endif
