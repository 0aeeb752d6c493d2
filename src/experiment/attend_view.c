/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of tensors, and the checks of a batch of heads. */
#include "experiment/attend_view.h"

#include "base/bits.h"
#include "base/error.h"
#include "softmax/walk.h"

#include <math.h>

pcast_status pcast_view_of(const pcast_attend *attend, const pcast_tensor *tensor, const char *name,
                           pcast_view *view, pcast_error *err)
{
    const int packed = attend->q_starts != NULL;
    const size_t rank = tensor->rank, *shape = tensor->shape;
    const int token_major = packed || attend->layout == PCAST_LAYOUT_BTHD;
    if (packed && rank != 3)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: rank %zu, packed sequences are [tokens, heads, dim]", name, rank);
    if (rank < 2 || rank > 4)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: rank %zu, expected [batch, heads, tokens, dim] or fewer of them",
                          name, rank);
    if (pcast_tensor_size(tensor) == 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: holds no element", name);
    *view = (pcast_view){.batch = 1, .heads = 1, .dim = shape[rank - 1]};
    if (rank == 4)
        view->batch = shape[0];
    const size_t outer = rank > 2 ? shape[rank - 3] : 1, inner = shape[rank - 2];
    view->heads = rank == 2 ? 1 : token_major ? inner : outer;
    view->tokens = rank > 2 && token_major ? outer : inner;
    view->token_stride = token_major ? view->heads * view->dim : view->dim;
    view->head_stride = token_major ? view->dim : view->tokens * view->dim;
    view->batch_stride = view->heads * view->tokens * view->dim;
    return PCAST_OK;
}

pcast_sequence pcast_sequence_of(const pcast_view *view, const size_t *starts, size_t batch)
{
    if (starts != NULL)
        return (pcast_sequence){starts[batch], starts[batch + 1] - starts[batch]};
    return (pcast_sequence){0, view->tokens};
}

size_t pcast_view_offset(const pcast_view *view, const size_t *starts, size_t batch, size_t head,
                         size_t token)
{
    const size_t base = starts != NULL ? 0 : batch * view->batch_stride;
    return base + head * view->head_stride + token * view->token_stride;
}

size_t pcast_token_index(const pcast_view *view, const size_t *starts, size_t batch, size_t token)
{
    return starts != NULL ? starts[batch] + token : batch * view->tokens + token;
}

void pcast_view_get(const pcast_view *view, const pcast_tensor *tensor, const size_t *starts,
                    size_t batch, size_t head, size_t first, size_t count, float *to)
{
    const size_t at = pcast_view_offset(view, starts, batch, head,
                                        pcast_sequence_of(view, starts, batch).first + first);
    if (view->token_stride == view->dim) {
        pcast_tensor_get(tensor, at, count * view->dim, to);
        return;
    }
    for (size_t t = 0; t < count; t++)
        pcast_tensor_get(tensor, at + t * view->token_stride, view->dim, to + t * view->dim);
}

static float number_at(const pcast_tensor *tensor, size_t index)
{
    float number;
    pcast_tensor_get(tensor, index, 1, &number);
    return number;
}

float pcast_head_scalar(const pcast_tensor *tensor, size_t heads, size_t batch, size_t head,
                        size_t kv_head, size_t kv_heads)
{
    if (tensor == NULL)
        return 1.0f;
    const size_t rank = tensor->rank, last = rank > 0 ? tensor->shape[rank - 1] : 1;
    const size_t own = last == heads && last != kv_heads ? head : last == 1 ? 0 : kv_head;
    const size_t sequence = rank == 2 && tensor->shape[0] > 1 ? batch : 0;
    return number_at(tensor, sequence * last + own);
}

int pcast_input_given(const pcast_attend *attend, int which)
{
    const pcast_tensor *const tensors[] = {attend->q, attend->k, attend->v};
    const pcast_tensor *const descales[] = {attend->q_descale, attend->k_descale,
                                            attend->v_descale};
    return descales[which] != NULL || pcast_format_width(tensors[which]->format) == 8;
}

/* Starts of packed sequences: from 0 to the number of tokens, never falling. */
static pcast_status check_starts(const char *name, const size_t *starts, size_t sequences,
                                 size_t tokens, pcast_error *err)
{
    if (starts[0] != 0 || starts[sequences] != tokens)
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "cumulative lengths of %s: from %zu to %zu, expected from 0 to its %zu "
                          "tokens",
                          name, starts[0], starts[sequences], tokens);
    for (size_t b = 0; b < sequences; b++)
        if (starts[b] > starts[b + 1])
            return pcast_fail(err, PCAST_ERR_INPUT,
                              "cumulative lengths of %s: fall from %zu to %zu", name, starts[b],
                              starts[b + 1]);
    return PCAST_OK;
}

static pcast_status check_shapes(const pcast_view *q, const pcast_view *k, const pcast_view *v,
                                 pcast_error *err)
{
    if (k->dim != q->dim)
        return pcast_fail(err, PCAST_ERR_INPUT, "k: %zu channels, but q has %zu", k->dim, q->dim);
    if (k->batch != q->batch || v->batch != q->batch)
        return pcast_fail(err, PCAST_ERR_INPUT, "%s: batch of %zu, but q has %zu",
                          k->batch != q->batch ? "k" : "v",
                          k->batch != q->batch ? k->batch : v->batch, q->batch);
    if (q->heads % k->heads != 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "k: %zu heads do not divide the %zu heads of q",
                          k->heads, q->heads);
    if (v->heads != k->heads || v->tokens != k->tokens)
        return pcast_fail(err, PCAST_ERR_INPUT, "v: %zu heads of %zu tokens, but k has %zu of %zu",
                          v->heads, v->tokens, k->heads, k->tokens);
    return PCAST_OK;
}

