/* SPDX-License-Identifier: MIT */
/* Faults seeded into the simulator, in a build of its own that only tests link: there
 * pcast_seeded_slip says which one is made. Elsewhere the conditions are 0. */
#ifndef PCAST_BASE_SEEDED_H
#define PCAST_BASE_SEEDED_H

#include "pcast/slip.h"

#if defined(PCAST_SEEDED_FAULTS)
extern pcast_slip pcast_seeded_slip;
extern int pcast_seeded_mask_shift;
#define PCAST_SEEDED(name)      (pcast_seeded_slip == PCAST_SLIP_##name)
#define PCAST_SEEDED_MASK_SHIFT pcast_seeded_mask_shift
#else
#define PCAST_SEEDED(name)      0
#define PCAST_SEEDED_MASK_SHIFT 0
#endif

#endif
