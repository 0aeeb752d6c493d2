/* SPDX-License-Identifier: MIT */
/* E4M3 codec (the "E4M3FN" of OCP FP8): 1 sign, 4 exponent (bias 7) and 3 mantissa bits, largest
 * finite value 448, no infinity, NaN only as 0x7F and 0xFF, smallest subnormal 2^-9.
 *
 * Encoding rounds ONCE, to nearest with ties to even, straight from the source format. Overflow is
 * decided after rounding: 464 rounds to 448 in every mode, the next float above overflows. The sign
 * of zero is kept, also when a non-zero value rounds to zero. All work is integer arithmetic, so
 * rounding mode, FTZ, DAZ and the caller's compiler flags do not matter. Functions cannot fail.
 *
 * Source: OCP 8-bit Floating Point Specification (OFP8) rev 1.0; PTX ISA,
 * cvt.rn.satfinite.e4m3x2.f32. */
#ifndef PCAST_E4M3_H
#define PCAST_E4M3_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a finite value beyond 448 (after rounding) becomes. */
typedef enum pcast_overflow {
    PCAST_OVERFLOW_SATURATE, /* +-448, as satfinite does */
    PCAST_OVERFLOW_NAN,      /* NaN with the value's sign */
} pcast_overflow;

/* What an infinity becomes. */
typedef enum pcast_inf_policy {
    PCAST_INF_AS_OVERFLOW, /* the same as a finite overflow: PTX, CUDA, OFP8 */
    PCAST_INF_SATURATE,    /* +-448 */
    PCAST_INF_NAN,         /* NaN with the infinity's sign */
} pcast_inf_policy;

/* Which code a NaN becomes. */
typedef enum pcast_nan_policy {
    PCAST_NAN_CANONICAL, /* 0x7F whatever its sign: CUDA's conversion from float */
    PCAST_NAN_KEEP_SIGN, /* 0x7F or 0xFF by sign: ml_dtypes, PyTorch */
} pcast_nan_policy;

/* All-zero is the conversion of the hardware instruction: saturate, infinities too, canonical NaN.
 */
typedef struct pcast_e4m3_options {
    pcast_overflow overflow;
    pcast_inf_policy inf;
    pcast_nan_policy nan;
} pcast_e4m3_options;

/* One value to its E4M3 code. float16 and bfloat16 are passed as their bits. */
uint8_t pcast_e4m3_encode_f32(float x, pcast_e4m3_options options);
uint8_t pcast_e4m3_encode_f64(double x, pcast_e4m3_options options);
uint8_t pcast_e4m3_encode_f16(uint16_t bits, pcast_e4m3_options options);
uint8_t pcast_e4m3_encode_bf16(uint16_t bits, pcast_e4m3_options options);

/* One code to its value: exact for all 256 codes in every one of these formats. Codes 0x7F and 0xFF
 * give a quiet NaN of their sign, 0x80 gives -0. float16 and bfloat16 are returned as their bits.
 */
float pcast_e4m3_decode_f32(uint8_t code);
double pcast_e4m3_decode_f64(uint8_t code);
uint16_t pcast_e4m3_decode_f16(uint8_t code);
uint16_t pcast_e4m3_decode_bf16(uint8_t code);

#ifdef __cplusplus
}
#endif

#endif
