/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantising a batch: one tensor at a time, group by group. */
#include "experiment/prepare.h"

#include "base/bits.h"
#include "base/error.h"
#include "pcast/quantize.h"

#include <stdlib.h>

/* One tensor on its way. */
typedef struct job {
    const pcast_attend *attend;
    const pcast_view *view;
    const size_t *starts;
    const size_t *lengths; /* valid tokens, or NULL */
    size_t batch;          /* sequences */
    float *data;
    float *descale;
    float *channel; /* by channel instead, or NULL */
    pcast_granularity granularity;
    size_t group;      /* heads of Q for one of K and V */
    size_t block_rows; /* tokens of a block */
    pcast_quantized format;
    float range;
} job;

size_t pcast_token_index(const pcast_view *view, const size_t *starts, size_t batch, size_t token)
{
    return starts != NULL ? starts[batch] + token : batch * view->tokens + token;
}

static size_t valid_tokens(const job *self, size_t batch)
{
    return self->lengths != NULL ? self->lengths[batch]
                                 : pcast_sequence_of(self->view, self->starts, batch).count;
}

static float *token_at(const job *self, size_t batch, size_t head, size_t token)
{
    const size_t first = pcast_sequence_of(self->view, self->starts, batch).first;
    return self->data + pcast_view_offset(self->view, self->starts, batch, head, first + token);
}

