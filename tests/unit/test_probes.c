/* SPDX-License-Identifier: MIT */
/* Probes: what every one of them promises of its numbers, and that they can be told apart. */
#include "pcast/golden.h"

#include "math/math.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

static const size_t dims[] = {64, 128, 256};
enum { DIMS = sizeof dims / sizeof dims[0] };

typedef void problem_check(const pcast_probe *probe, const pcast_problem *problem);

/* Runs a check on every probe and head dimension. */
static void each_problem(problem_check *check)
{
    for (size_t i = 0; i < pcast_probe_count(); i++)
        for (size_t d = 0; d < DIMS; d++) {
            const pcast_probe *probe = pcast_probe_at(i);
            pcast_problem problem;
            pcast_error err = {""};
            if (probe->build(&problem, dims[d], &err) != PCAST_OK)
                fail_msg("%s, dim %zu: %s", probe->id, dims[d], err.text);
            assert_int_equal(problem.dim, dims[d]);
            check(probe, &problem);
            pcast_problem_free(&problem);
        }
}

static size_t length_of(const pcast_problem *problem, size_t batch)
{
    return problem->kv_lengths == NULL ? problem->keys : problem->kv_lengths[batch];
}

/* ---- Numbers are E4M3's ---- */

static void assert_e4m3(const char *id, const char *name, const float *numbers, size_t count)
{
    const pcast_cast strict = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    for (size_t i = 0; i < count; i++) {
        const float x = numbers[i];
        const float back = pcast_decode_f32(PCAST_E4M3, pcast_encode_f32(PCAST_E4M3, x, strict));
        if (memcmp(&x, &back, sizeof x) != 0)
            fail_msg("%s: %s[%zu] = %a is no number of E4M3", id, name, i, (double)x);
    }
}

