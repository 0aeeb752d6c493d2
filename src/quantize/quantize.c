/* SPDX-License-Identifier: MIT */
/* Scales and casts of Q, K and V. */
#include "pcast/quantize.h"

#include "base/bits.h"
#include "base/fpenv.h"

#include <math.h>

enum { INT8_LARGEST = 127, PIECE = 1024 };

float pcast_quantized_range(pcast_quantized format)
{
    if (format == PCAST_QUANTIZED_INT8)
        return INT8_LARGEST;
    return pcast_decode_f32((pcast_format)format, pcast_format_largest((pcast_format)format));
}

float pcast_amax(const float *x, size_t rows, size_t count, size_t stride)
{
    float amax = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < count; i++) {
            const float magnitude = fabsf(x[r * stride + i]);
            if (magnitude > amax && magnitude <= FLT_MAX)
                amax = magnitude;
        }
    return amax;
}

float pcast_descale(float amax, float range)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const float descale = amax > 0 ? amax / range : 1.0f;
    pcast_fpenv_leave(&env);
    return descale < FLT_MIN ? FLT_MIN : descale;
}

static float to_int8(float x)
{
    if (x != x)
        return x;
    if (fabsf(x) >= INT8_LARGEST)
        return x > 0 ? INT8_LARGEST : -INT8_LARGEST;
    /* Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even. */
    return (x + 0x1.8p23f) - 0x1.8p23f;
}

static void round_to(pcast_format format, float *x, size_t count)
{
    const pcast_cpu cpu = pcast_cpu_detect();
    uint8_t codes[PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t here = count - done < PIECE ? count - done : PIECE;
        pcast_encode_array(format, codes, x + done, here, (pcast_cast){0}, cpu);
        pcast_decode_array(format, codes, x + done, here, cpu);
    }
}

void pcast_quantize(pcast_quantized format, float descale, float *x, size_t count)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t i = 0; i < count; i++) {
        x[i] = x[i] / descale;
        if (format == PCAST_QUANTIZED_INT8)
            x[i] = to_int8(x[i]);
    }
    if (format != PCAST_QUANTIZED_INT8)
        round_to((pcast_format)format, x, count);
    pcast_fpenv_leave(&env);
}

void pcast_subtract_mean(float *x, size_t rows, size_t dim, float *mean)
{
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t c = 0; c < dim; c++) {
        double sum = 0;
        for (size_t r = 0; r < rows; r++)
            sum += (double)x[r * dim + c];
        mean[c] = rows > 0 ? (float)(sum / (double)rows) : 0.0f;
        for (size_t r = 0; r < rows; r++)
            x[r * dim + c] = x[r * dim + c] - mean[c];
    }
    pcast_fpenv_leave(&env);
}
