/* SPDX-License-Identifier: MIT */
/* Saving, setting and restoring the floating-point environment through <fenv.h>. glibc's FE_DFL_ENV
 * also clears FTZ and DAZ on x86-64 and FZ on AArch64, and fesetenv brings the saved bits back. */
#include "base/fpenv.h"

void pcast_fpenv_enter(pcast_fpenv *env)
{
    fegetenv(&env->saved);
    fesetenv(FE_DFL_ENV);
}

void pcast_fpenv_leave(const pcast_fpenv *env)
{
    fesetenv(&env->saved);
}
