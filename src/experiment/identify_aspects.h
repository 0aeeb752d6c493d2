/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aspects of a kernel that outputs may tell, and the values that are tried for each. */
#ifndef PCAST_EXPERIMENT_IDENTIFY_ASPECTS_H
#define PCAST_EXPERIMENT_IDENTIFY_ASPECTS_H

#include "pcast/kernel.h"

typedef struct pcast_aspect {
    const char *name;
    const char *probe;         /* of the golden suite, that tells its values apart */
    const char *const *values; /* "field=value[;field=value...]", NULL after the last */
} pcast_aspect;

extern const pcast_aspect pcast_aspects[];
extern const size_t pcast_aspect_count;

/* Sets the fields of a value; 0 if the kernel is then invalid. */
int pcast_aspect_set(pcast_kernel *kernel, const char *value);

/* The kernel's own value of an aspect, in the form of the table. */
void pcast_aspect_get(const pcast_kernel *kernel, const pcast_aspect *aspect, char *text,
                      size_t size);

/* The preset's name and the fields that differ from it. */
void pcast_kernel_spec(const pcast_kernel *kernel, const pcast_preset *preset, char *text,
                       size_t size);

#endif
