/* SPDX-License-Identifier: MIT */
/* Operands and accumulators on which the tensor core is probed, drawn from a fixed seed. */
#ifndef PCAST_CUDA_WGMMA_INPUTS_H
#define PCAST_CUDA_WGMMA_INPUTS_H

#include "pcast/format.h"

#include <stdint.h>

typedef enum pcast_wgmma_inputs {
    PCAST_WGMMA_ANY,       /* all codes, all accumulators: NaN and infinities too */
    PCAST_WGMMA_FINITE,    /* all finite codes: wide exponents */
    PCAST_WGMMA_NARROW,    /* numbers from 1/2 to 4, C of random low bits */
    PCAST_WGMMA_SUBNORMAL, /* few products, whose factors in A are mostly subnormal */
    PCAST_WGMMA_SPARSE,    /* few products; C often leads */
    PCAST_WGMMA_ZERO,      /* A and C are zeros of either sign */
    PCAST_WGMMA_CANCEL,    /* products that cancel, C a zero of either sign */
    PCAST_WGMMA_CANCEL_C,  /* one product, and C its opposite */
    PCAST_WGMMA_DROPPED,   /* any C, which the first instruction is told to take as zero */
    PCAST_WGMMA_INPUTS
} pcast_wgmma_inputs;

typedef struct pcast_wgmma_case {
    pcast_format a, b; /* PCAST_E4M3 or PCAST_E5M2 */
    pcast_wgmma_inputs inputs;
    uint32_t steps; /* instructions in the chain: k = 32 * steps */
} pcast_wgmma_case;

/* A tile: a [64][k] and b [256][k] codes, a row of b for each column of the product; c [64][256],
 * bits. */
void pcast_wgmma_draw(const pcast_wgmma_case *which, uint32_t tile, uint8_t *a, uint8_t *b,
                      uint32_t *c);

/* In PCAST_WGMMA_ZERO: is every product of that element -0? */
int pcast_wgmma_products_minus_zero(uint32_t row, uint32_t column);

#endif
