/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K and V of a batch as a kernel reads them: what is done to each. */
#ifndef PCAST_EXPERIMENT_PREPARE_H
#define PCAST_EXPERIMENT_PREPARE_H

#include "experiment/input.h"

/* Q, K and V of a problem that has been checked; where attend->prepare is set, with the means,
 * rotation and scales that the kernel's fields say. PCAST_ERR_VALUE where the head dimension has no
 * rotation; PCAST_ERR_MEMORY. */
pcast_status pcast_prepare(const pcast_attend *attend, const pcast_kernel *kernel,
                           const pcast_attend_shape *shape, pcast_input inputs[3],
                           pcast_error *err);
void pcast_prepare_free(pcast_input inputs[3]);

#endif
