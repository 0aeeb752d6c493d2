/* SPDX-License-Identifier: MIT */
/* Conversions of whole arrays between float32 and the 8- and 16-bit formats: one table of functions
 * per CPU level, and what they need to know about a format (docs/numerics.md, section 2). All
 * tables give the bits of pcast_convert. Arrays need no alignment. */
#ifndef PCAST_E4M3_CODEC_H
#define PCAST_E4M3_CODEC_H

#include "pcast/cpu.h"
#include "pcast/format.h"

#include <stddef.h>
#include <stdint.h>

/* Loops of their own. */
typedef enum pcast_narrow_kind {
    PCAST_NARROW_GENERAL,
    PCAST_NARROW_PLAIN, /* an infinity is an overflow, a NaN has no sign: the usual policies */
    PCAST_NARROW_FNUZ,  /* no -0 */
    PCAST_NARROW_BF16,  /* exponents are float32's */
} pcast_narrow_kind;

/* A format as the target of float32 under one policy. Codes are without their sign. */
typedef struct pcast_narrow {
    pcast_narrow_kind kind;
    uint32_t drop;     /* mantissa bits fewer than float32's */
    uint32_t least;    /* float32 bits of the least normal number */
    uint32_t cap;      /* float32 bits of what an overflow becomes: the largest number, or the one
                          after it, had the format one: its code is infinity's or NaN's */
    uint32_t infinity; /* code of an infinity */
    uint32_t nan;      /* code of a NaN */
    uint32_t nan_sign; /* the sign bit where a NaN keeps its sign, else 0 */
    uint32_t sign;     /* the sign bit of a code */
} pcast_narrow;

/* A format as the source of float32. */
typedef struct pcast_widen {
    uint32_t up;         /* mantissa bits more in float32 */
    uint32_t base;       /* what is added to a code shifted up by that */
    uint32_t subnormals; /* codes below are float32 numbers code * step instead */
    float step;
    uint32_t largest, infinity; /* codes; a larger one is NaN, but for infinity */
    uint32_t nan;               /* also NaN: a code with its sign; in FNUZ formats -0's */
    uint32_t sign;              /* the sign bit */
} pcast_widen;

typedef void pcast_narrow_array(const pcast_narrow *to, const void *floats, void *codes,
                                size_t count);
typedef void pcast_widen_array(const pcast_widen *from, const void *codes, void *floats,
                               size_t count);

typedef struct pcast_codec {
    pcast_narrow_array *narrow8, *narrow16;
    pcast_widen_array *widen8, *widen16;
} pcast_codec;

/* The fastest table at or below the level. */
const pcast_codec *pcast_codec_for(pcast_cpu level);

/* For formats of 8 and 16 bits. */
pcast_narrow pcast_narrow_make(pcast_format to, pcast_cast cast);
pcast_widen pcast_widen_make(pcast_format from);

/* pcast_convert_array, where `cache` says above how many bytes of both arrays the result is written
 * past the caches. */
void pcast_convert_array_within(size_t cache, pcast_format to, void *out, pcast_format from,
                                const void *in, size_t count, pcast_cast cast, pcast_cpu cpu);

extern const pcast_codec pcast_codec_scalar;
extern const pcast_codec pcast_codec_avx2;
extern const pcast_codec pcast_codec_avx512;

#endif
