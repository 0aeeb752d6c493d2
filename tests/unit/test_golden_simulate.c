/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels on golden problems: an answer known by hand, what counts is the problem's, and which
 * kernels cannot answer. */
#include "pcast/golden_simulate.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { DIM = 64 };

/* Two queries, four keys, all scores 0, V of key j is 2^j. */
static pcast_problem powers(void)
{
    pcast_problem problem;
    pcast_error err;
    assert_int_equal(pcast_problem_init(&problem, 1, 1, 1, 2, 4, DIM, &err), PCAST_OK);
    for (int j = 0; j < 4; j++)
        for (int c = 0; c < DIM; c++)
            problem.v[j * DIM + c] = (float)(1 << j);
    return problem;
}

static pcast_status answer(const pcast_problem *problem, const char *spec, float *o, float *lse,
                           pcast_error *err)
{
    pcast_kernel kernel;
    assert_int_equal(pcast_kernel_parse(spec, &kernel, NULL, err), PCAST_OK);
    return pcast_golden_simulate(problem, &kernel, pcast_cpu_detect(), o, lse, err);
}

static void assert_answer(const pcast_problem *problem, const char *spec, float first, float second)
{
    float o[2 * DIM], lse[2];
    pcast_error err = {""};
    if (answer(problem, spec, o, lse, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    for (int c = 0; c < DIM; c++) {
        assert_bits_f32(o[c], first);
        assert_bits_f32(o[DIM + c], second);
    }
}

static void test_problem_counts(void **state)
{
    (void)state;
    pcast_problem problem = powers();
    float o[2 * DIM], lse[2];
    pcast_error err;
    assert_answer(&problem, "paper", 3.75f, 3.75f);
    assert_answer(&problem, "paper:mask=causal;window_left=1", 3.75f, 3.75f);
    assert_answer(&problem, "fa3:learned_sink=denominator;sink_logit=9", 3.75f, 3.75f);
    problem.mask = PCAST_MASK_CAUSAL_TOP_LEFT;
    assert_answer(&problem, "paper", 1, 1.5f);
    problem.mask = PCAST_MASK_CAUSAL;
    problem.window_left = 2;
    assert_answer(&problem, "paper", 3, 6);
    problem.kv_lengths = malloc(sizeof *problem.kv_lengths);
    problem.kv_lengths[0] = 3;
    for (int c = 0; c < DIM; c++)
        problem.k[3 * DIM + c] = problem.v[3 * DIM + c] = NAN;
    assert_answer(&problem, "fa3", 1.5f, 3);
    pcast_problem_descale(&problem.v_descale, 1)[0] = 2;
    assert_answer(&problem, "fa3", 3, 6);
    problem.sink = calloc(1, sizeof *problem.sink);
    problem.sink[0] = 0;
    assert_int_equal(answer(&problem, "paper:learned_sink=denominator;lse=2", o, lse, &err),
                     PCAST_OK);
    assert_bits_f32(o[0], 2);
    assert_near((double)lse[0], log2(3), 1e-6);
    assert_int_equal(answer(&problem, "fa3", o, lse, &err), PCAST_ERR_VALUE);
    assert_non_null(strstr(err.text, "learned_sink: "));
    pcast_problem_free(&problem);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        float k, v;
        pcast_status status;
        const char *said;
    } cases[] = {
        {"paper:qkv=int8", 127, 1, PCAST_OK, ""},
        {"paper:qkv=int8", 128, 1, PCAST_ERR_VALUE, "qkv: int8 does not have 128, which is in k"},
        {"paper:qkv=int8", 0.5f, 1, PCAST_ERR_VALUE, "qkv: int8 does not have 0.5, which is in k"},
        {"paper:qkv=int8", 1, 0.5f, PCAST_OK, ""},
        {"paper:qkv=e5m2", 1, 1.25f, PCAST_OK, ""},
        {"paper:qkv=e5m2", 1, 1.125f, PCAST_ERR_VALUE, "1.125, which is in v"},
        {"paper:qkv=e4m3fnuz", 240, 1, PCAST_OK, ""},
        {"paper:qkv=e4m3fnuz", 256, 1, PCAST_ERR_VALUE, "qkv: e4m3fnuz does not have 256"},
        {"paper:qkv=bf16", 448, 0x1p-9f, PCAST_OK, ""},
        {"trtllm-gen:semantics=hardware", 1, 1, PCAST_ERR_UNAVAILABLE, "not settled"},
        {"paper:partition=64;splits=2", 1, 1, PCAST_ERR_VALUE, "partition: "},
    };
    float o[2 * DIM], lse[2];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcast_problem problem = powers();
        pcast_error err = {""};
        problem.k[5] = cases[i].k;
        problem.v[7] = cases[i].v;
        const pcast_status status = answer(&problem, cases[i].spec, o, lse, &err);
        if (status != cases[i].status || strstr(err.text, cases[i].said) == NULL)
            fail_msg("%s: status %d, said '%s'", cases[i].spec, (int)status, err.text);
        pcast_problem_free(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem_counts),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("golden_simulate", tests, NULL, NULL);
}
