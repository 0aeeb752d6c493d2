/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing and reading CSV. */
#include "csv.h"

#include "cli.h"
#include "tensor/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static FILE *next_field(csv_writer *writer)
{
    if (writer->in_row)
        fputc(',', writer->stream);
    writer->in_row = 1;
    return writer->stream;
}

void csv_text(csv_writer *writer, const char *text)
{
    FILE *stream = next_field(writer);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

void csv_count(csv_writer *writer, uint64_t value)
{
    fprintf(next_field(writer), "%" PRIu64, value);
}

/* printf writes the sign of a NaN, which carries no meaning here. */
static void write_double(csv_writer *writer, const char *format, double value)
{
    char text[40];
    snprintf(text, sizeof text, format, value);
    fputs(isnan(value) ? "nan" : text, next_field(writer));
}

void csv_number(csv_writer *writer, double value)
{
    write_double(writer, "%.9g", value);
}

void csv_exact(csv_writer *writer, double value)
{
    write_double(writer, "%.17g", value);
}

void csv_theory(csv_writer *writer, double value)
{
    if (isnan(value))
        csv_empty(writer);
    else
        write_double(writer, "%.6g", value);
}

void csv_number_if(csv_writer *writer, int known, double value)
{
    if (known)
        csv_number(writer, value);
    else
        csv_empty(writer);
}

void csv_known(csv_writer *writer, double value)
{
    csv_number_if(writer, !isnan(value), value);
}

void csv_budget_names(csv_writer *writer)
{
    char name[32];
    for (int s = 0; s < PCAST_BUDGET_STAGES; s++) {
        snprintf(name, sizeof name, "mse_%s", pcast_budget_name((pcast_budget_stage)s));
        csv_text(writer, name);
    }
    csv_text(writer, "mse_remainder");
}

void csv_budget(csv_writer *writer, const pcast_budget *budget)
{
    for (int s = 0; s < PCAST_BUDGET_STAGES; s++)
        csv_known(writer, budget->stages[s]);
    csv_number(writer, budget->remainder);
}

void csv_empty(csv_writer *writer)
{
    next_field(writer);
}

void csv_end(csv_writer *writer)
{
    fputc('\n', writer->stream);
    writer->in_row = 0;
}

void csv_names(csv_writer *writer, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        csv_text(writer, names[i]);
    csv_end(writer);
}

/* Takes one field at *at, unquoting it in place, and moves *at to the separator. Returns NULL if a
 * quote is left open or followed by text. The terminating NUL may replace the separator, which is
 * handed back in *separator. */
static char *take_field(char **at, char *separator)
{
    char *start = *at, *end = start;
    if (*start == '"') {
        char *from = ++start;
        for (end = start;; from++, end++) {
            if (*from == '\0')
                return NULL;
            if (*from == '"' && *++from != '"')
                break;
            *end = *from;
        }
        if (strchr(",\r\n", *from) == NULL && *from != '\0')
            return NULL;
        *at = from;
    } else {
        end = start + strcspn(start, ",\r\n");
        *at = end;
    }
    if (**at == '\r' && (*at)[1] == '\n')
        (*at)++;
    *separator = **at;
    *end = '\0';
    return start;
}

static pcast_status bad_table(csv_table *table, const char *path, pcast_error *err,
                              const char *what, size_t line)
{
    csv_free(table);
    if (line > 0)
        snprintf(err->text, sizeof err->text, "%s: row %zu: %s", path, line, what);
    else
        snprintf(err->text, sizeof err->text, "%s: %s", path, what);
    return PCAST_ERR_INPUT;
}

static pcast_status parse(csv_table *table, const char *path, pcast_error *err)
{
    size_t capacity = 0, cells = 0, fields = 0;
    char *at = table->text;
    size_t row = 0;
    while (*at != '\0' || fields > 0) {
        if (fields == 0 && (*at == '\n' || *at == '\r')) { /* an empty line is no row */
            at++;
            continue;
        }
        char separator;
        char *field = take_field(&at, &separator);
        if (field == NULL)
            return bad_table(table, path, err, "a quoted field is not closed", row + 1);
        if (cells == capacity) {
            capacity = capacity * 2 + 64;
            table->cells = realloc(table->cells, capacity * sizeof *table->cells);
            if (table->cells == NULL)
                exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
        }
        table->cells[cells++] = field;
        fields++;
        if (separator == ',') {
            at++;
            continue;
        }
        if (row == 0)
            table->columns = fields;
        if (fields != table->columns)
            return bad_table(table, path, err, "another number of fields than the header", row + 1);
        row++;
        fields = 0;
        if (separator != '\0')
            at++;
    }
    if (row == 0)
        return bad_table(table, path, err, "empty file, expected CSV with a header", 0);
    if (row == 1)
        return bad_table(table, path, err, "a header but no rows", 0);
    table->rows = row - 1;
    return PCAST_OK;
}

pcast_status csv_read(const char *path, csv_table *table, pcast_error *err)
{
    pcast_file *file;
    *table = (csv_table){0};
    const pcast_status status = pcast_file_open(path, &file, err);
    if (status != PCAST_OK)
        return status;
    if (memchr(file->bytes, '\0', file->size) != NULL) {
        pcast_file_close(file);
        return bad_table(table, path, err, "not a text file", 0);
    }
    table->text = cli_alloc(file->size + 1, 1);
    memcpy(table->text, file->bytes, file->size);
    pcast_file_close(file);
    return parse(table, strcmp(path, "-") == 0 ? "standard input" : path, err);
}

void csv_free(csv_table *table)
{
    free(table->text);
    free(table->cells);
    *table = (csv_table){0};
}

int csv_column(const csv_table *table, const char *name)
{
    for (size_t c = 0; c < table->columns; c++)
        if (strcmp(table->cells[c], name) == 0)
            return (int)c;
    return -1;
}

const char *csv_header(const csv_table *table, int column)
{
    return table->cells[column];
}

const char *csv_cell(const csv_table *table, size_t row, int column)
{
    return column < 0 ? "" : table->cells[(row + 1) * table->columns + (size_t)column];
}

double csv_value(const csv_table *table, size_t row, int column)
{
    const char *text = csv_cell(table, row, column);
    char *end;
    const double value = strtod(text, &end);
    return end == text || *end != '\0' ? NAN : value;
}
