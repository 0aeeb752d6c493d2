/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The theory against values worked out independently (mpmath, see tests/oracle/theory_mpmath.py for
 * a grid) and against limits that can be seen without computing. */
#include "pcast/tensor_core.h"
#include "pcast/theory.h"

#include "theory/visits.h"

#include "unit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <math.h>

static pcast_theory_row make(pcast_order order, size_t keys, size_t block, size_t sinks,
                             double scale, double delta)
{
    return (pcast_theory_row){order, keys, sinks, block, scale, delta, 1};
}

static void test_published_values(void **state)
{
    (void)state;
    assert_near(pcast_theory_delta_k(4), 1.0293753730, 1e-10);
    assert_near(pcast_theory_delta_k(1), 0, 1e-12);
    assert_near(pcast_theory_delta_k(2), 0.5641895835477563, 1e-12); /* 1 / sqrt(pi) */
    assert_near(pcast_theory_delta_k(3), 0.8462843753216344, 1e-12); /* 1.5 / sqrt(pi) */
    assert_near(pcast_theory_delta_k_sd(1), 1, 1e-12);
    assert_near(pcast_theory_delta_k_sd(2), 0.8256452711550, 1e-10); /* sqrt(1 - 1 / pi) */
    assert_near(pcast_theory_delta_c(1, 4, 1), 5.902096, 5e-7);
    assert_near(pcast_theory_delta_c(256, 4, 1), 11.447274, 5e-7);
    assert_near(pcast_theory_delta_c(448, 4, 1), 12.006890, 5e-7);
    assert_near(pcast_theory_f(5, 1, 4, 1), 0.1835, 5e-5);
    assert_near(pcast_theory_f(6, 1, 4, 1), 0.5390, 5e-5);
    assert_near(pcast_theory_f(6.5, 1, 4, 1), 0.7250, 5e-5);
    assert_near(pcast_theory_f(7, 1, 4, 1), 0.8639, 5e-5);
    for (double sigma = 0.5; sigma < 4; sigma *= 2)
        assert_near(pcast_theory_f(pcast_theory_delta_c(256, 4, sigma), 256, 4, sigma), 0.5, 1e-12);
    for (double u = 0.001; u < 1; u += 0.0499)
        assert_near(pcast_theory_sink_max_cdf(pcast_theory_sink_max_quantile(u, 4), 4), u, 1e-12);
}

static void test_expected_underflow(void **state)
{
    (void)state;
    const double delta[] = {5, 6, 6.5, 7}, expected[] = {0.2286, 0.5287, 0.6858, 0.8156};
    for (int i = 0; i < 4; i++) {
        const pcast_theory_row row = make(PCAST_ORDER_FORWARD, 4096, 128, 4, 1, delta[i]);
        assert_near(pcast_theory_underflow(&row).outside, expected[i], 5e-5);
    }
    /* Reverse order, N = 10^6, S = 256, 12.4766 deep: a key that sees all others as well as
     * harmless sinks is lost with probability 5.45e-13; averaged over positions it is half of that;
     * the bound is 5.6e-13. */
    const pcast_theory_row reverse = make(PCAST_ORDER_REVERSE, 1000000, 128, 4, 256, -60);
    assert_near(pcast_theory_underflow(&reverse).inside / 5.45e-13, 1, 1e-2);
    assert_near(pcast_theory_underflow(&reverse).outside / 5.45e-13, 0.5, 1e-2);
    assert_near(pcast_theory_reverse_bound(1000000, 256, 1) / 5.6e-13, 1, 1e-2);
    assert_near(pcast_theory_reverse_bound(4096, 256, 1) / 2.3e-15, 1, 1e-2);
    /* Sinks far up: everything visited after them is lost, what came before is not. */
    const pcast_theory_row far = make(PCAST_ORDER_FORWARD, 4096, 128, 4, 1, 60);
    assert_near(pcast_theory_underflow(&far).all, 1, 1e-9);
    const pcast_theory_row far_reverse = make(PCAST_ORDER_REVERSE, 4096, 128, 4, 1, 60);
    const pcast_theory_fractions lost = pcast_theory_underflow(&far_reverse);
    assert_near(lost.inside, 1, 1e-9);
    assert_near(lost.all, (124 * lost.inside + 3968 * lost.outside) / 4092, 1e-12);
    /* S so small that even p = 1 is lost. */
    for (int order = 0; order < 2; order++) {
        const pcast_theory_row tiny = make((pcast_order)order, 5, 4, 4, 0x1p-10, 0);
        assert_bits_f64(pcast_theory_underflow(&tiny).all, 1);
    }
    /* Scores twice as wide with everything else doubled, ln S included, lose the same keys. */
    pcast_theory_row wide = make(PCAST_ORDER_FORWARD, 500, 64, 3, 0x1p-9, 2);
    const double narrow = pcast_theory_underflow(&wide).all; /* ln 2 deep */
    wide.scale = 0x1p-8;                                     /* 2 ln 2 deep */
    wide.sigma = 2;
    wide.delta = 4;
    assert_near(pcast_theory_underflow(&wide).all / narrow, 1, 1e-9);
}

