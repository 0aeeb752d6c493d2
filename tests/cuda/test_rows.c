/* SPDX-License-Identifier: MIT */
/* The strict kernel replayed on the CPU against the reference: every bit of O, log-sum-exp, P,
 * cast P, maxima, row sums and splits, over all presets and settings that no preset has, masks,
 * sinks, splits, ragged lengths and the usual channels, each under schedules of its own.
 *
 * usage: test_rows [SCHEDULES]   3 where not given */
#include "cuda/replay.h"
#include "cuda/row_kernel.h"
#include "cuda/rows.h"

#include "base/fpenv.h"
#include "softmax/scores.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MOST = 227 << 10 };

static int schedules = 3;
static size_t heads, replays; /* compared */

/* A head, and what either side makes of it. */
typedef struct results {
    float *o, *lse, *p;
    uint32_t *codes;
    pcast_row_trace *trace;
    pcast_split *splits;
} results;

typedef struct head {
    pcast_plan plan;
    unsigned rows, dim, value_dim;
    size_t keys, visit_max, split_max;
    float *q, *k, *v, *products, *v_descale;
    int given; /* products are not those of q and k */
    pcast_row_keys *where;
    results device, reference;
} head;

static float *numbers(size_t count, float scale, uint64_t *random)
{
    float *x = malloc((count > 0 ? count : 1) * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = test_random(random);
        x[i] = scale * ((float)(bits & 0xFFFF) / 32768 - 1) * (bits >> 60 == 0 ? 4.0f : 1.0f);
    }
    return x;
}

/* Outputs that nobody has written. */
static void make_results(results *out, const head *self)
{
    const size_t rows = self->rows;
    out->o = malloc(rows * self->value_dim * sizeof *out->o);
    out->lse = malloc(rows * sizeof *out->lse);
    out->p = malloc((rows * self->keys + 1) * sizeof *out->p);
    out->codes = malloc((rows * self->keys + 1) * sizeof *out->codes);
    out->trace = malloc((rows * self->visit_max + 1) * sizeof *out->trace);
    out->splits = malloc(rows * self->split_max * sizeof *out->splits);
    memset(out->o, 0xAA, rows * self->value_dim * sizeof *out->o);
    memset(out->lse, 0xAA, rows * sizeof *out->lse);
    memset(out->p, 0xAA, rows * self->keys * sizeof *out->p);
    memset(out->codes, 0xAA, rows * self->keys * sizeof *out->codes);
    memset(out->trace, 0xAA, rows * self->visit_max * sizeof *out->trace);
    memset(out->splits, 0xAA, rows * self->split_max * sizeof *out->splits);
}

static void free_results(results *out)
{
    free(out->o);
    free(out->lse);
    free(out->p);
    free(out->codes);
    free(out->trace);
    free(out->splits);
}

static void head_free(head *self)
{
    free(self->q);
    free(self->k);
    free(self->v);
    free(self->products);
    free(self->v_descale);
    free(self->where);
    free_results(&self->device);
    free_results(&self->reference);
}

typedef struct shape {
    unsigned queries, dim, value_dim;
    size_t keys;
    pcast_mask mask;
    size_t window_left, window_right, splits;
    float logits; /* size of scores, roughly; 0: zeros of both signs, infinities and NaN */
    int sink;
} shape;

