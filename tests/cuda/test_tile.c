/* SPDX-License-Identifier: MIT */
/* The layout of wgmma's operands: in shared memory every code has a place of its own, 16 codes of a
 * row stay together at a multiple of 16, and the descriptor's offsets lead to the same places;
 * fragments in registers cover a tile once. */
#include "cuda/tile.h"

#include "unit.h"

enum { ROWS_MOST = 256, THREADS = 128 };

static void test_offsets(void **state)
{
    (void)state;
    for (uint32_t rows = 8; rows <= ROWS_MOST; rows += 8) {
        unsigned char seen[ROWS_MOST * PCAST_TILE_KEYS] = {0};
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t k = 0; k < PCAST_TILE_KEYS; k++) {
                const uint32_t at = pcast_tile_offset(row, k);
                assert_true(at < rows * PCAST_TILE_KEYS);
                assert_int_equal(seen[at]++, 0);
                assert_int_equal(at - k % 16, pcast_tile_offset(row, k - k % 16));
                assert_int_equal(pcast_tile_offset(row, k - k % 16) % 16, 0);
            }
    }
}

/* As the hardware reads a K-major operand without swizzle: core matrices of 8 x 16 bytes at
 * start + (k / 16) * leading + (row / 8) * stride. */
static void test_descriptor(void **state)
{
    (void)state;
    for (uint32_t address = 0; address < 227 * 1024; address += 16 * 97) {
        const uint64_t descriptor = pcast_tile_descriptor(address);
        const uint32_t start = (uint32_t)(descriptor & 0x3FFF) << 4;
        const uint32_t leading = (uint32_t)(descriptor >> 16 & 0x3FFF) << 4;
        const uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3FFF) << 4;
        assert_int_equal(descriptor & ~UINT64_C(0x00003FFF3FFF3FFF), 0); /* base, swizzle, spare */
        assert_int_equal(start, address);
        for (uint32_t row = 0; row < ROWS_MOST; row++)
            for (uint32_t k = 0; k < PCAST_TILE_KEYS; k++)
                assert_int_equal(start + k / 16 * leading + row / 8 * stride + row % 8 * 16 +
                                     k % 16,
                                 address + pcast_tile_offset(row, k));
    }
}

static void test_fragments(void **state)
{
    (void)state;
    unsigned char a[64][PCAST_TILE_KEYS] = {{0}}, d[64][ROWS_MOST] = {{0}};
    for (uint32_t t = 0; t < THREADS; t++) {
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t byte = 0; byte < 4; byte++)
                assert_int_equal(a[pcast_fragment_a_row(t, i)][pcast_fragment_a_k(t, i) + byte]++,
                                 0);
        for (uint32_t i = 0; i < ROWS_MOST / 2; i++) {
            assert_int_equal(d[pcast_fragment_d_row(t, i)][pcast_fragment_d_column(t, i)]++, 0);
            if (i < 4) /* N = 8 is the first columns of N = 256 */
                assert_true(pcast_fragment_d_column(t, i) < 8);
        }
    }
    for (uint32_t row = 0; row < 64; row++) {
        for (uint32_t k = 0; k < PCAST_TILE_KEYS; k++)
            assert_int_equal(a[row][k], 1);
        for (uint32_t j = 0; j < ROWS_MOST; j++)
            assert_int_equal(d[row][j], 1);
    }
}

/* Places that PTX ISA's figures show. */
static void test_figures(void **state)
{
    (void)state;
    assert_int_equal(pcast_fragment_a_row(0, 1), 8);
    assert_int_equal(pcast_fragment_a_k(0, 2), 16);
    assert_int_equal(pcast_fragment_a_row(5, 0), 1);
    assert_int_equal(pcast_fragment_a_k(5, 0), 4);
    assert_int_equal(pcast_fragment_a_row(127, 3), 63);
    assert_int_equal(pcast_fragment_a_k(127, 3), 28);
    assert_int_equal(pcast_fragment_d_row(32, 0), 16);
    assert_int_equal(pcast_fragment_d_column(1, 1), 3);
    assert_int_equal(pcast_fragment_d_row(0, 2), 8);
    assert_int_equal(pcast_fragment_d_column(0, 4), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