/* Blocks summed one by one instead of by closed form, on a row with a short last block. */
static void test_geometric_sums(void **state)
{
    (void)state;
    for (int n = 1; n < 400; n = n * 3 + 1)
        for (double rate = 1e-9; rate < 20; rate *= 7) {
            double sum = 0, weighted = 0, deficit = 0;
            for (int j = 0; j < n; j++) {
                sum += exp(-rate * j);
                weighted += j * exp(-rate * j);
                deficit += -expm1(-rate * j);
            }
            const pcast_geometric closed = pcast_geometric_sums(n, rate);
            assert_near(closed.sum / sum, 1, 1e-11);
            assert_near(closed.weighted, weighted, 1e-8 * (weighted + 1e-300));
            assert_near(closed.deficit, deficit, 1e-8 * (deficit + 1e-300));
        }
}

static void test_loss(void **state)
{
    (void)state;
    /* One other key and one sink far above it, each in a block of its own: forward, p = e^(s - m)
     * is flushed, so the error is E[p^2] / (1 + ...)^2 -> E[e^(2 (s1 - s0))] = e^(4 - 2 Delta), and
     * nothing is kept. */
    const pcast_theory_row pair = make(PCAST_ORDER_FORWARD, 2, 1, 1, 1, 22);
    assert_near(pcast_theory_expected_loss(&pair).mse / exp(4 - 44), 1, 1e-4);
    assert_near(pcast_theory_mse(&pair) / pcast_theory_expected_loss(&pair).mse, 1, 1e-6);
    assert_near(pcast_theory_expected_loss(&pair).mass_kept, 0, 1e-3);
    /* Reverse: cast as its own maximum, exactly, before the sink comes. */
    const pcast_theory_row reverse = make(PCAST_ORDER_REVERSE, 2, 1, 1, 1, 22);
    assert_near(pcast_theory_expected_loss(&reverse).mass_kept, 1, 1e-6);
    /* With S = 500 the maximum saturates: 448/500 of it is left. */
    const pcast_theory_row saturating = make(PCAST_ORDER_REVERSE, 2, 1, 1, 500, 22);
    assert_near(pcast_theory_expected_loss(&saturating).mass_kept, 448.0 / 500, 1e-6);
    /* All keys flushed: the error is the whole sum p^2 / l^2, here of 8 equal shares in the limit
     * of small sigma. */
    pcast_theory_row flat = make(PCAST_ORDER_FORWARD, 8, 8, 2, 0x1p-12, 0);
    flat.sigma = 0.1; /* E[sum p^2 / l^2] = 1/8 (1 + 7/8 sigma^2 + O(sigma^4)) */
    assert_near(pcast_theory_expected_loss(&flat).mse, (1 + 0.01 * 7 / 8) / 8, 1e-4);
}

/* Rows in company have the bits that they have alone: on and between steps of the shared tables,
 * with other orders, sizes, S and sigma beside them, and rows outside the domain among them. */
static void test_rows_together(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    static const double deltas[ROWS] = {0, 12, 0.3, -7.5, 60, 1.25, 6.5, 101, 3, 0.3, 2, 5};
    pcast_theory_row rows[ROWS];
    pcast_theory_loss losses[ROWS];
    double mse[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = make(i % 2 != 0 ? PCAST_ORDER_REVERSE : PCAST_ORDER_FORWARD, 200 + 900 * i, 128,
                       1 + i % 5, i < 9 ? 1 : 256, deltas[i]);
        rows[i].sigma = i == 11 ? 0.7 : 1;
    }
    pcast_theory_expected_losses(rows, ROWS, losses);
    pcast_theory_mse_rows(rows, ROWS, mse);
    for (size_t i = 0; i < ROWS; i++) {
        const pcast_theory_loss alone = pcast_theory_expected_loss(&rows[i]);
        assert_bits_f64(losses[i].mse, alone.mse);
        assert_bits_f64(losses[i].mass, alone.mass);
        assert_bits_f64(losses[i].mass_kept, alone.mass_kept);
        assert_bits_f64(mse[i], pcast_theory_mse(&rows[i]));
        assert_true(isnan(mse[i]) == (i == 7));
    }
}

