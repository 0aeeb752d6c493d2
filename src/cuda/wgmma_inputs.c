/* SPDX-License-Identifier: MIT */
#include "cuda/wgmma_inputs.h"

#include "base/bits.h"
#include "cuda/probe_inputs.h"
#include "cuda/tile.h"
#include "random/draws.h"

enum { SEED = 1, STREAM_A = 0x100, STREAM_B, STREAM_C, STREAM_KIND };

/* Fields of a code: the exponent's place and bias. */
static int mantissa_bits(pcast_format format)
{
    return format == PCAST_E4M3 ? 3 : 2;
}

static int bias(pcast_format format)
{
    return format == PCAST_E4M3 ? 7 : 15;
}

static int is_finite(pcast_format format, uint8_t code)
{
    return format == PCAST_E4M3 ? (code & 0x7F) != 0x7F : (code & 0x7C) != 0x7C;
}

static uint8_t finite_code(pcast_format format, uint32_t word)
{
    const uint8_t code = (uint8_t)word;
    return is_finite(format, code) ? code : code & 0xBF;
}

/* From 1/2 to 4, either sign. */
static uint8_t narrow_code(pcast_format format, uint32_t word)
{
    const int m = mantissa_bits(format);
    const uint32_t field = (uint32_t)bias(format) - 1 + (word >> 8) % 3;
    return (uint8_t)((word & 0x80) | field << m | (word & ((1u << m) - 1)));
}

/* Zero three times in four, else subnormal, or seldom one of the least normal numbers. */
static uint8_t subnormal_code(pcast_format format, uint32_t word)
{
    const uint32_t mantissa = (1u << mantissa_bits(format)) - 1;
    if (word >> 8 & 3)
        return 0;
    return (uint8_t)(word & (0x80 | mantissa | (word >> 10 & 7 ? 0 : mantissa + 1)));
}

static uint8_t code_of_a(const pcast_wgmma_case *which, uint32_t row, uint32_t k, uint32_t word)
{
    switch (which->inputs) {
    case PCAST_WGMMA_ANY:
        return (uint8_t)word;
    case PCAST_WGMMA_NARROW:
    case PCAST_WGMMA_CANCEL:
        return narrow_code(which->a, word);
    case PCAST_WGMMA_SUBNORMAL:
        return subnormal_code(which->a, word);
    case PCAST_WGMMA_SPARSE:
        return word >> 8 & 15 ? 0 : finite_code(which->a, word);
    case PCAST_WGMMA_ZERO:
        return (uint8_t)(row % 2 << 7);
    case PCAST_WGMMA_CANCEL_C:
        return k == 0 ? narrow_code(which->a, word) : 0;
    default:
        return finite_code(which->a, word);
    }
}

static uint8_t code_of_b(const pcast_wgmma_case *which, uint32_t column, uint32_t word)
{
    switch (which->inputs) {
    case PCAST_WGMMA_ANY:
        return (uint8_t)word;
    case PCAST_WGMMA_NARROW:
    case PCAST_WGMMA_CANCEL:
    case PCAST_WGMMA_CANCEL_C:
        return narrow_code(which->b, word);
    case PCAST_WGMMA_ZERO: {
        /* Every fourth column has both signs, one is positive, two are negative. */
        const uint8_t code = finite_code(which->b, word);
        return column % 4 == 0 ? code : column % 4 == 1 ? code & 0x7F : code | 0x80;
    }
    default:
        return finite_code(which->b, word);
    }
}

int pcast_wgmma_products_minus_zero(uint32_t row, uint32_t column)
{
    return row % 2 ? column % 4 == 1 : column % 4 >= 2;
}

/* Sign and low bits of the word, an exponent field from `least` on. */
static uint32_t number_near(uint32_t word, uint32_t least, uint32_t fields)
{
    return (word & 0x807FFFFF) | (least + (word >> 23 & 0xFF) % fields) << 23;
}

/* Accumulators of all kinds; special: NaN and infinities too. */
static uint32_t any_accumulator(uint32_t word, uint32_t kind, int special)
{
    switch (kind % 8) {
    case 0:
        return 0;
    case 1:
        return 0x80000000;
    case 2:
        return word & 0x807FFFFF; /* subnormal */
    case 3:
        return number_near(word, 224, 31); /* to the largest */
    case 4:
        return special ? (word & 0x80000000) | 0x7F800000 : number_near(word, 1, 254);
    case 5:
        return special ? word | 0x7F800001 : number_near(word, 100, 12);
    default:
        return number_near(word, 112, 36);
    }
}

