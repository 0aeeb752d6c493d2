/* SPDX-License-Identifier: MIT */
/* The exact reference against 200-bit arithmetic, and the loss of a row small enough to work out by
 * hand. */
#include "measure/loss.h"
#include "measure/reference.h"

#include "unit.h"

#include <math.h>
#include <mpfr.h>

static void test_reference(void **state)
{
    (void)state;
    enum { KEYS = 500, FIRST = 4, DIM = 3 };
    static float scores[KEYS], values[KEYS * DIM];
    uint64_t random = 4;
    double max = -INFINITY, first_max = -INFINITY;
    for (int j = 0; j < KEYS; j++) {
        scores[j] = j % 50 == 7 ? -INFINITY : (float)(30 * test_uniform(&random) - 10);
        max = scores[j] > max ? scores[j] : max;
        first_max = j < FIRST ? max : first_max;
        for (int c = 0; c < DIM; c++) /* masked keys hold what must not be read */
            values[j * DIM + c] = isinf(scores[j]) ? NAN : (float)(test_uniform(&random) - 0.5);
    }
    double o[DIM], lost[DIM];
    pcast_reference reference;
    pcast_reference_start(&reference, pcast_measure_engine_for(pcast_cpu_detect()), max, o, lost,
                          DIM);
    pcast_reference_add(&reference, scores, values, 200);
    pcast_reference_add(&reference, scores + 200, values + 200 * DIM, KEYS - 200);
    pcast_reference_finish(&reference);
    /* The same in two parts, merged either way round. */
    double parts_o[2][DIM], parts_lost[2][DIM];
    pcast_reference parts[2];
    for (int swap = 0; swap < 2; swap++) {
        for (int i = 0; i < 2; i++)
            pcast_reference_start(&parts[i], pcast_measure_engine_for(pcast_cpu_detect()),
                                  i == 0 ? first_max : max, parts_o[i], parts_lost[i], DIM);
        pcast_reference_add(&parts[0], scores, values, FIRST);
        pcast_reference_add(&parts[1], scores + FIRST, values + FIRST * DIM, KEYS - FIRST);
        pcast_reference_merge(&parts[swap], &parts[1 - swap]);
        pcast_reference_finish(&parts[swap]);
        assert_bits_f64(parts[swap].max, max);
        for (int c = 0; c < DIM; c++)
            assert_near(parts_o[swap][c], o[c], 4e-16);
    }

    mpfr_t w, l, sum, term;
    mpfr_inits2(200, w, l, sum, term, (mpfr_ptr)NULL);
    for (int c = 0; c < DIM; c++) {
        mpfr_set_zero(l, 1);
        mpfr_set_zero(sum, 1);
        for (int j = 0; j < KEYS; j++) {
            if (isinf(scores[j]))
                continue;
            mpfr_set_d(w, (double)scores[j], MPFR_RNDN);
            mpfr_exp(w, w, MPFR_RNDN);
            mpfr_add(l, l, w, MPFR_RNDN);
            mpfr_mul_d(term, w, (double)values[j * DIM + c], MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        mpfr_div(sum, sum, l, MPFR_RNDN);
        assert_near(o[c], mpfr_get_d(sum, MPFR_RNDN), 2e-16);
    }
    mpfr_clears(w, l, sum, term, (mpfr_ptr)NULL);
}

/* Large values that cancel: plain sums would lose the small rest, compensated ones keep it. */
static void test_reference_is_compensated(void **state)
{
    (void)state;
    const float scores[4] = {0, 0, 0, 0}, values[4] = {0x1p60f, 1, -0x1p60f, 2};
    double o, lost;
    pcast_reference reference;
    pcast_reference_start(&reference, pcast_measure_engine_for(PCAST_CPU_SCALAR), 0, &o, &lost, 1);
    pcast_reference_add(&reference, scores, values, 4);
    pcast_reference_finish(&reference);
    assert_bits_f64(o, 0.75);
    /* And in l: 1 + 2^20 weights of 2^-54 each, of which a plain sum loses every one. */
    pcast_sum sum = {0, 0};
    pcast_sum_add(&sum, 1);
    for (int i = 0; i < 1 << 20; i++)
        pcast_sum_add(&sum, 0x1p-54);
    assert_bits_f64(sum.value + sum.lost, 1 + 0x1p-34);
}

/* Two blocks of a row with S = 1 by hand.
 * First: p = {1 (sink), 2^-10 (flushes: a tie), 2^-8 (code 2, exact), 17/16 * 2^-3 (a tie, to
 * 2^-3)}, alpha 0. Second: alpha = 1/2, p = {3/4 (exact), 2^-11 (flushes), 0 (masked)}. l = 2. */
static void test_loss(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 4, .scale = 1};
    pcast_loss_units units;
    pcast_loss_units_init(&units, &kernel, pcast_cpu_detect());
    pcast_loss_meter meter;
    pcast_loss_part part;
    pcast_loss_start(&meter, &units, &part, 1);

    const float p1[] = {1, 0x1p-10f, 0x1p-8f, 0x1.1p-3f}, p2[] = {0.75f, 0x1p-11f, 0};
    const uint32_t c1[] = {0x38, 0x00, 0x02, 0x20}, c2[] = {0x34, 0x00, 0x00};
    const uint8_t s1[] = {1, 0, 0, 0}, s2[] = {0, 0, 0};
    const pcast_tile first = {
        .count = 4, .visible = 4, .alpha = 0, .p = p1, .scaled = p1, .p8 = c1};
    const pcast_tile second = {
        .first_key = 4, .count = 3, .visible = 3, .alpha = 0.5f, .p = p2, .scaled = p2, .p8 = c2};
    pcast_loss_tile(&meter, &first, s1);
    pcast_loss_tile(&meter, &second, s2);
    float o[] = {1, 3};
    pcast_split split = {.l = 2, .weight = 1};
    const pcast_row row = {.dim = 2, .split_count = 1, .splits = &split, .o = o};
    const double reference[] = {1.5, 2.75};
    const pcast_loss loss = pcast_loss_finish(&meter, &row, reference);

    assert_int_equal(loss.other, 5);
    assert_int_equal(loss.flushed, 2);
    assert_int_equal(loss.outside, 2);
    assert_int_equal(loss.outside_flushed, 1);
    assert_int_equal(loss.subnormal, 1);
    assert_int_equal(loss.unmasked, 6);
    assert_int_equal(loss.saturated, 0);
    const double mass1 = 0x1p-10 + 0x1p-8 + 0x1.1p-3, kept1 = 0x1p-8 + 0x1p-3;
    assert_bits_f64(loss.mass, (0.5 * mass1 + 0.75 + 0x1p-11) / 2);
    assert_bits_f64(loss.kept, (0.5 * kept1 + 0.75) / 2);
    const double e1 = 0x1p-20 + 0x1p-14, e2 = 0x1p-22; /* 2^-10 and 2^-7 lost, then 2^-11 */
    assert_bits_f64(loss.mse_given_p, (0.25 * e1 + e2) / 4);
    assert_bits_f64(loss.error2, 0.25 + 0.0625);
    assert_bits_f64(loss.reference2, 2.25 + 7.5625);
    assert_bits_f64(loss.max_abs, 0.5);
    assert_int_equal(loss.channels, 2);
}

static void test_saturated_and_nan(void **state)
{
    (void)state;
    const pcast_kernel kernel = {.block = 4, .scale = 464};
    pcast_loss_units units;
    pcast_loss_units_init(&units, &kernel, pcast_cpu_detect());
    pcast_loss_meter meter;
    pcast_loss_part part;
    pcast_loss_start(&meter, &units, &part, 1);
    const float p[] = {1, 1.0000001f, 0.9f}; /* p * S = 464, just above, below */
    const float scaled[] = {464, 464.00003f, 417.6f};
    const uint32_t c[] = {0x7E, 0x7E, 0x7D};
    const uint8_t sinks[] = {0, 1, 0};
    const pcast_tile tile = {.count = 3, .visible = 3, .p = p, .scaled = scaled, .p8 = c};
    pcast_loss_tile(&meter, &tile, sinks);
    float o[] = {NAN, 1};
    pcast_split split = {.l = 1, .weight = 1};
    const pcast_row row = {.dim = 2, .split_count = 1, .splits = &split, .o = o};
    const double reference[] = {0, 0};
    const pcast_loss loss = pcast_loss_finish(&meter, &row, reference);
    assert_int_equal(loss.saturated, 1);
    assert_int_equal(loss.unmasked, 3);
    assert_true(isnan(loss.max_abs) &&
                isnan(loss.error2)); /* the later, smaller error does not hide it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_reference_is_compensated),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_saturated_and_nan),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
