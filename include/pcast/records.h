/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records: what single trials of a sweep lost, as lines of text that keep every bit, so that trials
 * run in several places can be reduced (pcast_tally) as if they had run in one. docs/sweep.md
 * describes a file of them. */
#ifndef PCAST_RECORDS_H
#define PCAST_RECORDS_H

#include "pcast/measure.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One trial under one configuration. */
typedef struct pcast_record {
    uint64_t shape; /* which (n, dim, sinks) of the sweep */
    uint64_t trial, kernel, delta;
    pcast_loss loss;
} pcast_record;

enum { PCAST_RECORD_MAX = 512 }; /* bytes of a line, its newline and a NUL included */

/* Writes the line with its newline and a NUL, and returns its length: shape, trial, kernel, delta,
 * the loss's fields in their order (reals as C's %a writes them, a NaN as "nan" whatever its sign
 * and payload), and the check of what goes before its space, all parted by single spaces. */
size_t pcast_record_write(const pcast_record *record, char text[PCAST_RECORD_MAX]);

/* Reads a line without its newline. Takes nothing that pcast_record_write does not write;
 * PCAST_ERR_INPUT says what is wrong with it. */
pcast_status pcast_record_read(const char *line, size_t length, pcast_record *record,
                               pcast_error *err);

/* CRC-32 as in IEEE 802.3 (reflected, polynomial 0x04C11DB7); the check of "123456789" is
 * 0xCBF43926. */
uint32_t pcast_record_check(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
