/* SPDX-License-Identifier: MIT */
/* The attention kernel replayed on the CPU against its model, the preset pcast-wgmma: every bit,
 * whatever the order of its threads; fragments and tiles are bijections.
 *
 * usage: test_attention [SCHEDULES]   for each head, 2 where not given */
#include "cuda/attention_check.h"
#include "cuda/attention_kernel.h"

#include "unit.h"

#include <stdlib.h>

static int schedules = 2;

static pcast_status run_replay(void *context, const pcast_attention_job *job, pcast_error *err)
{
    uint64_t *seed = context;
    pcast_attention_schedule schedule;
    pcast_status status = pcast_attention_schedule_init(&schedule, job, err);
    if (status == PCAST_OK)
        status = pcast_attention_replay(&schedule, *seed, err);
    *seed += 1000;
    pcast_attention_schedule_free(&schedule);
    return status;
}

static void test_heads(void **state)
{
    (void)state;
    pcast_check_result result = {0};
    pcast_error err = {""};
    uint64_t seed = 1;
    if (pcast_attention_check(run_replay, &seed, schedules, 0, &result, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < result.example_count; i++)
        print_error("%s: %08llX, not %08llX\n", result.examples[i].input,
                    (unsigned long long)result.examples[i].device,
                    (unsigned long long)result.examples[i].model);
    for (int i = 0; i < result.count_count; i++)
        print_message("%s: %llu\n", result.counts[i].name,
                      (unsigned long long)result.counts[i].value);
    assert_int_equal(result.different, 0);
}

/* A difference is found and described. */
static void test_compare(void **state)
{
    (void)state;
    const pcast_attention_shape shape = {
        5, 64, 70, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_RANDOM, "out_format=f32"};
    pcast_attention_head head;
    pcast_check_result result = {0};
    pcast_error err = {""};
    uint64_t seed = 7;
    assert_int_equal(pcast_attention_head_init(&head, &shape, 1, &err), PCAST_OK);
    assert_int_equal(run_replay(&seed, &head.job, &err), PCAST_OK);
    pcast_attention_head_compare(&head, "head", &result);
    assert_int_equal(result.different, 0);
    head.codes[71] ^= 1;
    head.o[65] = -head.o[65];
    pcast_attention_head_compare(&head, "head", &result);
    assert_int_equal(result.different, 2);
    assert_string_equal(result.examples[0].input, "head: cast P, number 71");
    assert_string_equal(result.examples[1].input, "head: O, number 65");
    pcast_attention_head_free(&head);
}

/* Every code has a place of its own; the keys that a thread holds of S are those that it holds of
 * P. */
static void test_layouts(void **state)
{
    (void)state;
    static uint8_t taken[3][PCAST_ATTENTION_KEYS * 256];
    for (unsigned row = 0; row < PCAST_ATTENTION_KEYS; row++)
        for (unsigned channel = 0; channel < 256; channel++) {
            const unsigned at = pcast_attention_row_at(row, channel);
            const unsigned value = pcast_attention_value_at(row, channel);
            assert_true(at < sizeof taken[0] && value < sizeof taken[0]);
            assert_false(taken[0][at]++ || taken[1][value]++);
        }
    for (unsigned t = 0; t < 4; t++)
        for (unsigned n = 0; n < PCAST_ATTENTION_COLUMNS; n++) {
            const unsigned key = n / 2 * 8 + t * 2 + n % 2;
            const unsigned place = pcast_attention_place(key);
            const unsigned first = pcast_fragment_a_k(t, n % 8 / 4 * 2);
            assert_true(place >= first && place < first + 4);
            assert_int_equal(place - first, n % 4);
            assert_int_equal(pcast_fragment_d_column(t, pcast_fragment_d_register(0, n)), key);
        }
}

/* ---- Misuse of the tensor core ---- */

static void misuse(pcast_block *self, const void *arguments, void *shared)
{
    const int kind = *(const int *)arguments;
    const uint32_t a[4] = {0};
    uint8_t *tile = shared;
    float d[PCAST_MMA_REGISTERS] = {0};
    pcast_mma mma = {PCAST_MMA_START};
    for (unsigned i = self->thread; i < PCAST_MMA_TILE_BYTES; i += 128)
        tile[i] = 0;
    pcast_block_sync(self);
    if (kind == 5)
        pcast_mma_copy(self, &mma, tile, tile + 1024, 1);
    if (kind != 1)
        pcast_mma_begin(self, &mma);
    if (kind != 2)
        pcast_mma_registers(self, &mma, d, a, tile + (kind == 3 && self->thread == 5 ? 16 : 0), 0);
    if (kind == 4)
        pcast_mma_begin(self, &mma);
    pcast_mma_wait(self, &mma);
}

static void test_misuse(void **state)
{
    (void)state;
    static const char *const errors[] = {NULL,
                                         "wgmma: a product is issued outside of a group",
                                         "wgmma: nothing to wait for",
                                         "wgmma: threads of a warpgroup issue different products",
                                         "wgmma: a group begins before the last one was waited for",
                                         "cp.async: copies are not waited for before products"};
    for (int kind = 0; kind < 6; kind++) {
        pcast_error err = {""};
        const pcast_status status =
            pcast_replay_block(misuse, &kind, 128, PCAST_MMA_TILE_BYTES + 16, 3, &err);
        assert_int_equal(status, errors[kind] == NULL ? PCAST_OK : PCAST_ERR_VALUE);
        if (errors[kind] != NULL)
            assert_string_equal(err.text, errors[kind]);
    }
}

/* What the kernel's source does not have is refused. */
static void test_refusals(void **state)
{
    (void)state;
    const pcast_attention_shape shape = {5, 64, 70, PCAST_MASK_NONE, 0, 0, PCAST_ATTENTION_RANDOM,
                                         ""};
    pcast_attention_head head;
    pcast_error err = {""};
    uint64_t seed = 0;
    assert_int_equal(pcast_attention_head_init(&head, &shape, 1, &err), PCAST_OK);
    const pcast_kernel good = head.plan.kernel;
    assert_int_equal(run_replay(&seed, &head.job, &err), PCAST_OK);
    for (int i = 0; i < 7; i++) {
        pcast_kernel *kernel = &head.plan.kernel;
        *kernel = good;
        kernel->block = i == 0 ? 128 : kernel->block;
        kernel->exp_unit = i == 1 ? PCAST_EXP_UNIT_EXACT : kernel->exp_unit;
        kernel->promotion = i == 2 ? 2 : kernel->promotion;
        kernel->row_sum = i == 3 ? PCAST_ROW_SUM_CAST : kernel->row_sum;
        kernel->semantics = i == 4 ? PCAST_SEMANTICS_FP32 : kernel->semantics;
        kernel->rescale_threshold = i == 5 ? 4 : kernel->rescale_threshold;
        head.job.dim = i == 6 ? 96 : 64;
        assert_int_equal(run_replay(&seed, &head.job, &err), PCAST_ERR_VALUE);
    }
    pcast_attention_head_free(&head);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        schedules = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_compare), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