/* 0 where the kernel cannot have the shape. */
static int head_init(head *self, const pcast_kernel *kernel, const shape *form, uint64_t *random)
{
    static const float odd[] = {0.0f, -0.0f, 0.0f, -0.0f, -1.0f, -3.0f, -INFINITY, -200.0f, NAN};
    pcast_kernel adapted = *kernel;
    pcast_error err = {""};
    *self = (head){
        .rows = form->queries, .dim = form->dim, .value_dim = form->value_dim, .keys = form->keys};
    adapted.mask = form->mask;
    adapted.window_left = form->window_left;
    adapted.window_right = form->window_right;
    if (form->splits > 1 && adapted.partition == 0)
        adapted.splits = form->splits;
    const int sink = form->sink && adapted.learned_sink != PCAST_LEARNED_SINK_NONE;
    const float v_descale = adapted.v_scale == PCAST_SCALE_BLOCK ? 1.0f : 1.7f;
    const pcast_head_scales scales = {1 / sqrtf((float)form->dim), 0.75f, v_descale, sink, 0.6f};
    if (pcast_kernel_validate(&adapted, &err) != PCAST_OK ||
        pcast_plan_init(&self->plan, &adapted, pcast_cpu_detect(), &scales, form->dim, &err) !=
            PCAST_OK)
        return 0;
    const float size = sqrtf(form->logits);
    self->q = numbers((size_t)form->queries * form->dim, size, random);
    self->k = numbers(form->keys * form->dim, size, random);
    self->v = numbers(form->keys * form->value_dim, 2, random);
    self->visit_max = pcast_row_job_visits(&self->plan, form->keys);
    self->split_max = pcast_plan_splits(&self->plan, form->keys);
    self->where = malloc(form->queries * sizeof *self->where);
    for (unsigned row = 0; row < form->queries; row++)
        self->where[row] = (pcast_row_keys){
            form->keys, pcast_visible_keys(&self->plan.kernel, form->queries, form->keys, row),
            pcast_visited_keys(&self->plan.kernel, form->queries, form->keys, row)};
    self->products = malloc(((size_t)form->queries * form->keys + 1) * sizeof *self->products);
    for (unsigned row = 0; row < form->queries; row++)
        pcast_products(self->plan.engine, self->q + (size_t)row * form->dim, self->k, form->keys,
                       form->dim, self->products + row * form->keys);
    for (size_t i = 0; form->logits == 0 && i < form->queries * form->keys; i++)
        self->products[i] = odd[test_random(random) % (sizeof odd / sizeof odd[0])];
    self->given = form->logits == 0;
    if (adapted.promotion != PCAST_PROMOTION_NEVER && form->queries % 2 == 1)
        self->v_descale = numbers(form->keys / self->plan.kernel.block + 1, 1, random);
    make_results(&self->device, self);
    make_results(&self->reference, self);
    return 1;
}

/* ---- The reference ---- */

typedef struct observer {
    const head *self;
    unsigned row;
    size_t visit;
    int second; /* of two passes: visits of the first are not seen */
} observer;

static void observe(void *context, const pcast_tile *tile)
{
    observer *seen = context;
    const head *self = seen->self;
    const size_t first = seen->row * self->keys + tile->first_key;
    memcpy(self->reference.p + first, tile->p, tile->count * sizeof *tile->p);
    memcpy(self->reference.codes + first, tile->p8, tile->count * sizeof *tile->p8);
    self->reference.trace[seen->row * self->visit_max + seen->visit++] =
        (pcast_row_trace){tile->alpha, tile->m, tile->l};
}

static void run_reference(head *self)
{
    pcast_row row;
    pcast_row_scratch scratch;
    pcast_error err = {""};
    float *scores = malloc((self->keys + 1) * sizeof *scores);
    assert_int_equal(pcast_row_init(&row, &self->plan, self->keys, self->value_dim, &err),
                     PCAST_OK);
    assert_int_equal(
        pcast_row_scratch_init(&scratch, self->plan.kernel.block, self->value_dim, &err), PCAST_OK);
    row.v_descale = self->v_descale;
    for (unsigned r = 0; r < self->rows; r++) {
        observer seen = {.self = self, .row = r};
        const float *own =
            pcast_plan_scores(&self->plan, self->products + r * self->keys, self->keys, scores);
        pcast_row_run(&row, &self->where[r], own, (pcast_values){self->v, NULL}, observe, &seen,
                      &scratch);
        memcpy(self->reference.o + (size_t)r * self->value_dim, row.o,
               self->value_dim * sizeof *row.o);
        self->reference.lse[r] = row.lse;
        memcpy(self->reference.splits + r * self->split_max, row.splits,
               row.split_count * sizeof *row.splits);
    }
    pcast_row_free(&row);
    pcast_row_scratch_free(&scratch);
    free(scores);
}