/* The chain's mean is the double integral's, by another route; the spread of a row that cannot vary
 * is none. */
static void test_wide_domain(void **state)
{
    (void)state;
    /* Long rows and far sinks answer at once, and say NaN where a quantity is outside its own
     * domain. */
    pcast_theory_row row = make(PCAST_ORDER_FORWARD, (size_t)1 << 32, 128, 4, 1, 6.5);
    assert_bits_f64(pcast_theory_saturation(&row, 0), 0);
    assert_true(isnan(pcast_theory_saturation(&row, 12)));
    assert_true(pcast_theory_mse(&row) > 0 && pcast_theory_underflow(&row).all > 0.68);
    row.keys = 4096;
    row.delta = 1000;
    assert_near(pcast_theory_underflow(&row).all, 1, 1e-12);
    assert_bits_f64(pcast_theory_subnormal(&row).all, 0);
    assert_true(isnan(pcast_theory_mse(&row)) && isnan(pcast_theory_mse_leading(&row)));
    /* Both routes to the mean error at the ends of the domain of sigma. */
    for (double sigma = 0.1; sigma < 6; sigma *= 49) {
        pcast_theory_row ends = make(PCAST_ORDER_REVERSE, 40, 16, 2, 256, 3);
        ends.sigma = sigma;
        assert_near(pcast_theory_mse_spread(&ends).mean / pcast_theory_mse(&ends), 1, 1e-3);
    }
}