static void check_numbers(const pcast_probe *probe, const pcast_problem *problem)
{
    const size_t sequence = problem->keys * problem->dim;
    assert_e4m3(probe->id, "q", problem->q, pcast_problem_rows(problem) * problem->dim);
    for (size_t head = 0; head < problem->batch * problem->kv_heads; head++) {
        const size_t valid = length_of(problem, head / problem->kv_heads) * problem->dim;
        const float *k = problem->k + head * sequence, *v = problem->v + head * sequence;
        assert_e4m3(probe->id, "k", k, valid);
        assert_e4m3(probe->id, "v", v, valid);
        for (size_t i = valid; i < sequence; i++)
            assert_true(k[i] != k[i] && v[i] != v[i]);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    each_problem(check_numbers);
}

/* ---- Scores are exact ---- */

/* The largest power of two of which x is a multiple. */
static double quantum_of(double x)
{
    int exponent = 0;
    double significand = frexp(fabs(x), &exponent);
    while (significand != floor(significand)) {
        significand *= 2;
        exponent--;
    }
    while (fmod(significand, 2) == 0) {
        significand /= 2;
        exponent++;
    }
    return ldexp(1, exponent);
}

/* q.k, once every partial sum of it in any order has been found exact with 14 bits: the sum of
 * absolute products is below 2^13 of their common quantum. */
static double exact_score(const char *id, const float *q, const float *k, size_t dim)
{
    double sum = 0, absolute = 0, quantum = INFINITY;
    for (size_t c = 0; c < dim; c++) {
        const double product = (double)q[c] * (double)k[c];
        if (product == 0)
            continue;
        sum += product;
        absolute += fabs(product);
        quantum = fmin(quantum, quantum_of(product));
    }
    if (absolute != 0 && !(absolute < 0x1p13 * quantum))
        fail_msg("%s: q.k = %a holds multiples of %a: more than 14 bits", id, sum, quantum);
    return sum;
}

static int is_visible(const pcast_problem *problem, size_t keys, size_t query, size_t key)
{
    const long aligned = problem->mask == PCAST_MASK_CAUSAL_TOP_LEFT
                             ? (long)query
                             : (long)query + (long)keys - (long)problem->queries;
    const long offset = (long)key - aligned;
    if (problem->mask != PCAST_MASK_NONE && offset > 0)
        return 0;
    if (problem->window_left != 0 && offset <= -(long)problem->window_left)
        return 0;
    return problem->window_right == 0 || offset < (long)problem->window_right;
}

static void check_scores(const pcast_probe *probe, const pcast_problem *problem)
{
    const size_t group = problem->heads / problem->kv_heads;
    for (size_t row = 0; row < pcast_problem_rows(problem); row++) {
        const size_t query = row % problem->queries;
        const size_t head = row / problem->queries % problem->heads;
        const size_t batch = row / problem->queries / problem->heads;
        const size_t kv = batch * problem->kv_heads + head / group;
        const size_t keys = length_of(problem, batch);
        for (size_t j = 0; j < keys; j++)
            if (is_visible(problem, keys, query, j))
                exact_score(probe->id, problem->q + row * problem->dim,
                            problem->k + (kv * problem->keys + j) * problem->dim, problem->dim);
    }
}

static void test_scores(void **state)
{
    (void)state;
    each_problem(check_scores);
}

/* ---- Where codes are read off the output, none is near a tie ---- */

/* Distance of x from the nearest middle between two codes, over x. */
static double tie_distance(double x)
{
    const pcast_cast saturate = {PCAST_OVERFLOW_SATURATE, PCAST_INF_AS_OVERFLOW,
                                 PCAST_NAN_CANONICAL};
    const uint32_t code = pcast_encode_f32(PCAST_E4M3, (float)x, saturate);
    const double value = pcast_decode_f64(PCAST_E4M3, code);
    const double above = code == 0x7E ? 464 : (value + pcast_decode_f64(PCAST_E4M3, code + 1)) / 2;
    const double below =
        code == 0 ? -INFINITY : (value + pcast_decode_f64(PCAST_E4M3, code - 1)) / 2;
    return fmin(above - x, x - below) / x;
}

/* p is good to 2^-18 in any kernel: scores below 14 nats, whose argument of the exponential is
 * rounded to 2^-20 of a power of two. */
static void check_unique(const pcast_probe *probe, const pcast_problem *problem)
{
    static const double scales[] = {1, 16, 256, 448, 447.889862};
    if (strcmp(probe->id, "cast-table") != 0 && strcmp(probe->id, "v-layout") != 0)
        return;
    const double softmax_scale = (double)problem->softmax_scale;
    const double top = exact_score(probe->id, problem->q, problem->k, problem->dim);
    for (size_t j = 0; j < problem->keys; j++) {
        const double raw =
            exact_score(probe->id, problem->q, problem->k + j * problem->dim, problem->dim);
        const double p = pcast_exp_f64((raw - top) * softmax_scale);
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            if (!(tie_distance(p * scales[s]) > 0x1p-18))
                fail_msg("%s, dim %zu: key %zu with S = %g is %g from a tie", probe->id,
                         problem->dim, j, scales[s], tie_distance(p * scales[s]));
    }
}

static void test_unique(void **state)
{
    (void)state;
    each_problem(check_unique);
}

/* ---- Codes that probes rely on ---- */

static float p_of(const pcast_problem *problem, size_t key)
{
    const double top = exact_score("", problem->q, problem->k, problem->dim);
    const double raw = exact_score("", problem->q, problem->k + key * problem->dim, problem->dim);
    return (float)pcast_exp_f64((raw - top) * (double)problem->softmax_scale);
}

static uint32_t cast(float x)
{
    return pcast_encode_f32(PCAST_E4M3, x, (pcast_cast){0});
}

/* By way of bfloat16 keys 1 to 24 of the table go to the other code with S a power of two, and keys
 * 25 to 40 with S = 448; each S has subnormal codes, and a cast toward zero changes a third of
 * all. */
static void check_table(const pcast_problem *problem, float scale)
{
    const int of_448 = scale > 256;
    size_t subnormal = 0, lowered = 0;
    for (size_t j = 0; j < problem->keys; j++) {
        const float x = p_of(problem, j) * scale;
        const uint32_t narrow = pcast_encode_f32(PCAST_BF16, x, (pcast_cast){0});
        const int moved = cast(pcast_decode_f32(PCAST_BF16, narrow)) != cast(x);
        if (of_448 ? j >= 25 && j <= 40 : j >= 1 && j <= 24)
            assert_true(moved);
        subnormal += cast(x) > 0 && cast(x) < pcast_format_least_normal(PCAST_E4M3);
        lowered += pcast_decode_f32(PCAST_E4M3, cast(x)) > x;
    }
    if (subnormal < (of_448 ? 4 : 7) || lowered < problem->keys / 3)
        fail_msg("dim %zu, S = %g: %zu subnormal codes, %zu above P", problem->dim, (double)scale,
                 subnormal, lowered);
}

static void test_table_codes(void **state)
{
    (void)state;
    static const float scales[] = {1, 16, 256, 447.889862f, 448};
    for (size_t d = 0; d < DIMS; d++) {
        pcast_problem problem;
        pcast_error err;
        assert_int_equal(pcast_probe_find("cast-table")->build(&problem, dims[d], &err), PCAST_OK);
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
            check_table(&problem, scales[s]);
        pcast_problem_free(&problem);
    }
}

/* Of 32 keys only the first of either 16 share a code. */
static void test_layout_codes(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        pcast_problem problem;
        pcast_error err;
        assert_int_equal(pcast_probe_find("v-layout")->build(&problem, dims[d], &err), PCAST_OK);
        for (size_t j = 0; j < problem.keys; j++)
            for (size_t i = j / 32 * 32; i < j; i++)
                assert_int_equal(cast(p_of(&problem, i)) == cast(p_of(&problem, j)),
                                 i % 16 == 0 && j % 16 == 0);
        pcast_problem_free(&problem);
    }
}

/* ---- Problems ---- */

static int same(const void *a, const void *b, size_t bytes)
{
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && memcmp(a, b, bytes) == 0);
}

