/* SPDX-License-Identifier: MIT */
/* Filling a pcast_error: one call that formats the line and hands the status back. */
#ifndef PCAST_BASE_ERROR_H
#define PCAST_BASE_ERROR_H

#include "pcast/status.h"

/* Writes the formatted line into err (which may be NULL), shortened to fit, and returns status. */
pcast_status pcast_fail(pcast_error *err, pcast_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
