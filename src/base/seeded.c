/* SPDX-License-Identifier: MIT */
/* Which fault is seeded: only in the tests' build of the simulator. */
#include "base/seeded.h"

#if defined(PCAST_SEEDED_FAULTS)
pcast_slip pcast_seeded_slip = PCAST_SLIP_NONE;
int pcast_seeded_mask_shift = 0;
#endif