static void test_spread(void **state)
{
    (void)state;
    const struct {
        pcast_order order;
        size_t keys, block;
        double scale, delta, sigma;
    } rows[] = {{PCAST_ORDER_FORWARD, 300, 64, 1, 6, 1},
                {PCAST_ORDER_REVERSE, 300, 64, 1, 6, 1},
                {PCAST_ORDER_FORWARD, 1000, 128, 448, 9, 1},
                {PCAST_ORDER_REVERSE, 130, 64, 600, 2, 2},
                {PCAST_ORDER_FORWARD, 50, 64, 16, -3, 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pcast_theory_row row = {rows[i].order, rows[i].keys, 3, rows[i].block, rows[i].scale,
                                      rows[i].delta, rows[i].sigma};
        const pcast_theory_spread spread = pcast_theory_mse_spread(&row);
        assert_near(spread.mean / pcast_theory_mse(&row), 1, 1e-3);
        assert_true(spread.sd > 0 && spread.sd < 3 * spread.mean);
    }
    pcast_theory_row bad = make(PCAST_ORDER_FORWARD, 4, 128, 4, 1, 5);
    assert_true(isnan(pcast_theory_mse_spread(&bad).sd));
}

static void test_grid(void **state)
{
    (void)state;
    assert_bits_f64(pcast_theory_dp(256), 0x1p-4);
    assert_near(pcast_theory_dp(448), 1.0 / 14, 1e-15);
    assert_near(pcast_theory_dp(257), 0.1245, 5e-5);
    for (double scale = 0x1p-6; scale < 1000;
         scale *= 1.0073) /* the formula is a second derivation */
        assert_bits_f64(pcast_theory_dp(scale), pcast_theory_dp_formula(scale));
    for (int k = -5; k <= 8; k++) {
        assert_bits_f64(pcast_theory_dp(ldexp(1, k)), 0x1p-4);
        assert_bits_f64(pcast_theory_worst_point(ldexp(1, k)), 0x1p-5);
        assert_near(pcast_theory_worst_point(ldexp(1.03125, k)), 0.0303, 5e-5);
        assert_true(pcast_theory_scale_is_exact(ldexp(1, k)));
    }
    for (double scale = 0x1p-6 * 1.001; scale <= 448; scale *= 1.0173)
        assert_true(pcast_theory_dp(scale) > 0x1p-4);
    assert_false(pcast_theory_scale_is_exact(448));
    assert_bits_f64(pcast_theory_coverage(256), 0x1p-14);
    assert_near(pcast_theory_worst_point(500), 52.0 / 500, 1e-15);
    assert_near(pcast_theory_headroom(256, 0.75), log2(448.0 / 256) - 0.75, 1e-15);
}

static void test_saturation(void **state)
{
    (void)state;
    /* Never stale, or never above 464: nothing saturates. */
    pcast_theory_row row = make(PCAST_ORDER_FORWARD, 4096, 128, 4, 256, 3);
    assert_bits_f64(pcast_theory_saturation(&row, 0), 0);
    assert_bits_f64(pcast_theory_saturation(&row, 0.85), 0); /* 256 * 2^0.85 < 464 */
    assert_true(pcast_theory_saturation(&row, 0.87) > 0);
    /* Two blocks of one key, S = 464: the second saturates if it lies above the first by less than
     * tau: P(0 < N(0, 2) < tau ln 2) / 2 keys. */
    pcast_theory_row pair = make(PCAST_ORDER_FORWARD, 2, 1, 1, 464, 0);
    const double expected = (erf(2 * M_LN2 / 2) / 2) / 2;
    assert_near(pcast_theory_saturation(&pair, 2), expected, 1e-5);
    row.scale = 465;
    assert_true(isnan(pcast_theory_saturation(&row, 1)));
}

static void test_domain(void **state)
{
    (void)state;
    assert_true(isnan(pcast_theory_delta_k(0)));
    assert_true(isnan(pcast_theory_f(5, 0, 4, 1)) && isnan(pcast_theory_f_gap(5, 0, 1)));
    const pcast_theory_row bad[] = {make(PCAST_ORDER_FORWARD, 100, 128, 0, 1, 5),
                                    make(PCAST_ORDER_FORWARD, 200, 128, 129, 1, 5),
                                    make(PCAST_ORDER_FORWARD, 4, 128, 4, 1, 5),
                                    make(PCAST_ORDER_FORWARD, 100, 128, 4, 0, 5),
                                    make(PCAST_ORDER_FORWARD, 100, 128, 4, 1, NAN)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_true(isnan(pcast_theory_underflow(&bad[i]).all) &&
                    isnan(pcast_theory_subnormal(&bad[i]).all) &&
                    isnan(pcast_theory_expected_loss(&bad[i]).mse) &&
                    isnan(pcast_theory_saturation(&bad[i], 1)) &&
                    isnan(pcast_theory_mse_leading(&bad[i])));
    const pcast_theory_row one_block = make(PCAST_ORDER_REVERSE, 100, 128, 4, 1, 5);
    const pcast_theory_fractions fractions = pcast_theory_underflow(&one_block);
    assert_true(isnan(fractions.outside) && fractions.all > 0 && fractions.all == fractions.inside);
    /* A last block of one key, visited first: its own maximum, never lost. */
    const pcast_theory_row single = make(PCAST_ORDER_REVERSE, 5, 4, 4, 1, 5);
    assert_near(pcast_theory_underflow(&single).outside, 0, 1e-300);
}

/* A sum of equal addends, instruction by instruction in the tensor core's model, blocks in the
 * order of a row of `keys` keys. */
static double instructions(pcast_machine machine, const pcast_theory_chain *chain, size_t keys)
{
    const pcast_tensor_core core = {.machine = machine, .cpu = pcast_cpu_detect()};
    const size_t block = (size_t)chain->block, tile = (size_t)chain->tile;
    const uint32_t code =
        pcast_encode_f32(PCAST_E4M3, (float)chain->addend, (pcast_cast){.overflow = 0});
    static uint8_t p[4096], v[4096];
    memset(p, (int)code, sizeof p);
    memset(v, 0x38, sizeof v); /* 1 */
    float o = 0;
    for (size_t done = 0; done < keys;) {
        const size_t tail = keys % block, left = keys - done;
        size_t count = left < block ? left : block;
        if (chain->tail_first && done == 0 && tail > 0)
            count = tail;
        for (size_t first = 0; first<count; first += tile> 0 ? tile : count) {
            const size_t n = tile > 0 && count - first > tile ? tile : count - first;
            float part = tile > 0 ? 0 : o;
            pcast_tensor_core_row(&core, p, v, n, 1, 1, &part);
            o = tile > 0 ? o + part : part;
        }
        done += count;
    }
    return (double)o / ((double)keys * chain->addend);
}

/* The theory, which takes a binade at a time, gives the same number at every N, with whole and
 * ragged blocks in either order. */
static void check_chain(pcast_machine machine, pcast_theory_chain chain, size_t most)
{
    for (size_t keys = 1; keys < most; keys += 1 + keys / 5 + keys % 7)
        for (chain.tail_first = 0; chain.tail_first < 2; chain.tail_first++) {
            const double expected = instructions(machine, &chain, keys);
            const double kept = pcast_theory_chain_kept(&chain, (double)keys);
            if (kept != expected)
                fail_msg("machine %d, S = %g, tile %g, block %g, tail %d, N = %zu: theory %.17g, "
                         "instructions %.17g",
                         (int)machine, chain.addend, chain.tile, chain.block, chain.tail_first,
                         keys, kept, expected);
        }
}

/* With promotion rounding shows where a sum has more than 24 bits: the tiles one by one. */
static void check_tiles(double addend, double tile)
{
    pcast_theory_chain chain = {13, 13, 32, tile, tile, 1, addend};
    const double losses[] = {0.01, 0.1}, ideal = tile * addend;
    double reached[] = {0, 0};
    float o = 0;
    const float sum = (float)(pcast_theory_chain_kept(&chain, tile) * ideal);
    for (double n = 1; n * tile < 6e9; n++) {
        o = o + sum;
        const double kept = (double)o / (n * ideal);
        for (int i = 0; i < 2; i++)
            if (reached[i] == 0 && fabs(1 - kept) >= losses[i])
                reached[i] = n * tile;
        if (fmod(n, 1000003) == 0 && pcast_theory_chain_kept(&chain, n * tile) != kept)
            fail_msg("S = %g, %g tiles of %g: theory %.17g, tiles %.17g", addend, n, tile,
                     pcast_theory_chain_kept(&chain, n * tile), kept);
    }
    for (int i = 0; i < 2; i++)
        if (reached[i] > 0)
            assert_bits_f64(pcast_theory_chain_keys(&chain, losses[i]), reached[i]);
        else
            assert_true(pcast_theory_chain_keys(&chain, losses[i]) > 5.9e9);
}

static void test_accumulation(void **state)
{
    (void)state;
    static const double addends[] = {1, 256, 448, 416, 0.0625, 0x1p-9};
    for (size_t i = 0; i < sizeof addends / sizeof addends[0]; i++) {
        const double p = addends[i];
        check_chain(PCAST_MACHINE_HOPPER_WGMMA, (pcast_theory_chain){13, 13, 32, 0, 224, 0, p},
                    1 << 20);
        check_chain(PCAST_MACHINE_HOPPER_WGMMA, (pcast_theory_chain){13, 13, 32, 192, 192, 0, p},
                    1 << 18);
        check_chain(PCAST_MACHINE_HOPPER_WGMMA, (pcast_theory_chain){13, 13, 32, 64, 128, 0, p},
                    1 << 17);
        check_chain(PCAST_MACHINE_ADA_MMA, (pcast_theory_chain){13, 13, 16, 0, 64, 0, p}, 1 << 18);
        check_chain(PCAST_MACHINE_BLACKWELL_TCGEN05, (pcast_theory_chain){25, 23, 32, 0, 128, 0, p},
                    1 << 16);
    }
    check_tiles(256, 192);
    check_tiles(448, 192);
    /* By hand: 2^14 addends of a power of two fill 14 bits; then one is below the last bit. */
    pcast_theory_chain chain = {13, 13, 32, 0, 224, 1, 256};
    assert_bits_f64(pcast_theory_chain_kept(&chain, 16384), 1);
    assert_bits_f64(pcast_theory_chain_kept(&chain, 131072), 0.125);
    assert_bits_f64(pcast_theory_chain_keys(&chain, 0.01), 16550); /* 16384 / 0.99 = 16549.5 */
    assert_bits_f64(pcast_theory_chain_keys(&chain, 0.1), 18205);  /* 16384 / 0.9 = 18204.4 */
    /* 448 = 7 * 64: from 2^20 on the unit is 128 and 3 of 3.5 units stay, then 1 of 1.75, then 0.
     */
    chain.addend = 448;
    assert_bits_f64(pcast_theory_chain_kept(&chain, 2336), 1); /* 2336 * 448 < 2^20 */
    assert_true(pcast_theory_chain_kept(&chain, 2400) < 1);
    assert_true(isnan(pcast_theory_chain_kept(&chain, 0.5)));
    assert_true(isnan(pcast_theory_chain_keys(&chain, 1)));
    chain.block = 100;
    assert_true(isnan(pcast_theory_chain_kept(&chain, 100))); /* no whole steps */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values), cmocka_unit_test(test_expected_underflow),
        cmocka_unit_test(test_geometric_sums),   cmocka_unit_test(test_loss),
        cmocka_unit_test(test_rows_together),    cmocka_unit_test(test_spread),
        cmocka_unit_test(test_wide_domain),      cmocka_unit_test(test_grid),
        cmocka_unit_test(test_saturation),       cmocka_unit_test(test_domain),
        cmocka_unit_test(test_accumulation),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests_name("theory", tests, NULL, NULL);
}
