/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV files: fields separated by commas, quoted as RFC 4180 says where they must be, one header
 * line. */
#ifndef PCAST_CLI_CSV_H
#define PCAST_CLI_CSV_H

#include "pcast/budget.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writing a row: fields in order, then end. A comma goes before every field but the first. */
typedef struct csv_writer {
    FILE *stream;
    int in_row;
} csv_writer;

void csv_text(csv_writer *writer, const char *text);
void csv_count(csv_writer *writer, uint64_t value);
void csv_number(csv_writer *writer, double value);               /* %.9g, nan, inf */
void csv_exact(csv_writer *writer, double value);                /* %.17g */
void csv_theory(csv_writer *writer, double value);               /* %.6g, empty if NaN */
void csv_number_if(csv_writer *writer, int known, double value); /* empty if not known */
void csv_known(csv_writer *writer, double value);                /* empty if NaN */

/* An error budget beside mse: mse_STAGE for each stage, mse_remainder. */
void csv_budget_names(csv_writer *writer);
void csv_budget(csv_writer *writer, const pcast_budget *budget);
void csv_empty(csv_writer *writer);
void csv_end(csv_writer *writer);
void csv_names(csv_writer *writer, const char *const *names, size_t count); /* a header line */

/* A table in memory. */
typedef struct csv_table {
    char *text; /* owns all fields */
    size_t columns, rows;
    const char **cells; /* [1 + rows][columns], the header first */
} csv_table;

/* Reads a file or, for "-", standard input. PCAST_ERR_INPUT for an empty file, a header without
 * rows, a row with another number of fields, a quote left open. */
pcast_status csv_read(const char *path, csv_table *table, pcast_error *err);
void csv_free(csv_table *table);

/* Column of that name or -1. */
int csv_column(const csv_table *table, const char *name);

/* Name of a column. */
const char *csv_header(const csv_table *table, int column);

/* Field of a row; "" where column is -1. */
const char *csv_cell(const csv_table *table, size_t row, int column);

/* The field as a number, NaN where it is empty, missing or no number. */
double csv_value(const csv_table *table, size_t row, int column);

#endif
