/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checking the tensors and kernels of a run over heads. */
#ifndef PCAST_EXPERIMENT_HEADS_CHECK_H
#define PCAST_EXPERIMENT_HEADS_CHECK_H

#include "pcast/experiment.h"

/* PCAST_ERR_INPUT names the tensor whose rank, shape or a number in it is wrong, PCAST_ERR_VALUE
 * the field. */
pcast_status pcast_heads_check(const pcast_heads *experiment, const pcast_run *run,
                               pcast_error *err);

typedef enum pcast_heads_tensor {
    PCAST_HEADS_Q,
    PCAST_HEADS_K,
    PCAST_HEADS_V,
    PCAST_HEADS_SCORES,
    PCAST_HEADS_TENSORS,
} pcast_heads_tensor;

/* What messages call a tensor: the caller's name for it, or q, k, v, scores. */
const char *pcast_heads_name(const pcast_heads *experiment, pcast_heads_tensor which);

#endif