static uint32_t accumulator(const pcast_wgmma_case *which, uint32_t word, uint32_t kind)
{
    switch (which->inputs) {
    case PCAST_WGMMA_ANY:
    case PCAST_WGMMA_DROPPED:
        return any_accumulator(word, kind, 1);
    case PCAST_WGMMA_NARROW:
        return kind % 8 < 2 ? kind << 31 : number_near(word, 115, 28);
    case PCAST_WGMMA_SUBNORMAL: /* about as large as the products */
        return kind % 8 < 2 ? kind << 31 : number_near(word, 95, 36);
    case PCAST_WGMMA_ZERO:
    case PCAST_WGMMA_CANCEL:
        return kind << 31;
    default:
        return any_accumulator(word, kind, 0);
    }
}

static pcast_stream stream_of(const pcast_wgmma_case *which, uint32_t tile, uint32_t stream)
{
    const uint32_t formats = (which->a == PCAST_E5M2) * 2u + (which->b == PCAST_E5M2);
    const uint32_t number = (formats * PCAST_WGMMA_INPUTS + which->inputs) * 16 + which->steps;
    return (pcast_stream){SEED, number << 16 | tile, stream};
}

/* The second half of each instruction's k is the first with the other sign. */
static void cancel_halves(uint8_t *codes, uint32_t k, uint8_t flip)
{
    for (uint32_t i = 0; i < k; i++)
        if (i % PCAST_TILE_KEYS >= PCAST_TILE_KEYS / 2)
            codes[i] = codes[i - PCAST_TILE_KEYS / 2] ^ flip;
}

static void draw_codes(const pcast_wgmma_case *which, uint32_t tile, uint8_t *a, uint8_t *b)
{
    const uint32_t k = which->steps * PCAST_TILE_KEYS;
    const pcast_stream of_a = stream_of(which, tile, STREAM_A);
    const pcast_stream of_b = stream_of(which, tile, STREAM_B);
    uint32_t words[PCAST_PROBE_STEPS * PCAST_TILE_KEYS];
    for (uint32_t row = 0; row < PCAST_PROBE_ROWS; row++) {
        pcast_draw_words(of_a, (uint64_t)row * k, k, words);
        for (uint32_t i = 0; i < k; i++)
            a[row * k + i] = code_of_a(which, row, i, words[i]);
        if (which->inputs == PCAST_WGMMA_CANCEL)
            cancel_halves(a + row * k, k, 0x80);
    }
    for (uint32_t column = 0; column < PCAST_PROBE_COLUMNS; column++) {
        pcast_draw_words(of_b, (uint64_t)column * k, k, words);
        for (uint32_t i = 0; i < k; i++)
            b[column * k + i] = code_of_b(which, column, words[i]);
        if (which->inputs == PCAST_WGMMA_CANCEL)
            cancel_halves(b + column * k, k, 0);
    }
}

void pcast_wgmma_draw(const pcast_wgmma_case *which, uint32_t tile, uint8_t *a, uint8_t *b,
                      uint32_t *c)
{
    const uint32_t k = which->steps * PCAST_TILE_KEYS;
    uint32_t words[PCAST_PROBE_COLUMNS], kinds[PCAST_PROBE_COLUMNS];
    draw_codes(which, tile, a, b);
    for (uint32_t row = 0; row < PCAST_PROBE_ROWS; row++) {
        const uint64_t first = (uint64_t)row * PCAST_PROBE_COLUMNS;
        pcast_draw_words(stream_of(which, tile, STREAM_C), first, PCAST_PROBE_COLUMNS, words);
        pcast_draw_words(stream_of(which, tile, STREAM_KIND), first, PCAST_PROBE_COLUMNS, kinds);
        for (uint32_t j = 0; j < PCAST_PROBE_COLUMNS; j++)
            c[first + j] = accumulator(which, words[j], kinds[j]);
        for (uint32_t j = 0; which->inputs == PCAST_WGMMA_CANCEL_C && j < PCAST_PROBE_COLUMNS; j++)
            c[first + j] = pcast_bits_f32(-pcast_decode_f32(which->a, a[row * k]) *
                                          pcast_decode_f32(which->b, b[j * k]));
    }
}
