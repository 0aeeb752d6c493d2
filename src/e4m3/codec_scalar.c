/* SPDX-License-Identifier: MIT */
/* One number at a time in portable C. */
#define PCAST_CODEC pcast_codec_scalar

#include "base/bits.h"

enum { LANES = 1 };

typedef uint32_t vector;

static inline vector v_set(uint32_t x)
{
    return x;
}

static inline vector v_and(vector x, vector y)
{
    return x & y;
}

static inline vector v_or(vector x, vector y)
{
    return x | y;
}

/* (x & mask) | y */
static inline vector v_merge(vector x, vector mask, vector y)
{
    return (x & mask) | y;
}

static inline vector v_add(vector x, vector y)
{
    return x + y;
}

static inline vector v_sub(vector x, vector y)
{
    return x - y;
}

/* All ones where a < b, else zero. A branch would be guessed wrong too often. */
static inline uint32_t below(vector a, vector b)
{
    return (uint32_t)((int32_t)(a - b) >> 31);
}

static inline vector v_min(vector x, vector y)
{
    return y ^ ((x ^ y) & below(x, y));
}

static inline vector v_max(vector x, vector y)
{
    return x ^ ((x ^ y) & below(x, y));
}

static inline vector v_right(vector x, vector by)
{
    return x >> by;
}

static inline vector v_left(vector x, vector by)
{
    return x << by;
}

/* yes where a == b, or a > b, else no */
static inline vector v_if_equal(vector a, vector b, vector yes, vector no)
{
    return yes ^ ((yes ^ no) & (below(a, b) | below(b, a)));
}

static inline vector v_if_above(vector a, vector b, vector yes, vector no)
{
    return no ^ ((yes ^ no) & below(b, a));
}

/* The float32 magnitude a in units of its binade's place 23 - drop, to nearest, ties to even; the
 * binade is given by its least number and not below a's. */
static inline vector v_round(vector a, vector binade, vector drop, vector drop_field)
{
    (void)drop_field;
    const uint32_t hidden = UINT32_C(1) << 23;
    const uint32_t own = v_max(a & 0x7F800000, hidden); /* a subnormal lacks the hidden bit */
    const uint32_t significand = a - own + hidden;
    const uint32_t shift = v_min(drop + ((binade - own) >> 23), 31); /* 31 rounds to 0 as more do */
    const uint64_t fixed = (uint64_t)significand << (32 - shift);    /* 32 bits behind the point */
    return (vector)((fixed + 0x7FFFFFFF + (fixed >> 32 & 1)) >> 32);
}

static inline vector v_scale(vector x, float step)
{
    return pcast_bits_f32((float)(int32_t)x * step);
}

static inline vector v_load8(const uint8_t *x)
{
    return x[0];
}

static inline vector v_load16(const uint8_t *x)
{
    uint16_t code;
    memcpy(&code, x, sizeof code);
    return code;
}

static inline vector v_load32(const uint8_t *x)
{
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

static inline void v_store8(uint8_t *out, const vector x[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)x[i];
}

static inline void v_store16(uint8_t *out, const vector x[4])
{
    const uint16_t codes[4] = {(uint16_t)x[0], (uint16_t)x[1], (uint16_t)x[2], (uint16_t)x[3]};
    memcpy(out, codes, sizeof codes);
}

static inline void v_store32(uint8_t *out, vector x)
{
    memcpy(out, &x, sizeof x);
}

#include "e4m3/codec_body.h"
