/* SPDX-License-Identifier: MIT */
/* The strict kernel replayed on the CPU: every bit that the reference gives, whatever the order of
 * its threads.
 *
 * usage: test_rows [SCHEDULES]   for each head, 3 where not given */
#include "cuda/block.h"
#include "cuda/strict.h"

#include "unit.h"

#include <stdlib.h>

enum { THREADS = 128, SHARED_MOST = 227 << 10 };

static int schedules = 3;

static pcast_status run_replay(void *context, const pcast_row_job *job, pcast_error *err)
{
    uint64_t *seed = context;
    pcast_row_schedule schedule;
    pcast_status status = pcast_row_schedule_init(&schedule, job, 1, SHARED_MOST, err);
    if (status == PCAST_OK)
        status = pcast_row_schedule_replay(&schedule, *seed, err);
    *seed += 1000;
    pcast_row_schedule_free(&schedule);
    return status;
}

static void test_heads(void **state)
{
    (void)state;
    pcast_check_result result = {0};
    pcast_error err = {""};
    uint64_t seed = 1;
    if (pcast_strict_check(run_replay, &seed, schedules, 0, &result, &err) != PCAST_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < result.example_count; i++)
        print_error("%s: %08llX, not %08llX\n", result.examples[i].input,
                    (unsigned long long)result.examples[i].device,
                    (unsigned long long)result.examples[i].model);
    for (int i = 0; i < result.count_count; i++)
        print_message("%s: %llu\n", result.counts[i].name,
                      (unsigned long long)result.counts[i].value);
    assert_int_equal(result.different, 0);
    assert_true(result.compared > 300000);
}

/* A difference is found and described. */
static void test_compare(void **state)
{
    (void)state;
    const pcast_strict_shape shape = {3, 32, 32, 70, PCAST_MASK_CAUSAL, 0, 0, 2, 3, 0};
    pcast_strict_head head;
    pcast_check_result result = {0};
    pcast_error err = {""};
    uint64_t seed = 7;
    assert_int_equal(pcast_strict_head_init(&head, &pcast_preset_at(1)->kernel, &shape, 1, &err),
                     PCAST_OK);
    const pcast_row_job job = pcast_strict_head_job(&head, 0);
    pcast_strict_head_compare(&head, "poison", &result);
    assert_true(result.different > 0);
    assert_int_equal(run_replay(&seed, &job, &err), PCAST_OK);
    result = (pcast_check_result){0};
    pcast_strict_head_compare(&head, "head", &result);
    assert_int_equal(result.different, 0);
    head.device.codes[0] ^= 1;
    head.device.o[33] = -head.device.o[33];
    pcast_strict_head_compare(&head, "head", &result);
    assert_int_equal(result.different, 2);
    assert_string_equal(result.examples[0].input, "head: O, number 33");
    assert_string_equal(result.examples[1].input, "head: cast P, number 0");
    pcast_strict_head_free(&head);
}

/* ---- The replay itself ---- */

typedef struct faulty {
    int kind; /* 0: none; 1: two barriers; 2: no barrier; 3: some end before it */
    float *out;
} faulty;

static void faulty_kernel(pcast_block *self, const void *arguments, void *shared)
{
    const faulty *fault = arguments;
    float *memory = shared;
    memory[self->thread] = (float)self->thread;
    if (fault->kind == 3 && self->thread > 100)
        return;
    if (fault->kind == 0 || fault->kind == 3 || (fault->kind == 1 && self->thread % 2 == 0))
        pcast_block_sync(self);
    else if (fault->kind == 2)
        pcast_warp_read(self, 0, self->thread);
    if (fault->kind == 1 && self->thread % 2 == 1)
        pcast_block_sync(self);
    fault->out[self->thread] = memory[(self->thread + 65) % THREADS];
}

static pcast_status run_faulty(int kind, float *out, uint64_t seed, pcast_error *err)
{
    return pcast_replay_block(faulty_kernel, &(faulty){kind, out}, THREADS, THREADS * sizeof *out,
                              seed, err);
}

static void test_replay(void **state)
{
    (void)state;
    float out[THREADS];
    size_t wrong = 0;
    pcast_error err = {""};
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_int_equal(run_faulty(0, out, seed, &err), PCAST_OK);
        for (unsigned t = 0; t < THREADS; t++)
            assert_true(out[t] == (float)((t + 65) % THREADS));
        assert_int_equal(run_faulty(2, out, seed, &err), PCAST_OK);
        for (unsigned t = 0; t < THREADS; t++)
            wrong += !(out[t] == (float)((t + 65) % THREADS));
    }
    assert_true(wrong > 0);
    assert_int_equal(run_faulty(1, out, 1, &err), PCAST_ERR_VALUE);
    assert_true(strstr(err.text, "divergent barrier: thread ") == err.text);
    assert_int_equal(run_faulty(3, out, 1, &err), PCAST_ERR_VALUE);
    assert_true(strstr(err.text, "others have ended") != NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        schedules = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