static float head_amax(const job *self, size_t batch, size_t head, size_t first, size_t count)
{
    if (count == 0)
        return 0;
    return pcast_amax(token_at(self, batch, head, first), count, self->view->dim,
                      self->view->token_stride);
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* Quantises tokens first .. first + count - 1 of a head with one descale. */
static void quantise_tokens(const job *self, size_t batch, size_t head, size_t first, size_t count,
                            float amax)
{
    const float descale = pcast_descale(amax, self->range);
    for (size_t t = first; t < first + count; t++) {
        const size_t index = pcast_token_index(self->view, self->starts, batch, t);
        self->descale[index * self->view->heads + head] = descale;
        pcast_quantize(self->format, descale, token_at(self, batch, head, t), self->view->dim);
    }
}

/* One channel of a head's tokens. */
static void quantise_column(const job *self, float descale, float *first, size_t tokens)
{
    enum { PIECE = 256 };
    const size_t stride = self->view->token_stride;
    float column[PIECE];
    for (size_t done = 0; done < tokens; done += PIECE) {
        const size_t here = tokens - done < PIECE ? tokens - done : PIECE;
        float *piece = first + done * stride;
        for (size_t t = 0; t < here; t++)
            column[t] = piece[t * stride];
        pcast_quantize(self->format, descale, column, here);
        for (size_t t = 0; t < here; t++)
            piece[t * stride] = column[t];
    }
}

static void quantise_channels(const job *self, size_t batch, size_t head)
{
    const size_t dim = self->view->dim, tokens = valid_tokens(self, batch);
    for (size_t c = 0; c < dim; c++) {
        float *first = token_at(self, batch, head, 0) + c;
        const float amax =
            tokens > 0 ? pcast_amax(first, tokens, 1, self->view->token_stride) : 0.0f;
        const float descale = pcast_descale(amax, self->range);
        self->channel[(batch * self->view->heads + head) * dim + c] = descale;
        quantise_column(self, descale, first, tokens);
    }
}

static float tensor_amax(const job *self)
{
    float amax = 0;
    for (size_t b = 0; b < self->batch; b++)
        for (size_t h = 0; h < self->view->heads; h++)
            amax = larger(amax, head_amax(self, b, h, 0, valid_tokens(self, b)));
    return amax;
}

static float group_amax(const job *self, size_t batch, size_t head)
{
    const size_t first = head / self->group * self->group;
    float amax = 0;
    for (size_t h = first; h < first + self->group; h++)
        amax = larger(amax, head_amax(self, batch, h, 0, valid_tokens(self, batch)));
    return amax;
}

/* The amax of each head's group, before any head of the group is changed. */
static void quantise_heads(const job *self, float *amax)
{
    const size_t heads = self->view->heads;
    const float of_all = self->granularity == PCAST_SCALE_TENSOR ? tensor_amax(self) : 0;
    for (size_t i = 0; i < self->batch * heads; i++) {
        amax[i] = of_all;
        if (self->granularity == PCAST_SCALE_KV_HEAD)
            amax[i] = group_amax(self, i / heads, i % heads);
        else if (self->granularity == PCAST_SCALE_HEAD)
            amax[i] = head_amax(self, i / heads, i % heads, 0, valid_tokens(self, i / heads));
    }
    for (size_t i = 0; i < self->batch * heads; i++) {
        const size_t batch = i / heads, valid = valid_tokens(self, batch);
        const size_t all = pcast_sequence_of(self->view, self->starts, batch).count;
        quantise_tokens(self, batch, i % heads, 0, valid, amax[i]);
        for (size_t t = valid; t < all; t++) /* the head's descale, also of one without tokens */
            self->descale[pcast_token_index(self->view, self->starts, batch, t) * heads +
                          i % heads] = pcast_descale(amax[i], self->range);
    }
}

static void quantise_rows(const job *self, size_t batch, size_t head)
{
    const size_t tokens = valid_tokens(self, batch);
    const size_t rows = self->granularity == PCAST_SCALE_TOKEN ? 1 : self->block_rows;
    for (size_t first = 0; first < tokens; first += rows) {
        const size_t count = tokens - first < rows ? tokens - first : rows;
        quantise_tokens(self, batch, head, first, count,
                        head_amax(self, batch, head, first, count));
    }
}

static pcast_status quantise(job *self, pcast_error *err)
{
    const size_t heads = self->batch * self->view->heads;
    if (self->granularity == PCAST_SCALE_CHANNEL || self->granularity == PCAST_SCALE_BLOCK ||
        self->granularity == PCAST_SCALE_TOKEN) {
        for (size_t i = 0; i < heads; i++)
            if (self->granularity == PCAST_SCALE_CHANNEL)
                quantise_channels(self, i / self->view->heads, i % self->view->heads);
            else
                quantise_rows(self, i / self->view->heads, i % self->view->heads);
        return PCAST_OK;
    }
    float *amax = malloc(heads * sizeof *amax);
    if (amax == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu heads", heads);
    quantise_heads(self, amax);
    free(amax);
    return PCAST_OK;
}

/* Calls `change` on the tokens of every head, copied next to each other. */
typedef pcast_status head_change(float *x, size_t rows, size_t dim, void *context,
                                 size_t head_index, pcast_error *err);

static pcast_status change_heads(const job *self, head_change *change, void *context,
                                 pcast_error *err)
{
    const size_t dim = self->view->dim, heads = self->view->heads;
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < self->batch * heads; i++) {
        const size_t tokens = valid_tokens(self, i / heads);
        float *x = malloc((tokens > 0 ? tokens : 1) * dim * sizeof *x);
        if (x == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu tokens", tokens);
        for (size_t t = 0; t < tokens; t++)
            memcpy(x + t * dim, token_at(self, i / heads, i % heads, t), dim * sizeof *x);
        status = change(x, tokens, dim, context, i, err);
        for (size_t t = 0; status == PCAST_OK && t < tokens; t++)
            memcpy(token_at(self, i / heads, i % heads, t), x + t * dim, dim * sizeof *x);
        free(x);
    }
    return status;
}

static pcast_status subtract_mean(float *x, size_t rows, size_t dim, void *context,
                                  size_t head_index, pcast_error *err)
{
    (void)err;
    pcast_subtract_mean(x, rows, dim, (float *)context + head_index * dim);
    return PCAST_OK;
}

enum { ROTATION_SEED = 1 };

static pcast_status rotate(float *x, size_t rows, size_t dim, void *context, size_t head_index,
                           pcast_error *err)
{
    (void)context;
    (void)head_index;
    return pcast_rotate(x, rows, dim, ROTATION_SEED, err);
}

/* Format and range of Q and K, or of V. */
static int format_of(const pcast_kernel *kernel, int values, pcast_quantized *format, float *range)
{
    switch (kernel->qkv) {
    case PCAST_QKV_F32:
    case PCAST_QKV_BF16:
    case PCAST_QKV_F16:
        return 0;
    case PCAST_QKV_E4M3:
        *format = PCAST_QUANTIZED_E4M3;
        break;
    case PCAST_QKV_E5M2:
        *format = PCAST_QUANTIZED_E5M2;
        break;
    case PCAST_QKV_E4M3FNUZ:
        *format = PCAST_QUANTIZED_E4M3FNUZ;
        break;
    case PCAST_QKV_E5M2FNUZ:
        *format = PCAST_QUANTIZED_E5M2FNUZ;
        break;
    case PCAST_QKV_INT8:
        *format = values ? PCAST_QUANTIZED_E4M3 : PCAST_QUANTIZED_INT8;
        break;
    }
    *range = pcast_quantized_range(*format);
    if (values && kernel->v_range > 0)
        *range = kernel->v_range;
    return 1;
}

static float *copy_of(const pcast_tensor *tensor)
{
    const size_t size = pcast_tensor_size(tensor);
    float *copy = malloc(size * sizeof *copy);
    if (copy != NULL)
        memcpy(copy, tensor->data, size * sizeof *copy);
    return copy;
}

typedef struct preparation {
    const pcast_attend *attend;
    pcast_kernel kernel; /* resolved */
    pcast_attend_shape shape;
    pcast_view q, k, v;
    pcast_prepared *out;
} preparation;

static pcast_status prepare_one(const preparation *self, int which, pcast_error *err)
{
    const pcast_attend *attend = self->attend;
    const pcast_tensor *const tensors[] = {attend->q, attend->k, attend->v};
    const pcast_view *const views[] = {&self->q, &self->k, &self->v};
    pcast_quantised *const outs[] = {&self->out->q, &self->out->k, &self->out->v};
    const pcast_granularity granularity[] = {self->kernel.q_scale, self->kernel.k_scale,
                                             self->kernel.v_scale};
    const size_t rows = self->kernel.scale_rows > 0    ? self->kernel.scale_rows
                        : self->kernel.query_block > 0 ? self->kernel.query_block
                                                       : 1;
    job work = {.attend = attend,
                .view = views[which],
                .starts = which == 0 ? attend->q_starts : attend->k_starts,
                .lengths = which == 0 ? NULL : attend->kv_lengths,
                .batch = self->shape.batch,
                .granularity = granularity[which],
                .group = which == 0 ? self->shape.heads / self->shape.kv_heads : 1,
                .block_rows = which == 0 ? rows : self->kernel.block};
    pcast_status status = PCAST_OK;
    work.data = outs[which]->data = copy_of(tensors[which]);
    if (work.data == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for a copy of the inputs");
    if (which == 1 && self->kernel.k_mean && !pcast_input_given(attend, 1)) {
        self->out->k_mean =
            calloc(work.batch * work.view->heads, work.view->dim * sizeof *work.data);
        if (self->out->k_mean == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for means");
        status = change_heads(&work, subtract_mean, self->out->k_mean, err);
    }
    if (status == PCAST_OK && which < 2 && self->kernel.rotation && !pcast_input_given(attend, 0) &&
        !pcast_input_given(attend, 1))
        status = change_heads(&work, rotate, NULL, err);
    if (status != PCAST_OK || ((attend->quantised >> which) & 1) == 0 ||
        pcast_input_given(attend, which) ||
        !format_of(&self->kernel, which == 2, &work.format, &work.range))
        return status;
    const size_t tokens =
        attend->q_starts != NULL ? work.view->tokens : work.view->batch * work.view->tokens;
    if (work.granularity == PCAST_SCALE_CHANNEL)
        work.channel = self->out->v_channel =
            calloc(work.batch * work.view->heads, work.view->dim * sizeof *work.channel);
    else
        work.descale = outs[which]->descale =
            calloc(tokens, work.view->heads * sizeof *work.descale);
    if (work.channel == NULL && work.descale == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for scales");
    return quantise(&work, err);
}

pcast_status pcast_prepare(const pcast_attend *attend, const pcast_kernel *kernel,
                           pcast_prepared *prepared, pcast_error *err)
{
    preparation self = {.attend = attend, .kernel = *kernel, .out = prepared};
    *prepared = (pcast_prepared){0};
    pcast_status status = pcast_attend_check(attend, kernel, &self.shape, err);
    if (status != PCAST_OK)
        return status;
    pcast_kernel_resolve(&self.kernel, self.shape.dim);
    pcast_view_of(attend, attend->q, "q", &self.q, NULL);
    pcast_view_of(attend, attend->k, "k", &self.k, NULL);
    pcast_view_of(attend, attend->v, "v", &self.v, NULL);
    for (int which = 0; status == PCAST_OK && which < 3; which++)
        status = prepare_one(&self, which, err);
    if (status != PCAST_OK)
        pcast_prepared_free(prepared);
    return status;
}

void pcast_prepared_free(pcast_prepared *prepared)
{
    pcast_quantised *const all[] = {&prepared->q, &prepared->k, &prepared->v};
    for (int i = 0; i < 3; i++) {
        free(all[i]->data);
        free(all[i]->descale);
    }
    free(prepared->v_channel);
    free(prepared->k_mean);
    *prepared = (pcast_prepared){0};
}
