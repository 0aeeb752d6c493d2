/* SPDX-License-Identifier: MIT */
/* Heads for the attention kernel, and what its model, the preset pcast-wgmma under hardware
 * semantics, makes of them. */
#include "cuda/attention_check.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "pcast/tensor_core.h"
#include "random/draws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POISON = 0xAA, SEED = 0x61747465, SINKS = 4 };

void pcast_attention_head_free(pcast_attention_head *head)
{
    free(head->q);
    free(head->k);
    free(head->v);
    free(head->where);
    free(head->o);
    free(head->lse);
    free(head->codes);
    free(head->model_o);
    free(head->model_lse);
    free(head->model_codes);
    *head = (pcast_attention_head){0};
}

/* ---- Inputs ---- */

/* Standard deviation of an element, which gives scores theirs. */
static double deviation(pcast_attention_data data, int which)
{
    return data == PCAST_ATTENTION_WIDE && which < 2 ? 4 : which < 2 ? 1.2 : 1;
}

static void fill_codes(uint8_t *codes, size_t count, uint32_t number, uint32_t which)
{
    uint32_t word;
    for (size_t i = 0; i < count; i++) {
        pcast_draw_words((pcast_stream){SEED, number, which}, i, 1, &word);
        codes[i] = (uint8_t)(word % 0x7F | (word >> 24 & 0x80)); /* no NaN */
    }
}

static pcast_status fill_normals(uint8_t *codes, size_t count, uint32_t number, uint32_t which,
                                 double factor, pcast_error *err)
{
    double *normals = malloc((count + 1) * sizeof *normals);
    if (normals == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu numbers", count);
    pcast_draw_normals((pcast_stream){SEED, number, which}, PCAST_CPU_SCALAR, 0, count, normals);
    for (size_t i = 0; i < count; i++)
        codes[i] =
            (uint8_t)pcast_encode_f32(PCAST_E4M3, (float)(normals[i] * factor), (pcast_cast){0});
    free(normals);
    return PCAST_OK;
}

/* Keys that look like the sum of all queries, as sinks do. */
static void make_sinks(pcast_attention_head *head)
{
    const size_t dim = head->job.dim;
    for (size_t j = 0; j < SINKS && j < head->job.keys; j++)
        for (size_t c = 0; c < dim; c++)
            head->k[j * dim + c] = head->q[(j % head->job.queries) * dim + c];
}

static pcast_status draw_inputs(pcast_attention_head *head, const pcast_attention_shape *shape,
                                uint32_t number, pcast_error *err)
{
    uint8_t *const arrays[] = {head->q, head->k, head->v};
    const size_t keys = shape->keys * shape->dim;
    const size_t counts[] = {(size_t)shape->queries * shape->dim, keys, keys};
    pcast_status status = PCAST_OK;
    for (uint32_t which = 0; status == PCAST_OK && which < 3; which++)
        if (shape->data == PCAST_ATTENTION_CODES)
            fill_codes(arrays[which], counts[which], number, which);
        else
            status = fill_normals(arrays[which], counts[which], number, which,
                                  deviation(shape->data, (int)which), err);
    if (shape->data == PCAST_ATTENTION_SINKS)
        make_sinks(head);
    for (size_t i = 7; i < keys; i += 5 * keys / 12 + 1)
        if (shape->data == PCAST_ATTENTION_NANS)
            head->v[i] = 0xFF;
        else if (shape->data == PCAST_ATTENTION_LOST)
            head->k[i] = 0x7F;
    for (size_t i = 0; shape->data == PCAST_ATTENTION_EQUAL && i < counts[0]; i++)
        head->q[i] &= 0x80;
    return status;
}

/* ---- The model ---- */

/* Codes of P of the row's visits. */
typedef struct observer {
    uint8_t *codes; /* [keys] */
} observer;

static void observe(void *context, const pcast_tile *tile)
{
    const observer *seen = context;
    for (size_t i = 0; i < tile->count; i++)
        seen->codes[tile->first_key + i] = (uint8_t)tile->p8[i];
}

/* What the model reads, beside the codes. */
typedef struct model {
    pcast_row row;
    pcast_row_scratch scratch;
    uint8_t *columns;        /* [dim][keys] codes of K */
    float *products, *value; /* [keys], [keys][dim] of V */
} model;

static void model_free(model *self)
{
    pcast_row_free(&self->row);
    pcast_row_scratch_free(&self->scratch);
    free(self->columns);
    free(self->products);
    free(self->value);
}

static pcast_status model_init(model *self, const pcast_attention_head *head, pcast_error *err)
{
    const size_t keys = head->job.keys, dim = head->job.dim;
    *self = (model){0};
    pcast_status status = pcast_row_init(&self->row, &head->plan, keys, dim, err);
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&self->scratch, head->plan.kernel.block, dim, err);
    self->columns = malloc(keys * dim + 1);
    self->products = malloc((keys + 1) * sizeof *self->products);
    self->value = malloc((keys * dim + 1) * sizeof *self->value);
    if (status == PCAST_OK &&
        (self->columns == NULL || self->products == NULL || self->value == NULL))
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu keys", keys);
    for (size_t i = 0; status == PCAST_OK && i < keys * dim; i++) {
        self->columns[i % dim * keys + i / dim] = head->k[i];
        self->value[i] = head->plan.v_value[head->v[i]];
    }
    return status;
}

