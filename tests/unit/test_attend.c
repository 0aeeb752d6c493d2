/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of heads: layouts, grouped heads, lengths, packed sequences, descales, masks; every
 * preset where the answer must not depend on it. */
#include "pcast/attend.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, QUERIES = 9, KEYS = 37, DIM = 16, VALUE_DIM = 8 };
enum { Q_SIZE = BATCH * HEADS * QUERIES * DIM, O_SIZE = BATCH * HEADS * QUERIES * VALUE_DIM };
enum { K_SIZE = BATCH * KV_HEADS * KEYS * DIM, V_SIZE = BATCH * KV_HEADS * KEYS * VALUE_DIM };
enum { ROWS = BATCH * HEADS * QUERIES };

typedef struct problem {
    float q[Q_SIZE], k[K_SIZE], v[V_SIZE];
    pcast_tensor tensors[3];
    pcast_attend attend;
} problem;

typedef struct outcome {
    float o[O_SIZE], lse[ROWS];
    pcast_attend_head heads[BATCH * HEADS];
} outcome;

static pcast_tensor tensor(float *data, size_t a, size_t b, size_t c, size_t d)
{
    return (pcast_tensor){.rank = 4, .shape = {a, b, c, d}, .data = data, .format = PCAST_F32};
}

static void make(problem *p)
{
    uint64_t random = 99;
    for (int i = 0; i < Q_SIZE; i++)
        p->q[i] = (float)(4 * test_uniform(&random) - 2);
    for (int i = 0; i < K_SIZE; i++)
        p->k[i] = (float)(4 * test_uniform(&random) - 2);
    for (int i = 0; i < V_SIZE; i++)
        p->v[i] = (float)(2 * test_uniform(&random) - 1);
    p->tensors[0] = tensor(p->q, BATCH, HEADS, QUERIES, DIM);
    p->tensors[1] = tensor(p->k, BATCH, KV_HEADS, KEYS, DIM);
    p->tensors[2] = tensor(p->v, BATCH, KV_HEADS, KEYS, VALUE_DIM);
    p->attend = (pcast_attend){.q = &p->tensors[0], .k = &p->tensors[1], .v = &p->tensors[2]};
}

static pcast_kernel parse(const char *spec)
{
    pcast_kernel kernel;
    pcast_error err = {""};
    if (pcast_kernel_parse(spec, &kernel, NULL, &err) != PCAST_OK)
        fail_msg("%s: %s", spec, err.text);
    return kernel;
}

static pcast_status run(const pcast_attend *attend, const pcast_kernel *kernel, outcome *out,
                        pcast_error *err)
{
    const pcast_run one = {
        .kernels = kernel, .kernel_count = 1, .threads = 2, .cpu = pcast_cpu_detect()};
    const pcast_attend_result result = {.o = out->o, .lse = out->lse, .heads = out->heads};
    memset(out, 0, sizeof *out);
    return pcast_attend_run(attend, &one, &result, err);
}

static void run_ok(const pcast_attend *attend, const pcast_kernel *kernel, outcome *out)
{
    pcast_error err = {""};
    if (run(attend, kernel, out, &err) != PCAST_OK)
        fail_msg("%s", err.text);
}

/* NaN equals NaN. */
static int same(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && memcmp(&a[i], &b[i], 4) != 0)
            return 0;
    return 1;
}

/* [batch][heads][tokens][dim] to [batch][tokens][heads][dim]. */
static void transpose(const float *from, float *to, size_t heads, size_t tokens, size_t dim)
{
    for (size_t b = 0; b < BATCH; b++)
        for (size_t h = 0; h < heads; h++)
            for (size_t t = 0; t < tokens; t++)
                memcpy(to + ((b * tokens + t) * heads + h) * dim,
                       from + ((b * heads + h) * tokens + t) * dim, dim * sizeof *to);
}

