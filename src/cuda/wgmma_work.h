/* SPDX-License-Identifier: MIT */
/* The tiles on which the tensor core is probed, and what it gave. */
#ifndef PCAST_CUDA_WGMMA_WORK_H
#define PCAST_CUDA_WGMMA_WORK_H

#include "cuda/check.h"
#include "cuda/probe_inputs.h"
#include "cuda/wgmma_inputs.h"

#include <stdint.h>

/* The kernels: where A comes from, and the columns of an instruction. */
enum {
    PCAST_WGMMA_SS_256,
    PCAST_WGMMA_SS_8,
    PCAST_WGMMA_RS_256,
    PCAST_WGMMA_RS_8,
    PCAST_WGMMA_VARIANTS
};

typedef struct pcast_wgmma_variant {
    const char *name;
    int columns, a_shared;
} pcast_wgmma_variant;

extern const pcast_wgmma_variant pcast_wgmma_variants[PCAST_WGMMA_VARIANTS];

enum { PCAST_WGMMA_ELEMENTS = PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS }; /* of a tile of D */

/* Memory for `tiles` tiles. */
typedef struct pcast_wgmma_work {
    pcast_cuda *cuda;
    uint32_t tiles;
    uint8_t *a, *b, *b_by_k;
    uint32_t *c, *model, *device[PCAST_WGMMA_VARIANTS];
    pcast_cuda_address at_a, at_b, at_c, at_d;
} pcast_wgmma_work;

/* Adds what a case's results say to the numbers compared and different, the examples and the
 * counts.
 */
void pcast_wgmma_compare(const pcast_wgmma_work *work, const pcast_wgmma_case *which,
                         pcast_check_result *result);

#endif
