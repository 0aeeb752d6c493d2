/* SPDX-License-Identifier: MIT */
/* The loops of array conversion (docs/numerics.md, steps 2.1 to 2.6), compiled once per CPU level.
 * The including file names the table by PCAST_CODEC and defines `vector`, LANES 32-bit numbers, and
 * its operations. Comparisons are signed: all numbers here are below 2^31.
 *
 * Only the step v_round may depend on more than integers, and then on a rounding of its own
 * (AVX-512's embedded one); v_scale is a product with a power of two that is exact in any rounding
 * mode and has no subnormal operand or result. */
#include "e4m3/codec.h"

#include "base/bits.h"

enum {
    GROUP = 4 * LANES,
    INFINITY_BITS = 0x7F800000,
    NAN_BITS = 0x7FC00000,
    AHEAD = 4096, /* bytes */
};

/* Asks for the bytes that are read a while after these; they may lie behind the array's end. One
 * number at a time is slower than memory anyway. */
static inline void ask_ahead(const uint8_t *here, size_t bytes)
{
    for (size_t line = 0; LANES > 1 && line < bytes; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)here + AHEAD + line));
}

typedef struct narrow_vectors {
    vector least, cap, infinity, nan, nan_sign, sign;
    vector drop, drop_field; /* the second in units of float32's exponent field */
} narrow_vectors;

static narrow_vectors narrow_spread(const pcast_narrow *to)
{
    return (narrow_vectors){
        .least = v_set(to->least),
        .cap = v_set(to->cap),
        .infinity = v_set(to->infinity),
        .nan = v_set(to->nan),
        .nan_sign = v_set(to->nan_sign),
        .sign = v_set(to->sign),
        .drop = v_set(to->drop),
        .drop_field = v_set(to->drop << 23),
    };
}

/* The code, without sign, of float32 magnitudes up to `cap`, as if the exponent field had no upper
 * end. */
static inline vector narrow_magnitude(const narrow_vectors *to, vector a, pcast_narrow_kind kind)
{
    if (kind == PCAST_NARROW_BF16) {
        const vector odd = v_and(v_right(a, v_set(16)), v_set(1));
        return v_right(v_add(a, v_add(odd, v_set(0x7FFF))), v_set(16));
    }
    /* The binade whose last place the result has: a's, or that of the subnormals (step 2.2). */
    const vector binade = v_max(v_and(a, v_set(INFINITY_BITS)), to->least);
    const vector n = v_round(a, binade, to->drop, to->drop_field);
    return v_add(n, v_right(v_sub(binade, to->least), to->drop));
}

/* Bits between float32's sign and that of a code of `width` bytes. */
static inline vector sign_distance(size_t width)
{
    return v_set((uint32_t)(32 - 8 * width));
}

static inline vector narrow(const narrow_vectors *to, vector x, size_t width,
                            pcast_narrow_kind kind)
{
    const vector magnitude = v_and(x, v_set(0x7FFFFFFF));
    const vector above = v_right(x, sign_distance(width)); /* the sign in its place, and more */
    /* The code of an overflow is that of the cap, and codes grow with magnitudes (step 2.3). */
    const vector code = narrow_magnitude(to, v_min(magnitude, to->cap), kind);
    vector sign = to->sign;
    if (kind == PCAST_NARROW_FNUZ) /* 2.5 */
        sign = v_if_equal(code, v_set(0), v_set(0), sign);
    vector result = v_merge(above, sign, code);
    if (kind != PCAST_NARROW_PLAIN)
        result = v_if_equal(magnitude, v_set(INFINITY_BITS), v_merge(above, to->sign, to->infinity),
                            result);
    const vector nan =
        kind == PCAST_NARROW_PLAIN ? to->nan : v_merge(above, to->nan_sign, to->nan); /* 2.4 */
    return v_if_above(magnitude, v_set(INFINITY_BITS), nan, result);
}

static inline void narrow_group(const narrow_vectors *to, const uint8_t *floats, uint8_t *codes,
                                size_t width, pcast_narrow_kind kind)
{
    vector x[4];
    for (size_t i = 0; i < 4; i++)
        x[i] = narrow(to, v_load32(floats + 4 * LANES * i), width, kind);
    if (width == 1)
        v_store8(codes, x);
    else
        v_store16(codes, x);
}

