/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of records: numbers against C's own %a and strtod, every bit back, damage refused; and
 * trials of a run in pieces against those of one run. */
#include "pcast/records.h"

#include "base/bits.h"
#include "pcast/experiment.h"
#include "unit.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The same line by printf, for numbers whose NaN has no sign. */
static void expected_line(const pcast_record *r, char *text, size_t size)
{
    const pcast_loss *l = &r->loss;
    char body[PCAST_RECORD_MAX];
    snprintf(body, sizeof body,
             "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %a %a %a %a %a %a",
             r->shape, r->trial, r->kernel, r->delta, l->other, l->flushed, l->outside,
             l->outside_flushed, l->subnormal, l->unmasked, l->saturated, l->channels, l->mass,
             l->kept, l->mse_given_p, l->error2, l->reference2, l->max_abs);
    snprintf(text, size, "%s %08x\n", body, (unsigned)pcast_record_check(body, strlen(body)));
}

static void check_round_trip(const pcast_record *record)
{
    char text[PCAST_RECORD_MAX], expected[PCAST_RECORD_MAX];
    pcast_record back;
    pcast_error err;
    memset(&back, 0x55, sizeof back);
    const size_t length = pcast_record_write(record, text);
    expected_line(record, expected, sizeof expected);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(text));
    if (pcast_record_read(text, length - 1, &back, &err) != PCAST_OK)
        fail_msg("'%s' %s", text, err.text);
    assert_memory_equal(&back, record, sizeof back); /* 18 fields of 8 bytes, no padding */
}

/* A 64-bit generator (splitmix64, Steele, Lea and Flood). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void set_reals(pcast_record *record, const double x[6])
{
    pcast_loss *loss = &record->loss;
    double *const reals[] = {&loss->mass,   &loss->kept,       &loss->mse_given_p,
                             &loss->error2, &loss->reference2, &loss->max_abs};
    for (int i = 0; i < 6; i++)
        *reals[i] = x[i];
}

static void test_check(void **state)
{
    (void)state;
    /* The check value of CRC-32 in G. Cook's catalogue of parametrised CRC algorithms. */
    assert_int_equal(pcast_record_check("123456789", 9), 0xCBF43926);
    assert_int_equal(pcast_record_check("", 0), 0);
}

static void test_numbers(void **state)
{
    (void)state;
    const double sets[][6] = {
        {0.0, -0.0, 1, -1, 0.1, 1.0 / 3},
        {INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN},
        {0x1p-1074, -0x1p-1074, 0x0.fffffffffffffp-1022, 0x0.8p-1022, 0x1.8p+0,
         0x1.fffffffffffffp-1},
        {0x1p+1023, 0x1p-1022, 10, 16, 0x1.0000000000001p+52, 1e300},
    };
    pcast_record record = {UINT64_MAX, UINT64_C(1) << 32, 0, 7, {.other = 4092, .channels = 128}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        set_reals(&record, sets[i]);
        check_round_trip(&record);
    }
    /* Any bits, NaN aside: printf gives those a sign. */
    uint64_t generator = 1;
    for (int n = 0; n < 100000; n++) {
        double x[6];
        for (int i = 0; i < 6; i++) {
            x[i] = pcast_f64_from_bits(next(&generator));
            x[i] = isnan(x[i]) ? 0 : x[i];
        }
        set_reals(&record, x);
        record.loss.flushed = next(&generator) >> (n % 64);
        check_round_trip(&record);
    }
}

static void test_nan(void **state)
{
    (void)state;
    const uint64_t nans[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001,
                             0xffffffffffffffff};
    pcast_record record = {0};
    char first[PCAST_RECORD_MAX], text[PCAST_RECORD_MAX];
    for (size_t i = 0; i < 4; i++) {
        pcast_record back;
        pcast_error err;
        record.loss.error2 = pcast_f64_from_bits(nans[i]);
        const size_t length = pcast_record_write(&record, text);
        if (i == 0)
            memcpy(first, text, sizeof first);
        assert_string_equal(text, first); /* a NaN's sign depends on the processor: not written */
        assert_non_null(strstr(text, " nan "));
        assert_null(strstr(text, "-nan"));
        assert_int_equal(pcast_record_read(text, length - 1, &back, &err), PCAST_OK);
        assert_true(isnan(back.loss.error2));
    }
}

/* The line with a check that fits, which must be refused all the same. */
static void check_refused(const char *body)
{
    char text[2 * PCAST_RECORD_MAX];
    pcast_record record;
    pcast_error err = {""};
    snprintf(text, sizeof text, "%s %08x", body, (unsigned)pcast_record_check(body, strlen(body)));
    if (pcast_record_read(text, strlen(text), &record, &err) != PCAST_ERR_INPUT)
        fail_msg("taken: '%s'", text);
    assert_true(strlen(err.text) > 0);
}

