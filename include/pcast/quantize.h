/* SPDX-License-Identifier: MIT */
/* Quantising Q, K and V: scales, casts, and what kernels do to the inputs before them
 * (docs/numerics.md, section 9). */
#ifndef PCAST_QUANTIZE_H
#define PCAST_QUANTIZE_H

#include "pcast/format.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What numbers are quantised to. */
typedef enum pcast_quantized {
    PCAST_QUANTIZED_E4M3 = PCAST_E4M3,
    PCAST_QUANTIZED_E5M2 = PCAST_E5M2,
    PCAST_QUANTIZED_E4M3FNUZ = PCAST_E4M3FNUZ,
    PCAST_QUANTIZED_E5M2FNUZ = PCAST_E5M2FNUZ,
    PCAST_QUANTIZED_INT8 = PCAST_FORMAT_COUNT, /* -127 .. 127, to nearest even */
} pcast_quantized;

/* The largest value of a quantised format: 448, 57344, 240, 57344, 127. */
float pcast_quantized_range(pcast_quantized format);

/* Largest magnitude among the finite numbers of x[rows][stride], `count` of each row; 0 for none.
 */
float pcast_amax(const float *x, size_t rows, size_t count, size_t stride);

/* The descale of a group whose largest magnitude is amax: amax / range, but 1 for a group of zeros
 * and never below the least normal float32, so that no quotient overflows. */
float pcast_descale(float amax, float range);

/* x = the value of the code of x / descale, for `count` numbers; overflow saturates, NaN stays. */
void pcast_quantize(pcast_quantized format, float descale, float *x, size_t count);

/* Incoherent processing: x[rows][dim] times a diagonal of random signs and a Hadamard matrix over
 * sqrt(dim), row by row. The same seed gives the same signs: applied to Q and K, their products
 * stay what they are but for rounding. PCAST_ERR_VALUE where dim is neither a power of two nor 12
 * or 20 times one; PCAST_ERR_MEMORY. */
pcast_status pcast_rotate(float *x, size_t rows, size_t dim, uint64_t seed, pcast_error *err);

/* Subtracts the mean over rows of each channel, summed in binary64, and leaves it in mean[dim]. */
void pcast_subtract_mean(float *x, size_t rows, size_t dim, float *mean);

#ifdef __cplusplus
}
#endif

#endif
