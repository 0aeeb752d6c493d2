/* SPDX-License-Identifier: MIT */
/* One head: inputs, the reference's results, and their comparison. */
#include "cuda/strict.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "random/draws.h"
#include "softmax/scores.h"

#include <math.h>
#include <stdlib.h>

enum { POISON = 0xAA };

/* ---- Memory ---- */

static void results_free(pcast_strict_results *out)
{
    free(out->o);
    free(out->lse);
    free(out->p);
    free(out->codes);
    free(out->trace);
    free(out->splits);
}

void pcast_strict_head_free(pcast_strict_head *head)
{
    free(head->q);
    free(head->k);
    free(head->v);
    free(head->products);
    free(head->v_descale);
    free(head->where);
    results_free(&head->device);
    results_free(&head->reference);
    *head = (pcast_strict_head){0};
}

static void *poisoned(size_t count, size_t size)
{
    void *memory = malloc(count * size + 1);
    if (memory != NULL)
        memset(memory, POISON, count * size);
    return memory;
}

static int results_init(pcast_strict_results *out, const pcast_strict_head *head)
{
    const size_t rows = head->rows;
    out->o = poisoned(rows * head->value_dim, sizeof *out->o);
    out->lse = poisoned(rows, sizeof *out->lse);
    out->p = poisoned(rows * head->keys, sizeof *out->p);
    out->codes = poisoned(rows * head->keys, sizeof *out->codes);
    out->trace = poisoned(rows * head->visit_max, sizeof *out->trace);
    out->splits = poisoned(rows * head->split_max, sizeof *out->splits);
    return out->o != NULL && out->lse != NULL && out->p != NULL && out->codes != NULL &&
           out->trace != NULL && out->splits != NULL;
}

/* ---- Inputs ---- */

/* Normals times a factor, one in 16 of them four times as large. */
static float *draw(uint32_t number, uint32_t stream, size_t count, double factor)
{
    const pcast_stream from = {0x70636173, number, stream};
    float *x = malloc((count > 0 ? count : 1) * sizeof *x);
    double *normals = malloc((count + 1) * sizeof *normals);
    if (x != NULL && normals != NULL) {
        pcast_draw_normals(from, PCAST_CPU_SCALAR, 0, count, normals);
        for (size_t i = 0; i < count; i++)
            x[i] = (float)(normals[i] * factor * (i % 16 == 7 ? 4 : 1));
    } else {
        free(x);
        x = NULL;
    }
    free(normals);
    return x;
}

/* Scores where the order of comparisons shows, and what kernels guard against. */
static void fill_odd(float *products, size_t count, uint32_t number)
{
    static const float odd[] = {0.0f, -0.0f, 0.0f, -0.0f, -1.0f, -3.0f, -INFINITY, -200.0f, NAN};
    uint32_t word;
    for (size_t i = 0; i < count; i++) {
        pcast_draw_words((pcast_stream){0x70636173, number, 0}, i, 1, &word);
        products[i] = odd[word % (sizeof odd / sizeof odd[0])];
    }
}

static void fill_where(pcast_strict_head *head)
{
    const pcast_kernel *kernel = &head->plan.kernel;
    for (unsigned row = 0; row < head->rows; row++)
        head->where[row] =
            (pcast_row_keys){head->keys, pcast_visible_keys(kernel, head->rows, head->keys, row),
                             pcast_visited_keys(kernel, head->rows, head->keys, row)};
}

static pcast_status init_inputs(pcast_strict_head *head, const pcast_strict_shape *shape,
                                uint32_t number, pcast_error *err)
{
    const size_t queries = shape->queries, block = head->plan.kernel.block;
    const size_t blocks = shape->keys / block + (shape->keys % block != 0);
    const double size = shape->logits > 0 ? sqrt(shape->logits) : 1;
    head->q = draw(number, 1, queries * shape->dim, size);
    head->k = draw(number, 2, shape->keys * shape->dim, size);
    head->v = draw(number, 3, shape->keys * shape->value_dim, 1);
    head->products = malloc((queries * shape->keys + 1) * sizeof *head->products);
    head->where = malloc(queries * sizeof *head->where);
    const int descaled = head->plan.kernel.promotion != PCAST_PROMOTION_NEVER && queries % 2 == 1;
    if (descaled)
        head->v_descale = draw(number, 4, blocks, 1);
    if (head->q == NULL || head->k == NULL || head->v == NULL || head->products == NULL ||
        head->where == NULL || (descaled && head->v_descale == NULL) ||
        !results_init(&head->device, head) || !results_init(&head->reference, head))
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu keys", shape->keys);
    fill_where(head);
    for (size_t row = 0; row < queries; row++)
        pcast_products(head->plan.engine, head->q + row * shape->dim, head->k, shape->keys,
                       shape->dim, head->products + row * shape->keys);
    if (shape->logits == 0)
        fill_odd(head->products, queries * shape->keys, number);
    return PCAST_OK;
}

/* ---- The reference ---- */

typedef struct observer {
    pcast_strict_head *head;
    size_t row, visit;
} observer;

static void observe(void *context, const pcast_tile *tile)
{
    observer *seen = context;
    const pcast_strict_head *head = seen->head;
    const size_t first = seen->row * head->keys + tile->first_key;
    memcpy(head->reference.p + first, tile->p, tile->count * sizeof *tile->p);
    memcpy(head->reference.codes + first, tile->p8, tile->count * sizeof *tile->p8);
    head->reference.trace[seen->row * head->visit_max + seen->visit++] =
        (pcast_row_trace){tile->alpha, tile->m, tile->l};
}

