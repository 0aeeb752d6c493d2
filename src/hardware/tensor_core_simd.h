/* SPDX-License-Identifier: MIT */
/* The SIMD engine of tensor cores with F = 13 into float32 (docs/numerics.md, steps 10.1 to 10.9),
 * compiled once per instruction set. The including file defines PCAST_BLOCK, COLUMNS and the vector
 * operations.
 *
 * A vector has a 32-bit lane for each of COLUMNS columns, split into two 16-bit words where
 * products are concerned: the even and the odd k of a pair. A product's magnitude is below 4 and
 * so, in units of 2^-13, below 2^15: it fits a word, and so does what is left of it after
 * alignment; the two words of a lane are added, with their signs, by one multiply-add. Exponents
 * are words that count from the least exponent of a product; a zero has one far below all others,
 * which keeps it out of the maximum.
 *
 * What a vector does not deal with, NaN, infinities and a subnormal accumulator, goes to the
 * reference with all columns of its group. */
#include "hardware/tensor_core.h"

#include "base/bits.h"
#include "hardware/machine.h"

enum {
    KEYS = PCAST_TENSOR_CORE_KEYS,
    PAIRS = KEYS / 2,
    FRACTION = 13,
    NONE = -2048, /* exponent of zero: below any other by more than the widest shift */
};

/* What is the same for all columns. A word of the pairs belongs to one k. */
typedef struct block_operand {
    uint32_t significand[PAIRS]; /* times 2^(13 - fraction bits of a product) */
    uint32_t exponent[PAIRS];
    uint32_t negative[PAIRS]; /* all ones, or zero */
    int mantissa;             /* of b's codes */
    int bias;                 /* exponent words minus exponents */
    int first_special;        /* of b's codes without their sign */
} block_operand;

static int mantissa_of(pcast_format format)
{
    return format == PCAST_E4M3 ? 3 : 2;
}

static uint32_t word(int value, size_t i)
{
    return (uint32_t)(uint16_t)value << (i % 2 * 16);
}

/* Decodes the row's codes (steps 10.3 and 10.4); returns 0 where one is NaN or infinite. */
static int prepare(const pcast_tensor_core *core, const uint8_t a[KEYS], block_operand *out)
{
    const int mantissa = mantissa_of(core->a), hidden = 1 << mantissa;
    *out = (block_operand){.mantissa = mantissa_of(core->b),
                           .first_special = core->b == PCAST_E4M3 ? 0x7F : 0x7C};
    out->bias = (core->a == PCAST_E4M3 ? 7 : 15) + (core->b == PCAST_E4M3 ? 7 : 15);
    const int unit = FRACTION - mantissa - out->mantissa;
    for (size_t i = 0; i < KEYS; i++) {
        const int magnitude = a[i] & 0x7F, field = magnitude >> mantissa;
        const int significand = magnitude % hidden + (field > 0 ? hidden : 0);
        const int exponent = magnitude == 0 ? NONE : field > 0 ? field : 1;
        if (pcast_fp8_special(core->a, a[i]))
            return 0;
        out->significand[i / 2] |= word(significand << unit, i);
        out->exponent[i / 2] |= word(exponent, i);
        out->negative[i / 2] |= word(-(a[i] >> 7), i);
    }
    return 1;
}

/* One step of `pairs` pairs from `pair` on; b points to the first row. Returns 0, and leaves *c,
 * where the reference has to do it. */
