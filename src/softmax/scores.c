/* SPDX-License-Identifier: MIT */
/* Scores from queries and keys. */
#include "softmax/scores.h"

#include "base/bits.h"
#include "math/math.h"

#include <math.h>

void pcast_products(const pcast_engine *engine, const float *q, const float *k, size_t keys,
                    size_t dim, float *products)
{
    for (size_t j = 0; j < keys; j++)
        products[j] = engine->dot(q, k + j * dim, dim);
}

void pcast_scores(const float *products, size_t count, float scale, float softcap, float *scores)
{
    for (size_t j = 0; j < count; j++)
        scores[j] = products[j] * scale;
    pcast_soft_cap(softcap, scores, count);
}

void pcast_soft_cap(float cap, float *scores, size_t count)
{
    for (size_t i = 0; cap > 0 && i < count; i++)
        scores[i] = cap * pcast_tanh_f32(scores[i] / cap);
}

float pcast_default_softmax_scale(size_t dim)
{
    return (float)(1.0 / sqrt((double)dim));
}
