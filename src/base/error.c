/* SPDX-License-Identifier: MIT */
/* Formatting of error lines. */
#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

pcast_status pcast_fail(pcast_error *err, pcast_status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        for (char *c = err->text; *c != '\0'; c++)
            if (iscntrl((unsigned char)*c)) /* one line, whatever a path or a name holds */
                *c = '?';
    }
    return status;
}