static inline int simd_step(const block_operand *a, size_t pair, size_t pairs, const uint8_t *b,
                            size_t ldb, vector *c)
{
    vector product[PAIRS], exponent[PAIRS], sign[PAIRS];
    const vector one = v_words(1);
    vector largest = v_words(2 * NONE), codes = v_words(0);
    for (size_t p = 0; p < pairs; p++) {
        const vector code = v_load_pairs(b + 2 * p * ldb, b + (2 * p + 1) * ldb);
        const vector magnitude = v_and(code, v_words(0x7F));
        const vector field = v_shift_right(magnitude, a->mantissa);
        const vector normal = v_min(field, one);
        const vector significand =
            v_sub(magnitude, v_shift_left(v_sub(field, normal), a->mantissa));
        const vector e = v_where_zero(magnitude, v_words(NONE), v_max(field, one));
        product[p] = v_multiply(significand, v_lanes(a->significand[pair + p]));
        exponent[p] = v_add(e, v_lanes(a->exponent[pair + p]));
        const vector negative = v_shift_right_signed(v_shift_left(code, 8), 15);
        sign[p] = v_or(v_xor(negative, v_lanes(a->negative[pair + p])), one);
        largest = v_max(largest, exponent[p]);
        codes = v_max(codes, magnitude);
    }
    if (v_any_above(codes, a->first_special - 1))
        return 0;

    /* The accumulator: words of a lane are equal until its exponent has been compared. */
    const vector bits = *c, magnitude = v_and(bits, v_lanes(0x7FFFFFFF));
    const vector field = v_lane_shift_right(magnitude, 23);
    const vector valid = v_lane_where_zero(magnitude, v_lanes(1), field);
    if (v_any_above(valid, 254) || v_any_above(v_sub(v_lanes(1), valid), 0))
        return 0;
    const vector hidden = v_lane_where_zero(magnitude, v_lanes(0), v_lanes(0x800000));
    const vector significand = v_or(v_and(bits, v_lanes(0x7FFFFF)), hidden);
    const vector c_exponent = v_lane_where_zero(
        magnitude, v_lanes((uint32_t)NONE), v_lane_add(field, v_lanes((uint32_t)(a->bias - 127))));
    largest = v_max(largest, v_swap_words(largest));
    const vector c_words =
        v_or(v_and(c_exponent, v_lanes(0xFFFF)), v_lane_shift_left(c_exponent, 16));
    largest = v_max(largest, c_words); /* 10.6 */

    const vector top = v_lane_shift_right_signed(largest, 16);
    const vector cut = v_lane_add(v_lane_sub(top, c_exponent), v_lanes(23 - FRACTION));
    const vector aligned = v_lane_shift_right_each(significand, cut);
    const vector c_negative = v_lane_shift_right_signed(bits, 31);
    vector sum = v_lane_sub(v_xor(aligned, c_negative), c_negative);
    for (size_t p = 0; p < pairs; p++) /* 10.7 and 10.8 */
        sum = v_lane_add(
            sum,
            v_multiply_add(v_shift_right_each(product[p], v_sub(largest, exponent[p])), sign[p]));

    /* 10.9: below 2^24 and so exact as a float, cut to 13 bits; scaling cannot leave the normal
     * numbers, since a sum that is no multiple of the accumulator's binade has products in it. */
    const vector value = v_and(v_lane_to_float_bits(sum), v_lanes(0xFFFFFC00));
    const vector scale =
        v_lane_shift_left(v_lane_sub(top, v_lanes((uint32_t)(a->bias + FRACTION))), 23);
    *c = v_lane_where_zero(sum, v_lanes(0), v_lane_add(value, scale));
    return 1;
}

/* An instruction on one group of columns, in place; 0 where the reference has to do it. */
static int simd_group(const pcast_machine_row *machine, const block_operand *a, const uint8_t *b,
                      size_t ldb, float *d)
{
    vector c = v_load(d);
    const int done = machine->products == KEYS
                         ? simd_step(a, 0, PAIRS, b, ldb, &c)
                         : simd_step(a, 0, PAIRS / 2, b, ldb, &c) &&
                               simd_step(a, PAIRS / 2, PAIRS / 2, b + KEYS / 2 * ldb, ldb, &c);
    if (done)
        v_store(d, c);
    return done;
}

/* The same on fewer columns or rows than a group has: on a copy with zeros around it. */
static int simd_part(const pcast_machine_row *machine, const block_operand *a, const uint8_t *b,
                     size_t rows, size_t ldb, size_t columns, float *d)
{
    uint8_t tile[KEYS * COLUMNS] = {0};
    float accumulator[COLUMNS] = {0};
    for (size_t i = 0; i < rows; i++)
        memcpy(tile + i * COLUMNS, b + i * ldb, columns);
    memcpy(accumulator, d, columns * sizeof *d);
    if (!simd_group(machine, a, tile, COLUMNS, accumulator))
        return 0;
    memcpy(d, accumulator, columns * sizeof *d);
    return 1;
}

void PCAST_BLOCK(const pcast_tensor_core *core, const uint8_t a[KEYS], const uint8_t *b,
                 size_t rows, size_t ldb, size_t n, float *d)
{
    const pcast_machine_row *machine = &pcast_machines[core->machine];
    block_operand operand;
    if (!prepare(core, a, &operand)) {
        pcast_tensor_core_block_scalar(core, a, b, rows, ldb, n, d);
        return;
    }
    for (size_t j = 0; j < n; j += COLUMNS) {
        const size_t columns = n - j < COLUMNS ? n - j : COLUMNS;
        const int whole = columns == COLUMNS && rows == KEYS;
        const int done = whole ? simd_group(machine, &operand, b + j, ldb, d + j)
                               : simd_part(machine, &operand, b + j, rows, ldb, columns, d + j);
        if (!done)
            pcast_tensor_core_block_scalar(core, a, b + j, rows, ldb, columns, d + j);
    }
}
