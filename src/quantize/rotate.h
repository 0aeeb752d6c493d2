/* SPDX-License-Identifier: MIT */
/* The rotation of pcast_rotate, made once for many rows. */
#ifndef PCAST_QUANTIZE_ROTATE_H
#define PCAST_QUANTIZE_ROTATE_H

#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

enum { PCAST_ROTATION_BASE_MAX = 20 };

/* Random signs, then a Hadamard matrix over sqrt(dim). */
typedef struct pcast_rotation {
    size_t base, twos; /* dim = base * twos */
    float norm;
    int8_t matrix[PCAST_ROTATION_BASE_MAX][PCAST_ROTATION_BASE_MAX];
    uint32_t *signs; /* [dim] in the highest bits */
} pcast_rotation;

/* Arguments and failures as of pcast_rotate. */
pcast_status pcast_rotation_init(pcast_rotation *rotation, size_t dim, uint64_t seed,
                                 pcast_error *err);
void pcast_rotation_free(pcast_rotation *rotation);

/* x[rows][dim] in place. */
void pcast_rotation_apply(const pcast_rotation *rotation, float *x, size_t rows);

#endif