static void assert_same_problem(const pcast_problem *a, const pcast_problem *b)
{
    const size_t q = pcast_problem_rows(a) * a->dim;
    const size_t kv = a->batch * a->kv_heads * a->keys * a->dim;
    assert_true(a->batch == b->batch && a->heads == b->heads && a->kv_heads == b->kv_heads &&
                a->queries == b->queries && a->keys == b->keys && a->dim == b->dim);
    assert_true(a->mask == b->mask && a->window_left == b->window_left &&
                a->window_right == b->window_right);
    assert_bits_f32(a->softmax_scale, b->softmax_scale);
    assert_true(same(a->q, b->q, q * sizeof *a->q));
    assert_true(same(a->k, b->k, kv * sizeof *a->k));
    assert_true(same(a->v, b->v, kv * sizeof *a->v));
    assert_true(same(a->q_descale, b->q_descale, a->kv_heads * sizeof *a->q_descale));
    assert_true(same(a->k_descale, b->k_descale, a->kv_heads * sizeof *a->k_descale));
    assert_true(same(a->v_descale, b->v_descale, a->kv_heads * sizeof *a->v_descale));
    assert_true(same(a->sink, b->sink, a->heads * sizeof *a->sink));
    assert_true(same(a->kv_lengths, b->kv_lengths, a->batch * sizeof *a->kv_lengths));
}

/* A copy shares nothing, and a second build gives the same bits. */
static void check_copy(const pcast_probe *probe, const pcast_problem *problem)
{
    pcast_problem again, copy;
    pcast_error err;
    assert_int_equal(probe->build(&again, problem->dim, &err), PCAST_OK);
    assert_same_problem(problem, &again);
    assert_int_equal(pcast_problem_copy(&again, &copy, &err), PCAST_OK);
    pcast_problem_free(&again);
    assert_same_problem(problem, &copy);
    pcast_problem_free(&copy);
}

static void test_copies(void **state)
{
    (void)state;
    each_problem(check_copy);
}

static void test_problem(void **state)
{
    (void)state;
    pcast_problem problem;
    pcast_error err = {""};
    assert_int_equal(pcast_problem_init(&problem, 2, 4, 2, 3, 5, 64, &err), PCAST_OK);
    assert_int_equal(pcast_problem_rows(&problem), 24);
    assert_bits_f32(problem.softmax_scale, 0.125f);
    assert_true(problem.q[24 * 64 - 1] == 0 && problem.v[20 * 64 - 1] == 0);
    assert_non_null(pcast_problem_descale(&problem.k_descale, 2));
    assert_bits_f32(problem.k_descale[1], 1);
    pcast_problem_free(&problem);
    pcast_problem_free(&problem);
    assert_int_equal(pcast_problem_init(&problem, SIZE_MAX / 2, 3, 1, SIZE_MAX / 2, 5, 64, &err),
                     PCAST_ERR_MEMORY);
    assert_non_null(strstr(err.text, "out of memory"));
    pcast_problem_free(&problem);
}

/* ---- The table ---- */

static int is_id(const char *id)
{
    return id != NULL && id[0] != '\0' &&
           strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < pcast_probe_count(); i++) {
        const pcast_probe *probe = pcast_probe_at(i);
        assert_true(is_id(probe->id));
        assert_ptr_equal(pcast_probe_find(probe->id), probe); /* else an earlier one has this id */
        assert_true(probe->title[0] != '\0' && probe->why[0] != '\0' &&
                    probe->signature[0] != '\0');
        assert_non_null(probe->faults[0]);
        assert_null(probe->faults[PCAST_PROBE_FAULTS - 1]);
        for (size_t f = 0; probe->faults[f] != NULL; f++)
            assert_true(is_id(probe->faults[f]));
    }
    assert_null(pcast_probe_find("unit"));
}

/* The reference kernel is one that computes the problem. */
static void check_reference(const pcast_probe *probe, const pcast_problem *problem)
{
    pcast_kernel kernel;
    pcast_error err = {""};
    if (pcast_kernel_parse(probe->reference, &kernel, NULL, &err) != PCAST_OK)
        fail_msg("%s: %s", probe->id, err.text);
    kernel.mask = problem->mask;
    kernel.window_left = problem->window_left;
    kernel.window_right = problem->window_right;
    pcast_kernel_resolve(&kernel, problem->dim);
    if (pcast_kernel_validate(&kernel, &err) != PCAST_OK)
        fail_msg("%s: %s: %s", probe->id, probe->reference, err.text);
    if (problem->sink != NULL)
        assert_true(kernel.learned_sink != PCAST_LEARNED_SINK_NONE);
}

static void test_references(void **state)
{
    (void)state;
    each_problem(check_reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem),     cmocka_unit_test(test_table),
        cmocka_unit_test(test_references),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_scores),      cmocka_unit_test(test_unique),
        cmocka_unit_test(test_table_codes), cmocka_unit_test(test_layout_codes),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