/* A descale: one number, or by head with or without the batch before it; `heads` also allowed where
 * the tensor belongs to Q. */
static pcast_status check_scalar(const char *name, const pcast_tensor *tensor, size_t batch,
                                 size_t heads, size_t kv_heads, pcast_error *err)
{
    if (tensor == NULL)
        return PCAST_OK;
    const size_t rank = tensor->rank, last = rank > 0 ? tensor->shape[rank - 1] : 1;
    const size_t first = rank == 2 ? tensor->shape[0] : 1;
    if (rank > 2 || (last != 1 && last != heads && last != kv_heads) ||
        (first != 1 && first != batch))
        return pcast_fail(err, PCAST_ERR_INPUT,
                          "%s: shape does not fit a batch of %zu with %zu heads", name, batch,
                          heads > kv_heads ? heads : kv_heads);
    for (size_t i = 0; i < pcast_tensor_size(tensor); i++)
        if (!isfinite(number_at(tensor, i)))
            return pcast_fail(err, PCAST_ERR_INPUT, "%s: number %zu is not finite", name, i);
    return PCAST_OK;
}

static pcast_status check_scalars(const pcast_attend *attend, const pcast_attend_shape *shape,
                                  pcast_error *err)
{
    const size_t batch = shape->batch, heads = shape->heads, kv_heads = shape->kv_heads;
    pcast_status status = check_scalar("q descale", attend->q_descale, batch, heads, kv_heads, err);
    if (status == PCAST_OK)
        status = check_scalar("k descale", attend->k_descale, batch, kv_heads, kv_heads, err);
    if (status == PCAST_OK)
        status = check_scalar("v descale", attend->v_descale, batch, kv_heads, kv_heads, err);
    if (status == PCAST_OK)
        status = check_scalar("learned sink", attend->learned_sink, 1, heads, heads, err);
    return status;
}

/* Keys of every sequence, into shape->max_keys. */
static pcast_status check_lengths(const pcast_attend *attend, const pcast_view *k,
                                  pcast_attend_shape *shape, pcast_error *err)
{
    for (size_t b = 0; b < shape->batch; b++) {
        const size_t held = pcast_sequence_of(k, attend->k_starts, b).count;
        const size_t keys = attend->kv_lengths != NULL ? attend->kv_lengths[b] : held;
        if (keys > held)
            return pcast_fail(err, PCAST_ERR_INPUT,
                              "KV lengths: %zu keys in sequence %zu, but k holds %zu", keys, b,
                              held);
        shape->max_keys = keys > shape->max_keys ? keys : shape->max_keys;
    }
    return PCAST_OK;
}

/* K less its mean shifts every score of a query by the same number, which only a softmax of the
 * scores themselves does not see. */
static pcast_status check_mean(const pcast_attend *attend, const pcast_kernel *kernel,
                               pcast_error *err)
{
    if (!attend->prepare || !kernel->k_mean || pcast_input_given(attend, 1))
        return PCAST_OK;
    if (kernel->softcap > 0)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "k_mean: with softcap: the tanh of scores less their mean is not that of "
                          "the scores");
    if (kernel->sink_given || attend->learned_sink != NULL)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "k_mean: with a learned sink: scores lose their mean, the sink's logit "
                          "does not");
    return PCAST_OK;
}

pcast_status pcast_attend_check(const pcast_attend *attend, const pcast_kernel *kernel,
                                pcast_attend_shape *shape, pcast_error *err)
{
    pcast_view q, k, v;
    pcast_status status = pcast_kernel_validate(kernel, err);
    if (status == PCAST_OK)
        status = pcast_view_of(attend, attend->q, "q", &q, err);
    if (status == PCAST_OK)
        status = pcast_view_of(attend, attend->k, "k", &k, err);
    if (status == PCAST_OK)
        status = pcast_view_of(attend, attend->v, "v", &v, err);
    if (status == PCAST_OK)
        status = check_shapes(&q, &k, &v, err);
    if (status != PCAST_OK)
        return status;
    const int packed = attend->q_starts != NULL;
    if (packed) {
        status = check_starts("q", attend->q_starts, attend->sequences, q.tokens, err);
        if (status == PCAST_OK)
            status = check_starts("k", attend->k_starts, attend->sequences, k.tokens, err);
    }
    *shape = (pcast_attend_shape){
        .batch = packed ? attend->sequences : q.batch,
        .heads = q.heads,
        .kv_heads = k.heads,
        .dim = q.dim,
        .value_dim = v.dim,
        .rows = packed ? q.tokens : q.batch * q.tokens,
        .queries = packed ? 0 : q.tokens,
    };
    if (status == PCAST_OK)
        status = check_scalars(attend, shape, err);
    if (status == PCAST_OK)
        status = check_lengths(attend, &k, shape, err);
    if (status == PCAST_OK && (!(attend->softmax_scale >= 0) || isinf(attend->softmax_scale)))
        status = pcast_fail(err, PCAST_ERR_VALUE, "softmax scale: %g is not positive and finite",
                            (double)attend->softmax_scale);
    if (status == PCAST_OK)
        status = check_mean(attend, kernel, err);
    pcast_kernel resolved = *kernel;
    pcast_kernel_resolve(&resolved, shape->dim);
    shape->blocks = (shape->max_keys + resolved.block - 1) / resolved.block;
    return status;
}
