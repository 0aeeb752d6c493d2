/* SPDX-License-Identifier: MIT */
/* Scores from queries and keys. */
#include "softmax/scores.h"

#include "base/bits.h"

#include <math.h>

void pcast_scores(const pcast_engine *engine, const float *q, const float *k, size_t keys,
                  size_t dim, float softmax_scale, float *scores)
{
    for (size_t j = 0; j < keys; j++)
        scores[j] = engine->dot(q, k + j * dim, dim) * softmax_scale;
}

float pcast_default_softmax_scale(size_t dim)
{
    return (float)(1.0 / sqrt((double)dim));
}
