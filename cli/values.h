/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading single values, one a line, as bits of a format: what codec and unit share. */
#ifndef PCAST_CLI_VALUES_H
#define PCAST_CLI_VALUES_H

#include "csv.h"

#include "pcast/format.h"

#include <stdint.h>
#include <stdio.h>

/* Infinities and NaNs stay what they are. */
extern const pcast_cast values_as_is;

/* A file of values open for reading. */
typedef struct values_source {
    const char *name; /* of the command, for messages */
    const char *path;
    FILE *file;
} values_source;

/* Opens a file (NULL or "-": standard input). Returns EXIT_OK, or EXIT_INPUT after one line. */
int values_open(values_source *source, const char *name, const char *path);

/* Takes a line's text, without surrounding space, and its bits. */
typedef void values_take(void *context, const char *text, uint64_t bits);

/* Hands each value to `take`, to the end of the file, and closes it; empty lines are passed over. A
 * line is the format's bits (0x3F800000), or a decimal, hex float, inf or nan, rounded to the
 * format once; what is too large becomes infinity, the largest value where there is none. Returns
 * EXIT_OK, or EXIT_INPUT after one line that says which line is no value. */
int values_each(values_source *source, pcast_format format, values_take *take, void *context);

/* A CSV field: 0x and as many hex digits as the format has. */
void values_write_bits(csv_writer *csv, pcast_format format, uint64_t bits);

#endif
