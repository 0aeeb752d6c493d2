/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial of the synthetic experiment on a device, which keeps whole rows. */
#ifndef PCAST_EXPERIMENT_SYNTHETIC_DEVICE_H
#define PCAST_EXPERIMENT_SYNTHETIC_DEVICE_H

#include "experiment/synthetic_trial.h"

/* All kernels on the Delta of the current piece, whose draws have begun: every block into the
 * meters, the finished rows into space->rows. Errors as pcast_device_rows; PCAST_ERR_MEMORY. */
pcast_status pcast_synthetic_on_device(const pcast_synthetic_state *self, pcast_workspace *space,
                                       pcast_error *err);

#endif