static void test_layouts_and_packed(void **state)
{
    (void)state;
    static problem p, t;
    static outcome straight, turned, packed;
    static float expected[O_SIZE];
    const pcast_kernel kernel = {.block = 16, .scale = 256, .mask = PCAST_MASK_CAUSAL};
    make(&p);
    make(&t);
    run_ok(&p.attend, &kernel, &straight);
    transpose(p.q, t.q, HEADS, QUERIES, DIM);
    transpose(p.k, t.k, KV_HEADS, KEYS, DIM);
    transpose(p.v, t.v, KV_HEADS, KEYS, VALUE_DIM);
    transpose(straight.o, expected, HEADS, QUERIES, VALUE_DIM);
    t.tensors[0] = tensor(t.q, BATCH, QUERIES, HEADS, DIM);
    t.tensors[1] = tensor(t.k, BATCH, KEYS, KV_HEADS, DIM);
    t.tensors[2] = tensor(t.v, BATCH, KEYS, KV_HEADS, VALUE_DIM);
    t.attend.layout = PCAST_LAYOUT_BTHD;
    run_ok(&t.attend, &kernel, &turned);
    assert_true(same(turned.o, expected, O_SIZE) && same(turned.lse, straight.lse, ROWS));

    /* The same tokens packed one sequence after the other. */
    const size_t q_starts[] = {0, QUERIES, 2 * QUERIES}, k_starts[] = {0, KEYS, 2 * KEYS};
    for (int i = 0; i < 3; i++) {
        pcast_tensor *one = &t.tensors[i];
        one->rank = 3;
        one->shape[0] *= one->shape[1];
        one->shape[1] = one->shape[2];
        one->shape[2] = one->shape[3];
    }
    t.attend.q_starts = q_starts;
    t.attend.k_starts = k_starts;
    t.attend.sequences = 2;
    run_ok(&t.attend, &kernel, &packed);
    assert_true(same(packed.o, expected, O_SIZE));
    for (size_t b = 0; b < BATCH; b++) /* [heads][tokens] */
        for (size_t h = 0; h < HEADS; h++)
            assert_true(same(packed.lse + h * BATCH * QUERIES + b * QUERIES,
                             straight.lse + (b * HEADS + h) * QUERIES, QUERIES));
}

/* Heads of Q in groups share a head of K and V: the same as K and V repeated. */
static void test_grouped_heads(void **state)
{
    (void)state;
    static problem p;
    static outcome grouped, repeated;
    static float k[2 * K_SIZE], v[2 * V_SIZE];
    const pcast_kernel kernel = {.block = 8, .scale = 448};
    make(&p);
    run_ok(&p.attend, &kernel, &grouped);
    for (size_t bh = 0; bh < BATCH * HEADS; bh++) {
        memcpy(k + bh * KEYS * DIM, p.k + bh / 2 * KEYS * DIM, KEYS * DIM * sizeof *k);
        memcpy(v + bh * KEYS * VALUE_DIM, p.v + bh / 2 * KEYS * VALUE_DIM,
               KEYS * VALUE_DIM * sizeof *v);
    }
    p.tensors[1] = tensor(k, BATCH, HEADS, KEYS, DIM);
    p.tensors[2] = tensor(v, BATCH, HEADS, KEYS, VALUE_DIM);
    run_ok(&p.attend, &kernel, &repeated);
    assert_true(same(grouped.o, repeated.o, O_SIZE));
}

/* K / 4 with a descale of 4, Q * 2 with 1/2, V / 8 with 8: no bit changes, in any preset. */
static void test_descales(void **state)
{
    (void)state;
    static problem p, d;
    static outcome plain, descaled;
    float four[BATCH * KV_HEADS], half = 0.5f, eight[KV_HEADS] = {8, 8};
    for (int i = 0; i < BATCH * KV_HEADS; i++)
        four[i] = 4;
    const pcast_tensor k_descale = {
        .rank = 2, .shape = {BATCH, KV_HEADS}, .data = four, .format = PCAST_F32};
    const pcast_tensor q_descale = {.rank = 0, .data = &half, .format = PCAST_F32};
    const pcast_tensor v_descale = {
        .rank = 1, .shape = {KV_HEADS}, .data = eight, .format = PCAST_F32};
    make(&p);
    make(&d);
    for (int i = 0; i < K_SIZE; i++)
        d.k[i] /= 4;
    for (int i = 0; i < Q_SIZE; i++)
        d.q[i] *= 2;
    for (int i = 0; i < V_SIZE; i++)
        d.v[i] /= 8;
    d.attend.q_descale = &q_descale;
    d.attend.k_descale = &k_descale;
    d.attend.v_descale = &v_descale;
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        pcast_kernel kernel = pcast_preset_at(i)->kernel;
        kernel.mask = PCAST_MASK_CAUSAL;
        run_ok(&p.attend, &kernel, &plain);
        run_ok(&d.attend, &kernel, &descaled);
        if (!same(plain.o, descaled.o, O_SIZE) || !same(plain.lse, descaled.lse, ROWS))
            fail_msg("%s: descales change bits", pcast_preset_at(i)->name);
    }
}

/* A descale by KV head reaches the heads of its group only. */
static void test_descale_of_one_head(void **state)
{
    (void)state;
    static problem p;
    static outcome plain, one;
    float descale[KV_HEADS] = {1, 3};
    const pcast_tensor v_descale = {
        .rank = 1, .shape = {KV_HEADS}, .data = descale, .format = PCAST_F32};
    const pcast_kernel kernel = {.block = 8, .scale = 256};
    make(&p);
    run_ok(&p.attend, &kernel, &plain);
    p.attend.v_descale = &v_descale;
    run_ok(&p.attend, &kernel, &one);
    for (size_t i = 0; i < O_SIZE; i++) {
        const size_t head = i / VALUE_DIM / QUERIES % HEADS;
        assert_bits_f32(one.o[i], head < 2 ? plain.o[i] : 3 * plain.o[i]);
    }
}