/* ---- Comparing ---- */

/* NaNs on the way are the processor's own. */
static int same(const void *a, const void *b, size_t count)
{
    const float *x = a, *y = b;
    for (size_t i = 0; i < count; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i])))
            return 0;
    return 1;
}

static void compare(const head *self, const char *name)
{
    const results *a = &self->device, *b = &self->reference;
    const size_t rows = self->rows;
    const int two_passes = self->plan.kernel.normalise == PCAST_NORMALISE_PARTITION;
    if (memcmp(a->o, b->o, rows * self->value_dim * sizeof *a->o) != 0)
        fail_msg("%s: O differs", name);
    if (memcmp(a->lse, b->lse, rows * sizeof *a->lse) != 0)
        fail_msg("%s: the log-sum-exp differs", name);
    if (memcmp(a->codes, b->codes, rows * self->keys * sizeof *a->codes) != 0)
        fail_msg("%s: the cast P differs", name);
    if (!same(a->p, b->p, rows * self->keys))
        fail_msg("%s: P differs", name);
    if (!same(a->splits, b->splits, rows * self->split_max * 3))
        fail_msg("%s: splits differ", name);
    if (!two_passes && !same(a->trace, b->trace, rows * self->visit_max * 3))
        fail_msg("%s: maxima or row sums differ", name);
}

static void replay(head *self, int given, uint64_t seed, const char *name)
{
    const pcast_row_job job = {.plan = &self->plan,
                               .rows = self->rows,
                               .dim = given ? 1 : self->dim,
                               .value_dim = self->value_dim,
                               .keys = self->keys,
                               .q = given ? NULL : self->q,
                               .k = given ? NULL : self->k,
                               .products = given ? self->products : NULL,
                               .v = self->v,
                               .v_descale = self->v_descale,
                               .where = self->where,
                               .o = self->device.o,
                               .lse = self->device.lse,
                               .p = self->device.p,
                               .codes = self->device.codes,
                               .trace = self->device.trace,
                               .splits = self->device.splits,
                               .visit_max = self->visit_max,
                               .split_max = self->split_max};
    pcast_row_schedule schedule;
    pcast_error err = {""};
    if (pcast_row_schedule_init(&schedule, &job, 1, SHARED_MOST, &err) != PCAST_OK ||
        pcast_row_schedule_replay(&schedule, seed, &err) != PCAST_OK)
        fail_msg("%s: %s", name, err.text);
    pcast_row_schedule_free(&schedule);
    compare(self, name);
    replays++;
}

