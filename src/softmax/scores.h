/* SPDX-License-Identifier: MIT */
/* Scores of one query against keys (docs/numerics.md, steps 1.1 and 1.2). */
#ifndef PCAST_SOFTMAX_SCORES_H
#define PCAST_SOFTMAX_SCORES_H

#include "softmax/engine.h"

/* products[j] = dot(q, k_j), j < keys; q [dim], k [keys][dim]. */
void pcast_products(const pcast_engine *engine, const float *q, const float *k, size_t keys,
                    size_t dim, float *products);

/* z = RN(product * scale), soft-capped: the scores of the exact reference. */
void pcast_scores(const float *products, size_t count, float scale, float softcap, float *scores);

/* z = RN(cap * tanh(RN(z / cap))) in place; cap 0 leaves scores as they are. */
void pcast_soft_cap(float cap, float *scores, size_t count);

/* RN(1 / sqrt(dim)): both operations in binary64, then one rounding to binary32. */
float pcast_default_softmax_scale(size_t dim);

#endif
