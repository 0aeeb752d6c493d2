/* SPDX-License-Identifier: MIT */
/* A probe's problem from the files that a manifest names. */
#include "golden/manifest.h"

#include "base/error.h"
#include "pcast/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct loader {
    const char *folder;
    const pcast_manifest_probe *probe;
    pcast_error *err;
    char *path; /* of the file that is read */
} loader;

static pcast_status open_path(loader *self, pcast_input input)
{
    const char *name = self->probe->inputs[input];
    const size_t size = strlen(self->folder) + strlen(name) + 2;
    free(self->path);
    self->path = malloc(size);
    if (self->path == NULL)
        return pcast_fail(self->err, PCAST_ERR_MEMORY, "%s: out of memory", name);
    snprintf(self->path, size, "%s/%s", self->folder, name);
    return PCAST_OK;
}

/* "[1, 2, 4]" */
static void shape_text(size_t rank, const size_t *shape, char text[256])
{
    int length = sprintf(text, "[");
    for (size_t i = 0; i < rank; i++)
        length += sprintf(text + length, "%s%zu", i > 0 ? ", " : "", shape[i]);
    sprintf(text + length, "]");
}

/* The numbers of a tensor of that shape; *data is the caller's. */
static pcast_status load(loader *self, pcast_input input, size_t rank, const size_t *shape,
                         float **data)
{
    pcast_tensor tensor;
    pcast_status status = open_path(self, input);
    if (status == PCAST_OK)
        status =
            pcast_tensor_read(self->path, pcast_input_name(input), PCAST_E4M3, &tensor, self->err);
    if (status != PCAST_OK)
        return status;
    const size_t count = pcast_tensor_size(&tensor);
    char own[256], wanted[256];
    shape_text(tensor.rank, tensor.shape, own);
    shape_text(rank, shape, wanted);
    if (tensor.rank != rank || memcmp(tensor.shape, shape, rank * sizeof *shape) != 0)
        status = pcast_fail(self->err, PCAST_ERR_INPUT, "%s: shape %s, but probe '%s' has %s %s",
                            self->path, own, self->probe->id, pcast_input_name(input), wanted);
    else if ((*data = calloc(count > 0 ? count : 1, sizeof **data)) == NULL)
        status = pcast_fail(self->err, PCAST_ERR_MEMORY, "%s: out of memory", self->path);
    else
        pcast_tensor_get(&tensor, 0, count, *data);
    pcast_tensor_free(&tensor);
    return status;
}

static int is_e4m3(float x)
{
    const pcast_cast cast = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    return pcast_decode_f32(PCAST_E4M3, pcast_encode_f32(PCAST_E4M3, x, cast)) == x;
}

/* Every number of [batch][heads][tokens][dim] is E4M3's, or NaN beyond a sequence's length. */
static pcast_status check_codes(const loader *self, const float *data, size_t heads, size_t tokens,
                                const size_t *lengths)
{
    const size_t dim = self->probe->dim;
    for (size_t b = 0, i = 0; b < self->probe->batch; b++)
        for (size_t row = 0; row < heads * tokens; row++)
            for (size_t c = 0; c < dim; c++, i++) {
                const size_t token = row % tokens;
                const int beyond = lengths != NULL && token >= lengths[b];
                if (!is_e4m3(data[i]) && !(beyond && isnan(data[i])))
                    return pcast_fail(self->err, PCAST_ERR_INPUT,
                                      "%s: sequence %zu, head %zu, token %zu, channel %zu: %g is "
                                      "no number of E4M3",
                                      self->path, b, row / tokens, token, c, (double)data[i]);
            }
    return PCAST_OK;
}

static pcast_status load_heads(loader *self, pcast_input input, size_t heads, size_t tokens,
                               const size_t *lengths, float **data)
{
    const size_t shape[] = {self->probe->batch, heads, tokens, self->probe->dim};
    const pcast_status status = load(self, input, 4, shape, data);
    return status == PCAST_OK ? check_codes(self, *data, heads, tokens, lengths) : status;
}

/* A number for each of `count` heads, where the probe has them: finite, and positive. */
static pcast_status load_scalars(loader *self, pcast_input input, size_t count, int positive,
                                 float **data)
{
    if (self->probe->inputs[input] == NULL)
        return PCAST_OK;
    const pcast_status status = load(self, input, 1, &count, data);
    for (size_t i = 0; status == PCAST_OK && i < count; i++)
        if (!isfinite((*data)[i]) || (positive && !((*data)[i] > 0)))
            return pcast_fail(self->err, PCAST_ERR_INPUT, "%s: number %zu, %g, is not %sfinite",
                              self->path, i, (double)(*data)[i], positive ? "positive and " : "");
    return status;
}

static pcast_status load_lengths(loader *self, size_t **lengths)
{
    const pcast_manifest_probe *probe = self->probe;
    size_t count;
    if (probe->inputs[PCAST_INPUT_KV_LENGTHS] == NULL)
        return PCAST_OK;
    pcast_status status = open_path(self, PCAST_INPUT_KV_LENGTHS);
    if (status == PCAST_OK)
        status = pcast_counts_read(self->path, lengths, &count, self->err);
    if (status == PCAST_OK && count != probe->batch)
        status = pcast_fail(self->err, PCAST_ERR_INPUT, "%s: %zu lengths for a batch of %zu",
                            self->path, count, probe->batch);
    for (size_t b = 0; status == PCAST_OK && b < count; b++)
        if ((*lengths)[b] > probe->keys)
            return pcast_fail(self->err, PCAST_ERR_INPUT,
                              "%s: number %zu, %zu, is more than the %zu keys", self->path, b,
                              (*lengths)[b], probe->keys);
    return status;
}

pcast_status pcast_manifest_load_problem(const char *folder, const pcast_manifest_probe *probe,
                                         pcast_problem *problem, pcast_error *err)
{
    loader self = {.folder = folder, .probe = probe, .err = err};
    const size_t heads = probe->heads, kv_heads = probe->kv_heads, keys = probe->keys;
    *problem = (pcast_problem){.batch = probe->batch,
                               .heads = heads,
                               .kv_heads = kv_heads,
                               .queries = probe->queries,
                               .keys = keys,
                               .allocated_keys = probe->allocated_keys,
                               .dim = probe->dim,
                               .softmax_scale = probe->softmax_scale,
                               .mask = probe->mask,
                               .window_left = probe->window_left,
                               .window_right = probe->window_right};
    pcast_status status = load_lengths(&self, &problem->kv_lengths);
    if (status == PCAST_OK)
        status = load_heads(&self, PCAST_INPUT_Q, heads, probe->queries, NULL, &problem->q);
    if (status == PCAST_OK)
        status = load_heads(&self, PCAST_INPUT_K, kv_heads, keys, problem->kv_lengths, &problem->k);
    if (status == PCAST_OK)
        status = load_heads(&self, PCAST_INPUT_V, kv_heads, keys, problem->kv_lengths, &problem->v);
    if (status == PCAST_OK)
        status = load_scalars(&self, PCAST_INPUT_Q_DESCALE, kv_heads, 1, &problem->q_descale);
    if (status == PCAST_OK)
        status = load_scalars(&self, PCAST_INPUT_K_DESCALE, kv_heads, 1, &problem->k_descale);
    if (status == PCAST_OK)
        status = load_scalars(&self, PCAST_INPUT_V_DESCALE, kv_heads, 1, &problem->v_descale);
    if (status == PCAST_OK)
        status = load_scalars(&self, PCAST_INPUT_SINK, heads, 0, &problem->sink);
    free(self.path);
    return status;
}