/* NaN in keys and values beyond the length never reaches a result, in any preset; the result is
 * that of shorter tensors. */
static void test_lengths(void **state)
{
    (void)state;
    static problem p, poisoned;
    static outcome expected, got;
    const size_t lengths[BATCH] = {29, 5};
    make(&p);
    make(&poisoned);
    for (size_t b = 0; b < BATCH; b++)
        for (size_t h = 0; h < KV_HEADS; h++)
            for (size_t t = lengths[b]; t < KEYS; t++) {
                for (size_t c = 0; c < DIM; c++)
                    poisoned.k[((b * KV_HEADS + h) * KEYS + t) * DIM + c] = NAN;
                for (size_t c = 0; c < VALUE_DIM; c++)
                    poisoned.v[((b * KV_HEADS + h) * KEYS + t) * VALUE_DIM + c] = NAN;
            }
    p.attend.kv_lengths = poisoned.attend.kv_lengths = lengths;
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        pcast_kernel kernel = pcast_preset_at(i)->kernel;
        run_ok(&p.attend, &kernel, &expected);
        run_ok(&poisoned.attend, &kernel, &got);
        if (!same(expected.o, got.o, O_SIZE) || !same(expected.lse, got.lse, ROWS))
            fail_msg("%s: keys beyond the length were read", pcast_preset_at(i)->name);
        for (size_t c = 0; c < O_SIZE; c++)
            assert_true(isfinite(got.o[c]));
    }
    /* A sequence alone, cut to its length. */
    const pcast_kernel kernel = {.block = 16, .scale = 256, .order = PCAST_ORDER_REVERSE};
    run_ok(&p.attend, &kernel, &expected);
    static float k[KV_HEADS * 29 * DIM], v[KV_HEADS * 29 * VALUE_DIM];
    for (size_t h = 0; h < KV_HEADS; h++) {
        memcpy(k + h * 29 * DIM, p.k + h * KEYS * DIM, 29 * DIM * sizeof *k);
        memcpy(v + h * 29 * VALUE_DIM, p.v + h * KEYS * VALUE_DIM, 29 * VALUE_DIM * sizeof *v);
    }
    p.tensors[0].shape[0] = 1;
    p.tensors[1] = tensor(k, 1, KV_HEADS, 29, DIM);
    p.tensors[2] = tensor(v, 1, KV_HEADS, 29, VALUE_DIM);
    p.attend.kv_lengths = NULL;
    run_ok(&p.attend, &kernel, &got);
    assert_true(same(expected.o, got.o, HEADS * QUERIES * VALUE_DIM));
}

/* Which keys a query sees, read off the output: all scores equal and V one-hot, so that a channel
 * is above zero just where its key is seen. */
static void test_masks(void **state)
{
    (void)state;
    enum { T = 5, N = 8 };
    static const struct {
        pcast_kernel kernel;
        const char *seen[T];
    } cases[] = {
        {{.block = 4, .scale = 256}, {"11111111", "11111111", "11111111", "11111111", "11111111"}},
        {{.block = 4, .scale = 256, .mask = PCAST_MASK_CAUSAL},
         {"11110000", "11111000", "11111100", "11111110", "11111111"}},
        {{.block = 4, .scale = 256, .mask = PCAST_MASK_CAUSAL_TOP_LEFT},
         {"10000000", "11000000", "11100000", "11110000", "11111000"}},
        {{.block = 4, .scale = 256, .mask = PCAST_MASK_CAUSAL, .window_left = 2},
         {"00110000", "00011000", "00001100", "00000110", "00000011"}},
        {{.block = 4, .scale = 256, .window_left = 3, .window_right = 2},
         {"01111000", "00111100", "00011110", "00001111", "00000111"}},
        {{.block = 4, .scale = 256, .window_right = 1},
         {"11110000", "11111000", "11111100", "11111110", "11111111"}},
    };
    static float q[T], k[N], v[N * N], o[T * N], lse[T];
    for (int j = 0; j < N; j++)
        v[j * N + j] = 1;
    pcast_tensor tensors[3] = {{.rank = 2, .shape = {T, 1}, .data = q, .format = PCAST_F32},
                               {.rank = 2, .shape = {N, 1}, .data = k, .format = PCAST_F32},
                               {.rank = 2, .shape = {N, N}, .data = v, .format = PCAST_F32}};
    const pcast_attend attend = {.q = &tensors[0], .k = &tensors[1], .v = &tensors[2]};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int order = 0; order < 2; order++) {
            pcast_kernel kernel = cases[i].kernel;
            kernel.order = (pcast_order)order;
            kernel.query_block = 3;
            pcast_attend_head head;
            const pcast_run one = {.kernels = &kernel, .kernel_count = 1};
            const pcast_attend_result result = {.o = o, .lse = lse, .heads = &head};
            pcast_error err = {""};
            assert_int_equal(pcast_attend_run(&attend, &one, &result, &err), PCAST_OK);
            for (int t = 0; t < T; t++)
                for (int j = 0; j < N; j++)
                    if ((o[t * N + j] > 0) != (cases[i].seen[t][j] == '1'))
                        fail_msg("case %zu, query %d, key %d", i, t, j);
        }
}

