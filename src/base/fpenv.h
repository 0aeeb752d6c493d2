/* SPDX-License-Identifier: MIT */
/* The floating-point environment of a simulated path: round to nearest even, subnormals kept, no
 * traps. Every public function that computes in floating point enters it first and restores the
 * caller's environment (rounding mode, FTZ and DAZ, exception flags) on the way out. The
 * environment belongs to a thread, so a function that starts threads enters it in each of them. */
#ifndef PCAST_BASE_FPENV_H
#define PCAST_BASE_FPENV_H

#include <fenv.h>

typedef struct pcast_fpenv {
    fenv_t saved;
} pcast_fpenv;

void pcast_fpenv_enter(pcast_fpenv *env);
void pcast_fpenv_leave(const pcast_fpenv *env);

#endif
