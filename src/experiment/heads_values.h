/* SPDX-License-Identifier: GPL-3.0-or-later */
/* V of a head as kernels read it where a v_range keeps it small (docs/numerics.md, step 9.6). */
#ifndef PCAST_EXPERIMENT_HEADS_VALUES_H
#define PCAST_EXPERIMENT_HEADS_VALUES_H

#include "pcast/experiment.h"

/* For one kernel; kernels of the same v_range share their numbers. */
typedef struct pcast_head_values {
    const float *data; /* [keys][value dim] */
    float descale;     /* what they were divided by */
    float range;       /* 0: not at all */
    float *own;        /* room for the numbers, of the first kernel with this range */
    size_t first;      /* that kernel */
} pcast_head_values;

/* values[run->kernel_count], zeroed by the caller, each head of `size` numbers. PCAST_ERR_MEMORY.
 */
pcast_status pcast_head_values_init(pcast_head_values *values, const pcast_run *run, size_t size,
                                    pcast_error *err);
void pcast_head_values_free(pcast_head_values *values, size_t kernels);

/* Sets data and descale for a head's V, which must outlive their use. */
void pcast_head_values_load(pcast_head_values *values, size_t kernels, const float *v, size_t size);

#endif