static pcast_status run_reference(pcast_strict_head *head, pcast_error *err)
{
    pcast_row row = {0};
    pcast_row_scratch scratch = {0};
    float *scores = malloc((head->keys + 1) * sizeof *scores);
    pcast_status status = scores != NULL
                              ? pcast_row_init(&row, &head->plan, head->keys, head->value_dim, err)
                              : pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for scores");
    if (status == PCAST_OK)
        status = pcast_row_scratch_init(&scratch, head->plan.kernel.block, head->value_dim, err);
    for (size_t r = 0; status == PCAST_OK && r < head->rows; r++) {
        observer seen = {head, r, 0};
        const float *own =
            pcast_plan_scores(&head->plan, head->products + r * head->keys, head->keys, scores);
        row.v_descale = head->v_descale;
        pcast_row_run(&row, &head->where[r], own, (pcast_values){head->v, NULL}, observe, &seen,
                      &scratch);
        memcpy(head->reference.o + r * head->value_dim, row.o, head->value_dim * sizeof *row.o);
        head->reference.lse[r] = row.lse;
        memcpy(head->reference.splits + r * head->split_max, row.splits,
               row.split_count * sizeof *row.splits);
    }
    pcast_row_free(&row);
    pcast_row_scratch_free(&scratch);
    free(scores);
    return status;
}

pcast_status pcast_strict_head_init(pcast_strict_head *head, const pcast_kernel *kernel,
                                    const pcast_strict_shape *shape, uint32_t number,
                                    pcast_error *err)
{
    pcast_kernel adapted = *kernel;
    *head = (pcast_strict_head){.rows = shape->queries,
                                .dim = shape->dim,
                                .value_dim = shape->value_dim,
                                .keys = shape->keys};
    adapted.semantics = PCAST_SEMANTICS_FP32;
    adapted.mask = shape->mask;
    adapted.window_left = shape->window_left;
    adapted.window_right = shape->window_right;
    if (shape->splits > 1 && adapted.partition == 0)
        adapted.splits = shape->splits;
    const int sink = shape->sink && adapted.learned_sink != PCAST_LEARNED_SINK_NONE;
    const float v_descale = adapted.v_scale == PCAST_SCALE_BLOCK ? 1.0f : 1.7f;
    const pcast_head_scales scales = {1 / sqrtf((float)shape->dim), 0.75f, v_descale, sink, 0.6f};
    pcast_status status = pcast_kernel_validate(&adapted, err);
    if (status == PCAST_OK)
        status =
            pcast_plan_init(&head->plan, &adapted, pcast_cpu_detect(), &scales, shape->dim, err);
    if (status != PCAST_OK)
        return status;
    head->visit_max = pcast_row_job_visits(&head->plan, shape->keys);
    head->split_max = pcast_plan_splits(&head->plan, shape->keys);
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    status = init_inputs(head, shape, number, err);
    if (status == PCAST_OK)
        status = run_reference(head, err);
    pcast_fpenv_leave(&env);
    return status;
}

/* ---- The device's side ---- */

static void poison(void *memory, size_t count, size_t size)
{
    memset(memory, POISON, count * size);
}

pcast_row_job pcast_strict_head_job(pcast_strict_head *head, int given)
{
    const pcast_strict_results *out = &head->device;
    const size_t rows = head->rows;
    poison(out->o, rows * head->value_dim, sizeof *out->o);
    poison(out->lse, rows, sizeof *out->lse);
    poison(out->p, rows * head->keys, sizeof *out->p);
    poison(out->codes, rows * head->keys, sizeof *out->codes);
    poison(out->trace, rows * head->visit_max, sizeof *out->trace);
    poison(out->splits, rows * head->split_max, sizeof *out->splits);
    return (pcast_row_job){.plan = &head->plan,
                           .rows = head->rows,
                           .dim = given ? 1 : head->dim,
                           .value_dim = head->value_dim,
                           .keys = head->keys,
                           .q = given ? NULL : head->q,
                           .k = given ? NULL : head->k,
                           .products = given ? head->products : NULL,
                           .v = head->v,
                           .v_descale = head->v_descale,
                           .where = head->where,
                           .o = out->o,
                           .lse = out->lse,
                           .p = out->p,
                           .codes = out->codes,
                           .trace = out->trace,
                           .splits = out->splits,
                           .visit_max = head->visit_max,
                           .split_max = head->split_max};
}

void pcast_strict_head_compare(const pcast_strict_head *head, const char *name,
                               pcast_check_result *result)
{
    const pcast_strict_results *a = &head->device, *b = &head->reference;
    const size_t rows = head->rows, keys = rows * head->keys, word = sizeof(float);
    const size_t splits = rows * head->split_max * (sizeof *a->splits / word);
    const size_t trace = rows * head->visit_max * (sizeof *a->trace / word);
    const pcast_check_numbers all[] = {
        {name, "O", a->o, b->o, rows * head->value_dim, word, 0},
        {name, "log-sum-exp", a->lse, b->lse, rows, word, 0},
        {name, "cast P", a->codes, b->codes, keys, word, 0},
        {name, "P", a->p, b->p, keys, word, 1},
        {name, "splits", a->splits, b->splits, splits, word, 1},
        {name, "maxima and row sums", a->trace, b->trace, trace, word, 1},
    };
    /* The reference does not show the visits of a first pass. */
    const int two_passes = head->plan.kernel.normalise == PCAST_NORMALISE_PARTITION;
    for (size_t i = 0; i < sizeof all / sizeof all[0] - (size_t)two_passes; i++)
        pcast_check_compare(result, all[i]);
}
