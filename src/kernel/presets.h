/* SPDX-License-Identifier: MIT */
/* The table of presets. */
#ifndef PCAST_KERNEL_PRESETS_H
#define PCAST_KERNEL_PRESETS_H

#include "pcast/kernel.h"

typedef struct pcast_preset {
    const char *name;
    pcast_kernel kernel;
    const char *source; /* where the fields were read, with date */
} pcast_preset;

extern const pcast_preset pcast_presets[];
extern const size_t pcast_preset_count;

#endif