static inline __attribute__((always_inline)) void narrow_all(const pcast_narrow *to,
                                                             const uint8_t *floats, uint8_t *codes,
                                                             size_t count, size_t width,
                                                             pcast_narrow_kind kind)
{
    const narrow_vectors spread = narrow_spread(to);
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        ask_ahead(floats + 4 * i, 4 * GROUP);
        narrow_group(&spread, floats + 4 * i, codes + width * i, width, kind);
    }
    if (i < count) {
        uint8_t in[4 * GROUP] = {0}, out[2 * GROUP];
        memcpy(in, floats + 4 * i, 4 * (count - i));
        narrow_group(&spread, in, out, width, kind);
        memcpy(codes + width * i, out, width * (count - i));
    }
}

static void narrow8(const pcast_narrow *to, const void *floats, void *codes, size_t count)
{
    if (to->kind == PCAST_NARROW_PLAIN)
        narrow_all(to, floats, codes, count, 1, PCAST_NARROW_PLAIN);
    else if (to->kind == PCAST_NARROW_FNUZ)
        narrow_all(to, floats, codes, count, 1, PCAST_NARROW_FNUZ);
    else
        narrow_all(to, floats, codes, count, 1, PCAST_NARROW_GENERAL);
}

static void narrow16(const pcast_narrow *to, const void *floats, void *codes, size_t count)
{
    if (to->kind == PCAST_NARROW_BF16)
        narrow_all(to, floats, codes, count, 2, PCAST_NARROW_BF16);
    else /* the general loop does what the plain one does */
        narrow_all(to, floats, codes, count, 2, PCAST_NARROW_GENERAL);
}

typedef struct widen_vectors {
    vector up, base, subnormals, largest, infinity, nan, sign;
    float step;
} widen_vectors;

static widen_vectors widen_spread(const pcast_widen *from)
{
    return (widen_vectors){
        .up = v_set(from->up),
        .base = v_set(from->base),
        .subnormals = v_set(from->subnormals),
        .largest = v_set(from->largest),
        .infinity = v_set(from->infinity),
        .nan = v_set(from->nan),
        .sign = v_set(from->sign),
        .step = from->step,
    };
}

/* Step 2.6. */
static inline vector widen(const widen_vectors *from, vector code, size_t width)
{
    const vector sign = v_and(code, from->sign), magnitude = v_sub(code, sign);
    const vector normal = v_add(v_left(magnitude, from->up), from->base);
    vector bits = v_if_above(from->subnormals, magnitude, v_scale(magnitude, from->step), normal);
    bits = v_if_above(magnitude, from->largest, v_set(NAN_BITS), bits);
    bits = v_if_equal(magnitude, from->infinity, v_set(INFINITY_BITS), bits);
    bits = v_if_equal(code, from->nan, v_set(NAN_BITS), bits);
    return v_or(bits, v_left(sign, sign_distance(width)));
}

static inline void widen_group(const widen_vectors *from, const uint8_t *codes, uint8_t *floats,
                               size_t width)
{
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *here = codes + width * LANES * i;
        v_store32(floats + 4 * LANES * i,
                  widen(from, width == 1 ? v_load8(here) : v_load16(here), width));
    }
}

static inline __attribute__((always_inline)) void widen_all(const pcast_widen *from,
                                                            const uint8_t *codes, uint8_t *floats,
                                                            size_t count, size_t width)
{
    const widen_vectors spread = widen_spread(from);
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        ask_ahead(codes + width * i, width * GROUP);
        widen_group(&spread, codes + width * i, floats + 4 * i, width);
    }
    if (i < count) {
        uint8_t in[2 * GROUP] = {0}, out[4 * GROUP];
        memcpy(in, codes + width * i, width * (count - i));
        widen_group(&spread, in, out, width);
        memcpy(floats + 4 * i, out, 4 * (count - i));
    }
}

static void widen8(const pcast_widen *from, const void *codes, void *floats, size_t count)
{
    widen_all(from, codes, floats, count, 1);
}

static void widen16(const pcast_widen *from, const void *codes, void *floats, size_t count)
{
    widen_all(from, codes, floats, count, 2);
}

const pcast_codec PCAST_CODEC = {narrow8, narrow16, widen8, widen16};
