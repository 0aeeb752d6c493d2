/* SPDX-License-Identifier: MIT */
/* The codec: floating-point formats and the conversions between them.
 *
 *   e4m3      OCP "E4M3FN": bias 7, largest 448, no infinity, NaN 0x7F and 0xFF, least 2^-9
 *   e5m2      OCP E5M2: bias 15, largest 57344, infinity 0x7C, NaN 0x7D to 0x7F, least 2^-16
 *   e4m3fnuz  AMD MI300: bias 8, largest 240, no infinity, no -0, NaN 0x80, least 2^-10
 *   e5m2fnuz  AMD MI300: bias 16, largest 57344, no infinity, no -0, NaN 0x80, least 2^-17
 *   f16, bf16, f32, f64   binary16, bfloat16, binary32, binary64
 *
 * A conversion rounds ONCE, to nearest with ties to even, straight from the source format. Overflow
 * is decided after rounding: 464 rounds to E4M3's 448 in every mode, the next float above
 * overflows. The sign of zero is kept where the format has one, also when a non-zero value rounds
 * to zero. A NaN's payload is not kept. All work is integer arithmetic, so rounding mode, FTZ, DAZ
 * and the caller's compiler flags do not matter. Functions cannot fail.
 *
 * Sources: OCP 8-bit Floating Point Specification (OFP8) rev 1.0; PTX ISA,
 * cvt.rn.satfinite.e4m3x2.f32; IEEE 754-2019; for FNUZ the AMD Instinct MI300 ISA reference. */
#ifndef PCAST_FORMAT_H
#define PCAST_FORMAT_H

#include "pcast/cpu.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_format {
    PCAST_E4M3,
    PCAST_E5M2,
    PCAST_E4M3FNUZ,
    PCAST_E5M2FNUZ,
    PCAST_F16,
    PCAST_BF16,
    PCAST_F32,
    PCAST_F64,
} pcast_format;

enum { PCAST_FORMAT_COUNT = PCAST_F64 + 1 };

/* What a finite value beyond the largest one (after rounding) becomes. */
typedef enum pcast_overflow {
    PCAST_OVERFLOW_SATURATE, /* the largest finite value with its sign, as satfinite does */
    PCAST_OVERFLOW_NAN,      /* with its sign NaN, or infinity in a format that has one */
} pcast_overflow;

/* What an infinity becomes. */
typedef enum pcast_inf_policy {
    PCAST_INF_AS_OVERFLOW, /* the same as a finite overflow: PTX, CUDA, OFP8 */
    PCAST_INF_SATURATE,    /* the largest finite value */
    PCAST_INF_NAN,         /* NaN, or infinity in a format that has one */
} pcast_inf_policy;

/* Which code a NaN becomes; FNUZ formats have only one. */
typedef enum pcast_nan_policy {
    PCAST_NAN_CANONICAL, /* all ones and positive whatever its sign: CUDA's conversion from float */
    PCAST_NAN_KEEP_SIGN, /* the quiet NaN of its sign; FNUZ's counts as negative: ml_dtypes */
} pcast_nan_policy;

/* All-zero is NVIDIA's conversion to 8 bits: saturate, infinities too, canonical NaN. */
typedef struct pcast_cast {
    pcast_overflow overflow;
    pcast_inf_policy inf;
    pcast_nan_policy nan;
} pcast_cast;

/* One number from format to format; bits above the source's width are ignored. */
uint64_t pcast_convert(pcast_format to, pcast_format from, uint64_t bits, pcast_cast cast);

/* A float32 to its code in a format of at most 32 bits. */
uint32_t pcast_encode_f32(pcast_format to, float x, pcast_cast cast);

/* A code to the float32 or float64 of its value. Exact, but for f64 to float32, which is rounded
 * and may become infinite. A NaN keeps its sign. */
float pcast_decode_f32(pcast_format from, uint64_t code);
double pcast_decode_f64(pcast_format from, uint64_t code);

/* The same for whole arrays of `count` numbers, at any CPU level with the same bits; much faster
 * between float32 and the formats of 8 and 16 bits and among these, from AVX2 on. Elements lie as
 * in memory of this machine: uint8_t, uint16_t, float or double by the format's width, at any
 * alignment. The two arrays must not overlap. Where both together exceed the processor's largest
 * cache, the result is written past the caches. */
void pcast_convert_array(pcast_format to, void *out, pcast_format from, const void *in,
                         size_t count, pcast_cast cast, pcast_cpu cpu);
void pcast_encode_array(pcast_format to, void *codes, const float *x, size_t count, pcast_cast cast,
                        pcast_cpu cpu);
void pcast_decode_array(pcast_format from, const void *codes, float *x, size_t count,
                        pcast_cpu cpu);

/* Bits of a code: 8, 16, 32 or 64. */
int pcast_format_width(pcast_format format);

/* "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "f16", "bf16", "f32", "f64". */
const char *pcast_format_name(pcast_format format);

/* Code of the largest finite value, and of the least normal one: the codes from 1 to the one before
 * it are subnormal. */
uint64_t pcast_format_largest(pcast_format format);
uint64_t pcast_format_least_normal(pcast_format format);

/* The largest float64 that still rounds to the largest finite value. 464 for E4M3: the midpoint,
 * whose tie goes to the even code 0x7E. All other largest codes are odd, so their midpoint
 * overflows and the bound is just below it: 61440 for E5M2. DBL_MAX for f64. */
double pcast_format_overflow_bound(pcast_format format);

#ifdef __cplusplus
}
#endif

#endif