static const shape shapes[] = {
    {3, 64, 64, 200, PCAST_MASK_NONE, 0, 0, 1, 3, 1},
    {1, 128, 128, 131, PCAST_MASK_CAUSAL, 0, 0, 3, 12, 0},
    {9, 32, 32, 77, PCAST_MASK_CAUSAL, 0, 0, 1, 6, 1},
    {5, 256, 256, 33, PCAST_MASK_CAUSAL_TOP_LEFT, 0, 0, 2, 2, 0},
    {12, 64, 48, 90, PCAST_MASK_CAUSAL, 13, 0, 2, 40, 1},
    {4, 32, 17, 64, PCAST_MASK_NONE, 9, 5, 1, 2, 0},
    {14, 32, 32, 6, PCAST_MASK_CAUSAL, 0, 0, 2, 3, 1}, /* rows that see nothing */
    {2, 33, 1, 1, PCAST_MASK_NONE, 0, 0, 4, 1, 1},
    {6, 1, 32, 150, PCAST_MASK_CAUSAL, 0, 0, 2, 0, 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void check(const pcast_kernel *kernel, const char *spec, size_t number, uint64_t *random)
{
    for (size_t s = 0; s < SHAPES; s++) {
        head self;
        char name[PCAST_SPEC_MAX + 32];
        pcast_fpenv env;
        snprintf(name, sizeof name, "%s, shape %zu", spec, s);
        pcast_fpenv_enter(&env);
        if (head_init(&self, kernel, &shapes[s], random)) {
            heads++;
            run_reference(&self);
            for (int n = 0; n < schedules; n++)
                replay(&self, self.given || (n + (int)s) % 4 == 3,
                       (number * SHAPES + s) * 1000 + (uint64_t)n, name);
        }
        head_free(&self);
        pcast_fpenv_leave(&env);
    }
}

static void test_presets(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        pcast_kernel kernel = pcast_preset_at(i)->kernel;
        kernel.semantics = PCAST_SEMANTICS_FP32;
        check(&kernel, pcast_preset_at(i)->name, i, &random);
    }
}

/* What no preset has. */
static void test_settings(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "paper:accumulator=fp64;block=48;sum_order=fp64",
        "paper:accumulator=fp16;promotion=tile;block=64;splits=3;partials=f16",
        "fa3:accumulator=fp16;promotion=1;exponent=exp2_fma_rz;p_format=e5m2;overflow=nan",
        "fa3:p_format=bf16;row_sum=cast;sum_scale=in;promotion=2;order=forward",
        "fa3:p_format=e4m3fnuz;empty_max=store_zero;mask_value=-inf;masked_rows=nan",
        "fa3:p_format=f32;empty_max=unguarded;masked_rows=unguarded;bias=fma",
        "fmha-v2:block=512;partition=1024;learned_sink=denominator;normalise=partition",
        "vllm-triton:block=4096;softcap=5;max_over=raw",
        "fa4:traversal=strided;splits=3;query_block=4;block=16",
    };
    uint64_t random = 6;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        pcast_kernel kernel;
        pcast_error err = {""};
        if (pcast_kernel_parse(specs[i], &kernel, NULL, &err) != PCAST_OK)
            fail_msg("%s: %s", specs[i], err.text);
        check(&kernel, specs[i], 100 + i, &random);
    }
}

/* ---- The replay itself ---- */

typedef struct faulty {
    int kind;
    float *out;
} faulty;

static void faulty_kernel(pcast_block *self, const void *arguments, void *shared)
{
    const faulty *fault = arguments;
    float *memory = shared;
    memory[self->thread] = (float)self->thread;
    if (fault->kind == 0 || (fault->kind == 1 && self->thread % 2 == 0))
        pcast_block_sync(self);
    else if (fault->kind == 2)
        pcast_warp_read(self, 0, self->thread);
    if (fault->kind == 1 && self->thread % 2 == 1)
        pcast_block_sync(self);
    fault->out[self->thread] = memory[(self->thread + 65) % 128];
}

/* Threads at two barriers are reported, and a missing barrier shows. */
static void test_replay(void **state)
{
    (void)state;
    float out[128];
    size_t wrong = 0;
    pcast_error err = {""};
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_int_equal(pcast_replay_block(faulty_kernel, &(faulty){0, out}, 128,
                                            128 * sizeof(float), seed, &err),
                         PCAST_OK);
        for (unsigned t = 0; t < 128; t++)
            assert_true(out[t] == (float)((t + 65) % 128));
        assert_int_equal(pcast_replay_block(faulty_kernel, &(faulty){2, out}, 128,
                                            128 * sizeof(float), seed, &err),
                         PCAST_OK);
        for (unsigned t = 0; t < 128; t++)
            wrong += !(out[t] == (float)((t + 65) % 128));
    }
    assert_true(wrong > 0);
    assert_int_equal(
        pcast_replay_block(faulty_kernel, &(faulty){1, out}, 128, 128 * sizeof(float), 1, &err),
        PCAST_ERR_VALUE);
    assert_true(strncmp(err.text, "divergent barrier: thread ", 26) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        schedules = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_settings),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("%zu heads, %zu replays compared\n", heads, replays);
    return failed;
}