static void test_damage(void **state)
{
    (void)state;
    static const char good[] = "0 1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 inf -inf nan 0x1.8p-3";
    char text[PCAST_RECORD_MAX];
    pcast_record record;
    pcast_error err;
    snprintf(text, sizeof text, "%s %08x", good, (unsigned)pcast_record_check(good, strlen(good)));
    const size_t length = strlen(text);
    assert_int_equal(pcast_record_read(text, length, &record, &err), PCAST_OK);
    assert_int_equal(record.loss.channels, 11);
    assert_bits_f64(record.loss.max_abs, 0.1875);
    for (size_t at = 0; at < length; at++) /* any bit changed, any character lost or doubled */
        for (int bit = 0; bit < 8; bit++) {
            text[at] = (char)(text[at] ^ 1 << bit);
            if (pcast_record_read(text, length, &record, &err) == PCAST_OK)
                fail_msg("taken with bit %d of byte %zu changed: '%s'", bit, at, text);
            text[at] = (char)(text[at] ^ 1 << bit);
        }
    for (size_t at = 0; at < length; at++) {
        char other[PCAST_RECORD_MAX];
        snprintf(other, sizeof other, "%.*s%s", (int)at, text, text + at + 1);
        assert_int_equal(pcast_record_read(other, length - 1, &record, &err), PCAST_ERR_INPUT);
        snprintf(other, sizeof other, "%.*s%s", (int)at + 1, text, text + at);
        assert_int_equal(pcast_record_read(other, length + 1, &record, &err), PCAST_ERR_INPUT);
        assert_int_equal(pcast_record_read(text, at, &record, &err), PCAST_ERR_INPUT);
    }
    /* Other spellings of the same numbers, and numbers there are none of. */
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1.0p+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 1 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0X1P+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 011 0x1p+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 -1 0x1p+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 18446744073709551616 0x1p+0 0x0p+0 inf -inf nan 0x1p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p+1024 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p-1023 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x0.8p-1021 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1.00000000000001p+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 infinity -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 inf -inf -nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 inf -inf nan 0x1.8p-3 ");
    check_refused("0  1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 inf -inf nan 0x1.8p-3");
    check_refused("0 1 2 3 4 5 6 7 8 9 10 11 0x1p+0 0x0p+0 inf -inf nan");
    check_refused("");
}

enum { KERNELS = 2, DELTAS = 2, TRIALS = 37, CONFIGS = KERNELS * DELTAS };

typedef struct collected {
    pcast_loss losses[TRIALS][CONFIGS];
    size_t at, next;
} collected;

static pcast_status collect(void *context, size_t row, const pcast_loss *losses)
{
    collected *all = context;
    assert_int_equal(row, all->next++);
    memcpy(all->losses[all->at + row], losses, sizeof all->losses[0]);
    return PCAST_OK;
}

static pcast_status stop_at_five(void *context, size_t row, const pcast_loss *losses)
{
    (void)losses;
    *(size_t *)context = row;
    return row == 5 ? PCAST_ERR_OUTPUT : PCAST_OK;
}

/* Trials run in pieces are those of one run, and their tally is its summary, in bits. */
static void test_pieces(void **state)
{
    (void)state;
    static collected whole, pieces;
    const double deltas[DELTAS] = {2, 7};
    const pcast_kernel kernels[KERNELS] = {
        {.block = 64, .scale = 1}, {.order = PCAST_ORDER_REVERSE, .block = 32, .scale = 448}};
    pcast_synthetic experiment = {.keys = 200,
                                  .dim = 5,
                                  .sinks = 3,
                                  .seed = 9,
                                  .trials = TRIALS,
                                  .deltas = deltas,
                                  .delta_count = DELTAS};
    pcast_run run = {.kernels = kernels,
                     .kernel_count = KERNELS,
                     .threads = 2,
                     .cpu = pcast_cpu_detect(),
                     .each_row = collect,
                     .row_context = &whole};
    pcast_summary expected[CONFIGS], summaries[CONFIGS];
    pcast_error err;
    assert_int_equal(pcast_synthetic_run(&experiment, &run, expected, &err), PCAST_OK);
    assert_int_equal(whole.next, TRIALS);
    run.row_context = &pieces;
    const size_t ends[] = {1, 20, TRIALS};
    for (size_t i = 0; i < 3; i++) {
        pieces.next = 0;
        experiment.first_trial = pieces.at;
        experiment.trials = ends[i] - pieces.at;
        assert_int_equal(pcast_synthetic_run(&experiment, &run, summaries, &err), PCAST_OK);
        pieces.at = ends[i];
    }
    assert_memory_equal(pieces.losses, whole.losses, sizeof whole.losses);
    for (size_t i = 0; i < CONFIGS; i++) {
        pcast_tally tally = {0};
        for (size_t t = 0; t < TRIALS; t++)
            pcast_tally_add(&tally, &pieces.losses[t][i]);
        const pcast_summary summary = pcast_tally_summary(&tally);
        assert_memory_equal(&summary, &expected[i], sizeof summary);
    }

    size_t last = 0;
    run.each_row = stop_at_five;
    run.row_context = &last;
    assert_int_equal(pcast_synthetic_run(&experiment, &run, summaries, &err), PCAST_ERR_OUTPUT);
    assert_int_equal(last, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),  cmocka_unit_test(test_numbers), cmocka_unit_test(test_nan),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
