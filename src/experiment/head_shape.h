/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distribution of a head's scores, and what theory predicts from it. */
#ifndef PCAST_EXPERIMENT_HEAD_SHAPE_H
#define PCAST_EXPERIMENT_HEAD_SHAPE_H

#include "pcast/diagnose.h"

/* The shape of head `head`; sinks[count] are its sinks. Everything has been checked by
 * pcast_heads_run before. PCAST_ERR_MEMORY. */
pcast_status pcast_head_shape_of(const pcast_heads *experiment, const pcast_kernel *kernel,
                                 pcast_cpu cpu, size_t head, const size_t *sinks,
                                 pcast_head_shape *shape, pcast_error *err);

#endif