static pcast_status run_model(pcast_attention_head *head, pcast_error *err)
{
    const pcast_attention_job *job = &head->job;
    const size_t keys = job->keys, dim = job->dim;
    model self;
    pcast_tensor_core core = head->plan.core;
    core.a = PCAST_E4M3;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const pcast_status status = model_init(&self, head, err);
    for (size_t q = 0; status == PCAST_OK && q < job->queries; q++) {
        observer seen = {head->model_codes + q * keys};
        for (size_t j = 0; j < keys; j++)
            self.products[j] = 0;
        pcast_tensor_core_row(&core, head->q + q * dim, self.columns, dim, keys, keys,
                              self.products);
        pcast_row_run(&self.row, &job->where[q], self.products, (pcast_values){self.value, head->v},
                      observe, &seen, &self.scratch);
        memcpy(head->model_o + q * dim, self.row.o, dim * sizeof *head->model_o);
        head->model_lse[q] = self.row.lse;
    }
    model_free(&self);
    pcast_fpenv_leave(&env);
    return status;
}

/* ---- A head ---- */

static pcast_status alloc_head(pcast_attention_head *head, pcast_error *err)
{
    const size_t queries = head->job.queries, keys = head->job.keys, dim = head->job.dim;
    head->q = malloc(queries * dim);
    head->k = malloc(keys * dim);
    head->v = malloc(keys * dim);
    head->where = malloc(queries * sizeof *head->where);
    head->o = malloc(queries * dim * sizeof *head->o);
    head->lse = malloc(queries * sizeof *head->lse);
    head->codes = malloc(queries * keys);
    head->model_o = malloc(queries * dim * sizeof *head->model_o);
    head->model_lse = malloc(queries * sizeof *head->model_lse);
    head->model_codes = malloc(queries * keys);
    if (head->q == NULL || head->k == NULL || head->v == NULL || head->where == NULL ||
        head->o == NULL || head->lse == NULL || head->codes == NULL || head->model_o == NULL ||
        head->model_lse == NULL || head->model_codes == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu queries", queries);
    memset(head->o, POISON, queries * dim * sizeof *head->o);
    memset(head->lse, POISON, queries * sizeof *head->lse);
    memset(head->codes, POISON, queries * keys);
    memset(head->model_codes, POISON, queries * keys);
    return PCAST_OK;
}

static pcast_status plan_head(pcast_attention_head *head, const pcast_attention_shape *shape,
                              pcast_error *err)
{
    char spec[PCAST_SPEC_MAX];
    pcast_kernel kernel;
    const pcast_head_scales scales = {1 / sqrtf((float)shape->dim), 0.8125f, 1.25f, 0, 0};
    snprintf(spec, sizeof spec, "pcast-wgmma:semantics=hardware%s%s",
             shape->spec[0] != '\0' ? ";" : "", shape->spec);
    pcast_status status = pcast_kernel_parse(spec, &kernel, NULL, err);
    if (status != PCAST_OK)
        return status;
    kernel.mask = shape->mask;
    kernel.window_left = shape->window_left;
    kernel.window_right = shape->window_right;
    status = pcast_kernel_validate(&kernel, err);
    if (status == PCAST_OK)
        status =
            pcast_plan_init(&head->plan, &kernel, pcast_cpu_detect(), &scales, shape->dim, err);
    return status;
}

pcast_status pcast_attention_head_init(pcast_attention_head *head,
                                       const pcast_attention_shape *shape, uint32_t number,
                                       pcast_error *err)
{
    *head = (pcast_attention_head){
        .job = {.queries = shape->queries, .dim = shape->dim, .keys = shape->keys}};
    pcast_status status = plan_head(head, shape, err);
    if (status == PCAST_OK)
        status = alloc_head(head, err);
    if (status == PCAST_OK)
        status = draw_inputs(head, shape, number, err);
    if (status != PCAST_OK)
        return status;
    const pcast_kernel *kernel = &head->plan.kernel;
    for (unsigned q = 0; q < shape->queries; q++)
        head->where[q] = (pcast_row_keys){
            shape->keys, pcast_visible_keys(kernel, shape->queries, shape->keys, q),
            pcast_visited_keys(kernel, shape->queries, shape->keys, q)};
    head->job.plan = &head->plan;
    head->job.q = head->q;
    head->job.k = head->k;
    head->job.v = head->v;
    head->job.where = head->where;
    head->job.o = head->o;
    head->job.lse = head->lse;
    head->job.codes = head->codes;
    return run_model(head, err);
}

/* ---- Comparing ---- */

void pcast_attention_head_compare(const pcast_attention_head *head, const char *name,
                                  pcast_check_result *result)
{
    const size_t queries = head->job.queries, word = sizeof(float);
    const pcast_check_numbers all[] = {
        {name, "cast P", head->codes, head->model_codes, queries * head->job.keys, 1, 0},
        {name, "O", head->o, head->model_o, queries * head->job.dim, word, 0},
        {name, "log-sum-exp", head->lse, head->model_lse, queries, word, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        pcast_check_compare(result, all[i]);
}
