/* SPDX-License-Identifier: MIT */
/* Status codes of the library and the message that goes with a failure.
 * The library never prints and never exits: a function that can fail returns a pcast_status and,
 * where the caller passes a pcast_error, writes one line that names the offending field or file. */
#ifndef PCAST_STATUS_H
#define PCAST_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcast_status {
    PCAST_OK = 0,
    PCAST_ERR_VALUE,       /* an argument has a bad value */
    PCAST_ERR_INPUT,       /* input cannot be read or is malformed */
    PCAST_ERR_OUTPUT,      /* output cannot be written */
    PCAST_ERR_MEMORY,      /* out of memory */
    PCAST_ERR_UNAVAILABLE, /* not available in this build or on this machine */
} pcast_status;

typedef struct pcast_error {
    char text[1024]; /* one line without a newline; empty when nothing failed */
} pcast_error;

#ifdef __cplusplus
}
#endif

#endif
