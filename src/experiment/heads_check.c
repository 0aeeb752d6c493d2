/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run over heads refuses, and how it says so. */
#include "experiment/heads_check.h"
#include "experiment/heads_view.h"

#include "base/bits.h"
#include "base/error.h"

#include <math.h>

static pcast_status check_finite(const char *name, const char *last, const pcast_tensor *tensor,
                                 pcast_error *err)
{
    enum { PIECE = 1024 };
    const size_t size = pcast_tensor_size(tensor);
    float piece[PIECE];
    for (size_t i = 0; i < size; i++) {
        if (i % PIECE == 0)
            pcast_tensor_get(tensor, i, size - i < PIECE ? size - i : PIECE, piece);
        const float x = piece[i % PIECE];
        if (!isfinite(x)) {
            const size_t dim = tensor->shape[2], tokens = tensor->shape[1];
            return pcast_fail(err, PCAST_ERR_INPUT, "%s: %s at [head %zu, token %zu, %s %zu]", name,
                              isnan(x) ? "NaN" : "infinity", i / dim / tokens, i / dim % tokens,
                              last, i % dim);
        }
    }
    return PCAST_OK;
}

static pcast_status check_rank(const char *name, const pcast_tensor *tensor, pcast_error *err)
{
    if (tensor->rank != 3)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: rank %zu, expected [heads, tokens, dim]", name,
                          tensor->rank);
    if (pcast_tensor_size(tensor) == 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: shape [%zu, %zu, %zu] holds no element", name,
                          tensor->shape[0], tensor->shape[1], tensor->shape[2]);
    return PCAST_OK;
}

const char *pcast_heads_name(const pcast_heads *experiment, pcast_heads_tensor which)
{
    static const char *const plain[] = {"q", "k", "v", "scores"};
    return experiment->names[which] != NULL ? experiment->names[which] : plain[which];
}

/* Q and K: as many channels, and the heads and tokens of V for K. */
static pcast_status check_q_and_k(const pcast_heads *experiment, pcast_error *err)
{
    const size_t *q = experiment->q->shape, *k = experiment->k->shape, *v = experiment->v->shape;
    const char *k_name = pcast_heads_name(experiment, PCAST_HEADS_K);
    if (k[2] != q[2])
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu channels, but q has %zu", k_name, k[2],
                          q[2]);
    if (q[0] % k[0] != 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu heads do not divide the %zu heads of q",
                          k_name, k[0], q[0]);
    if (v[0] != k[0] || v[1] != k[1])
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu heads of %zu tokens, but k has %zu of %zu",
                          pcast_heads_name(experiment, PCAST_HEADS_V), v[0], v[1], k[0], k[1]);
    return PCAST_OK;
}

static pcast_status check_scores(const pcast_heads *experiment, pcast_error *err)
{
    const size_t *scores = experiment->scores->shape, *v = experiment->v->shape;
    const char *name = pcast_heads_name(experiment, PCAST_HEADS_V);
    if (experiment->softmax_scale != 0)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "softmax scale: scores are already multiplied by theirs");
    if (v[1] != scores[2])
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: %zu tokens, but scores have %zu keys", name,
                          v[1], scores[2]);
    if (scores[0] % v[0] != 0)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: %zu heads do not divide the %zu heads of scores", name, v[0],
                          scores[0]);
    return PCAST_OK;
}

static pcast_status check_shapes(const pcast_heads *experiment, pcast_mask mask, pcast_error *err)
{
    const int scored = experiment->scores != NULL;
    const pcast_status status =
        scored ? check_scores(experiment, err) : check_q_and_k(experiment, err);
    if (status != PCAST_OK)
        return status;
    const pcast_heads_shape shape = pcast_heads_shape_of(experiment);
    if (mask == PCAST_MASK_CAUSAL && shape.queries > shape.keys)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: %zu queries for %zu keys: causal needs as many keys",
                          pcast_heads_name(experiment, scored ? PCAST_HEADS_SCORES : PCAST_HEADS_Q),
                          shape.queries, shape.keys);
    if (shape.keys < 2)
        return pcast_fail(
            err, PCAST_ERR_INPUT, "%s: one key leaves none beside a sink",
            pcast_heads_name(experiment, scored ? PCAST_HEADS_SCORES : PCAST_HEADS_K));
    return PCAST_OK;
}

static pcast_status check_tensors(const pcast_heads *experiment, pcast_mask mask, pcast_error *err)
{
    const pcast_tensor *const tensors[] = {experiment->q, experiment->k, experiment->v,
                                           experiment->scores};
    pcast_status status = PCAST_OK;
    for (int i = 0; status == PCAST_OK && i < PCAST_HEADS_TENSORS; i++)
        if (tensors[i] != NULL)
            status =
                check_rank(pcast_heads_name(experiment, (pcast_heads_tensor)i), tensors[i], err);
    if (status == PCAST_OK)
        status = check_shapes(experiment, mask, err);
    for (int i = 0; status == PCAST_OK && i < PCAST_HEADS_TENSORS; i++)
        if (tensors[i] != NULL)
            status = check_finite(pcast_heads_name(experiment, (pcast_heads_tensor)i),
                                  i == PCAST_HEADS_SCORES ? "key" : "channel", tensors[i], err);
    return status;
}

pcast_status pcast_heads_check(const pcast_heads *experiment, const pcast_run *run,
                               pcast_error *err)
{
    for (size_t i = 0; i < run->kernel_count; i++) {
        pcast_status status = pcast_kernel_validate(&run->kernels[i], err);
        if (status == PCAST_OK)
            status = pcast_kernel_same_problem(&run->kernels[i], &run->kernels[0], err);
        if (status == PCAST_OK && run->kernels[i].semantics == PCAST_SEMANTICS_HARDWARE)
            status = pcast_fail(err, PCAST_ERR_UNAVAILABLE,
                                "semantics: hardware on tensors is what attend runs");
        if (status != PCAST_OK)
            return status;
    }
    const pcast_status status = check_tensors(experiment, run->kernels[0].mask, err);
    if (status != PCAST_OK)
        return status;
    const size_t keys = experiment->v->shape[1];
    if (experiment->sinks < 1 || experiment->sinks >= keys)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "sinks: %zu is not from 1 to %zu, the keys less one", experiment->sinks,
                          keys - 1);
    if (!(experiment->softmax_scale >= 0) || isinf(experiment->softmax_scale))
        return pcast_fail(err, PCAST_ERR_VALUE, "softmax scale: %g is not positive and finite",
                          (double)experiment->softmax_scale);
    return PCAST_OK;
}
