/* SPDX-License-Identifier: MIT */
/* Random signs and a fast Hadamard transform. */
#include "quantize/rotate.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "pcast/quantize.h"
#include "random/draws.h"

#include <math.h>
#include <stdlib.h>

/* dim = base * 2^n with base 1, 12 or 20; 0 where there is none. A base of 12 or 20 is taken only
 * where dim is no power of two, so the result is unique. */
static size_t base_of(size_t dim)
{
    size_t odd = dim, twos = 0;
    if (dim == 0)
        return 0;
    while (odd % 2 == 0) {
        odd /= 2;
        twos++;
    }
    if (odd == 1)
        return 1;
    return (odd == 3 || odd == 5) && twos >= 2 ? 4 * odd : 0;
}

int pcast_rotation_exists(size_t dim)
{
    return base_of(dim) != 0;
}

/* Is a a non-zero square modulo the prime q? */
static int is_square(int a, int q)
{
    for (int x = 1; x < q; x++)
        if (x * x % q == a)
            return 1;
    return 0;
}

/* Paley's first construction for q = base - 1 = 11 or 19, primes that are 3 modulo 4: H = I + S,
 * with S of 0, the Legendre symbol of (column - row) modulo q, bordered by +1 and -1. */
static int paley(int base, int row, int column)
{
    const int q = base - 1;
    if (row == column)
        return 1;
    if (row == 0)
        return 1;
    if (column == 0)
        return -1;
    return is_square((column - row + q) % q, q) ? 1 : -1;
}

/* x[base][twos] = H x along its first index. */
static void transform_base(const pcast_rotation *self, float *x)
{
    float in[PCAST_ROTATION_BASE_MAX];
    for (size_t c = 0; c < self->twos; c++) {
        for (size_t i = 0; i < self->base; i++)
            in[i] = x[i * self->twos + c];
        for (size_t i = 0; i < self->base; i++) {
            float sum = 0;
            for (size_t j = 0; j < self->base; j++)
                sum = self->matrix[i][j] > 0 ? sum + in[j] : sum - in[j];
            x[i * self->twos + c] = sum;
        }
    }
}

/* Sylvester's construction on `count` numbers, a power of two. */
static void transform_twos(float *x, size_t count)
{
    for (size_t half = 1; half < count; half *= 2)
        for (size_t start = 0; start < count; start += 2 * half)
            for (size_t i = start; i < start + half; i++) {
                const float a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
}

static void rotate_row(const pcast_rotation *self, float *row)
{
    const size_t dim = self->base * self->twos;
    for (size_t c = 0; c < dim; c++)
        row[c] = self->signs[c] >> 31 ? -row[c] : row[c];
    if (self->base > 1)
        transform_base(self, row);
    for (size_t i = 0; i < self->base; i++)
        transform_twos(row + i * self->twos, self->twos);
    for (size_t c = 0; c < dim; c++)
        row[c] = row[c] * self->norm;
}

pcast_status pcast_rotation_init(pcast_rotation *rotation, size_t dim, uint64_t seed,
                                 pcast_error *err)
{
    *rotation = (pcast_rotation){.base = base_of(dim)};
    const size_t base = rotation->base;
    if (base == 0)
        return pcast_fail(
            err, PCAST_ERR_VALUE,
            "rotation: %zu channels are neither a power of two nor 12 or 20 times one", dim);
    rotation->signs = malloc(dim * sizeof *rotation->signs);
    if (rotation->signs == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu signs", dim);
    rotation->twos = dim / base;
    for (size_t i = 0; i < base && base > 1; i++)
        for (size_t j = 0; j < base; j++)
            rotation->matrix[i][j] = (int8_t)paley((int)base, (int)i, (int)j);
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    rotation->norm = (float)(1.0 / sqrt((double)dim));
    pcast_draw_words((pcast_stream){seed, 0, PCAST_STREAM_SIGNS}, 0, dim, rotation->signs);
    pcast_fpenv_leave(&env);
    return PCAST_OK;
}

void pcast_rotation_free(pcast_rotation *rotation)
{
    free(rotation->signs);
    *rotation = (pcast_rotation){0};
}

void pcast_rotation_apply(const pcast_rotation *rotation, float *x, size_t rows)
{
    const size_t dim = rotation->base * rotation->twos;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t r = 0; r < rows; r++)
        rotate_row(rotation, x + r * dim);
    pcast_fpenv_leave(&env);
}

pcast_status pcast_rotate(float *x, size_t rows, size_t dim, uint64_t seed, pcast_error *err)
{
    pcast_rotation rotation;
    const pcast_status status = pcast_rotation_init(&rotation, dim, seed, err);
    if (status != PCAST_OK)
        return status;
    pcast_rotation_apply(&rotation, x, rows);
    pcast_rotation_free(&rotation);
    return PCAST_OK;
}