/* Masked keys are no keys: under a finite sentinel a tile that a row does not see has P of about S,
 * and still counts for nothing. Nor is a NaN code of an FNUZ format a flushed key. */
static void test_what_is_counted(void **state)
{
    (void)state;
    static problem p;
    static outcome alone, together;
    make(&p);
    for (int i = 0; i < Q_SIZE; i++)
        p.q[i] *= 4; /* so that keys are lost */
    pcast_kernel kernel = parse("sage2-fp32:order=reverse;block=8;mask=causal;scale=1");
    kernel.query_block = 1;
    run_ok(&p.attend, &kernel, &alone);
    kernel.query_block = 16;
    run_ok(&p.attend, &kernel, &together);
    for (int h = 0; h < BATCH * HEADS; h++) {
        assert_true(alone.heads[h].summary.underflow > 0);
        assert_bits_f64(together.heads[h].summary.underflow, alone.heads[h].summary.underflow);
        assert_bits_f64(together.heads[h].summary.saturated, alone.heads[h].summary.saturated);
    }
    kernel = parse("paper:p_format=e4m3fnuz;scale=448;overflow=nan");
    run_ok(&p.attend, &kernel, &alone);
    kernel = parse("paper:p_format=e4m3fnuz;scale=448;overflow=sat");
    run_ok(&p.attend, &kernel, &together);
    for (int h = 0; h < BATCH * HEADS; h++) {
        assert_true(alone.heads[h].summary.saturated > 0);
        assert_bits_f64(alone.heads[h].summary.underflow, together.heads[h].summary.underflow);
    }
}

static void test_bad_shapes(void **state)
{
    (void)state;
    static problem p;
    static outcome out;
    const pcast_kernel kernel = {.block = 8, .scale = 1};
    const size_t lengths[BATCH] = {38, 1}, starts[] = {0, 3, 2};
    float bad = NAN, zero = 0;
    const pcast_tensor nan = {.rank = 0, .data = &bad, .format = PCAST_F32},
                       nothing = {.rank = 0, .data = &zero, .format = PCAST_F32};
    const pcast_tensor wrong = {.rank = 1, .shape = {3}, .data = p.q, .format = PCAST_F32};
    pcast_error err;
    for (int i = 0; i < 9; i++) {
        static const char *const said[] = {
            "k: 15 channels",   "k: batch of 1",      "k: 3 heads",
            "v: 2 heads of 36", "KV lengths: 38",     "cumulative",
            "k descale",        "shape does not fit", "q and k descale"};
        make(&p);
        p.tensors[1].shape[3] -= i == 0;
        p.tensors[1].shape[0] -= i == 1;
        p.tensors[1].shape[1] += i == 2;
        p.tensors[2].shape[2] -= i == 3;
        p.attend.kv_lengths = i == 4 ? lengths : NULL;
        if (i == 5) {
            p.attend.q_starts = p.attend.k_starts = starts;
            p.attend.sequences = 2;
            for (int t = 0; t < 3; t++) { /* [tokens, heads, dim], two tokens */
                p.tensors[t].rank = 3;
                p.tensors[t].shape[2] = p.tensors[t].shape[3];
            }
        }
        p.attend.k_descale = i == 6 ? &nan : i == 7 ? &wrong : i == 8 ? &nothing : NULL;
        const pcast_status status = run(&p.attend, &kernel, &out, &err);
        assert_int_equal(status, i == 8 ? PCAST_ERR_VALUE : PCAST_ERR_INPUT);
        if (strstr(err.text, said[i]) == NULL)
            fail_msg("case %d: '%s'", i, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_and_packed),
        cmocka_unit_test(test_grouped_heads),
        cmocka_unit_test(test_descales),
        cmocka_unit_test(test_descale_of_one_head),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_what_is_counted),
        cmocka_unit_test(test_bad_shapes),
    };
    return cmocka_run_group_tests_name("attend", tests, NULL, NULL);
}
