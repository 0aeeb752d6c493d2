/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a file of records line by line: the header, whole trials in their order, the end. */
#include "pcast/records.h"

#include "records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

records_counts records_counts_of(const sweep_options *options)
{
    return (records_counts){
        .shapes = sweep_shape_count(options),
        .kernels = options->grid.kernel_count * sweep_kernels_each(options),
        .deltas = options->grid.delta_count,
    };
}

/* FILE, line N: what. */
static pcast_status at_line(const records_reader *reader, const char *what, pcast_error *err)
{
    snprintf(err->text, sizeof err->text, "%.500s, line %zu: %.450s", reader->path, reader->number,
             what);
    return PCAST_ERR_INPUT;
}

/* The next whole line without its newline, or one message. */
static pcast_status next_line(records_reader *reader, size_t *length, pcast_error *err)
{
    errno = 0;
    const ssize_t size = getline(&reader->line, &reader->room, reader->stream);
    reader->number++;
    if (size > 0 && reader->line[size - 1] == '\n') {
        *length = (size_t)size - 1;
        reader->line[*length] = '\0';
        reader->after += size;
        return PCAST_OK;
    }
    if (size <= 0 && errno != 0)
        return at_line(reader, strerror(errno), err);
    return at_line(reader,
                   size > 0 ? "is cut off: the file is not finished"
                            : "is missing: the file is not finished",
                   err);
}

/* The first line: the format's name, its version, and the check of the second. */
static pcast_status read_first_line(records_reader *reader, uint32_t *check, pcast_error *err)
{
    size_t length = 0;
    char again[32];
    const pcast_status status = next_line(reader, &length, err);
    if (reader->line == NULL || strncmp(reader->line, "pcast-records ", 14) != 0) {
        snprintf(err->text, sizeof err->text, "%s: is no file of records", reader->path);
        return PCAST_ERR_INPUT;
    }
    if (status != PCAST_OK)
        return status;
    if (strcspn(reader->line + 14, " ") != 1 || reader->line[14] != '1')
        return at_line(reader, "is of another version of the format, this pcast reads 1", err);
    *check = (uint32_t)strtoul(reader->line + 15, NULL, 16);
    snprintf(again, sizeof again, "pcast-records 1 %08" PRIx32, *check);
    return strcmp(again, reader->line) == 0 ? PCAST_OK : at_line(reader, "is damaged", err);
}

static pcast_status read_header(records_reader *reader, pcast_error *err)
{
    uint32_t check = 0;
    size_t length = 0;
    pcast_error why;
    pcast_status status = read_first_line(reader, &check, err);
    if (status == PCAST_OK)
        status = next_line(reader, &length, err);
    if (status != PCAST_OK)
        return status;
    if (pcast_record_check(reader->line, length) != check)
        return at_line(reader, "is damaged: its check, in line 1, does not fit", err);
    status = records_info_read(reader->line, length, &reader->info, &why);
    return status == PCAST_OK ? PCAST_OK : at_line(reader, why.text, err);
}

pcast_status records_start(records_reader *reader, FILE *stream, const char *path, pcast_error *err)
{
    *reader = (records_reader){.path = path, .stream = stream};
    const pcast_status status = read_header(reader, err);
    if (status != PCAST_OK)
        records_close(reader);
    return status;
}

pcast_status records_open(records_reader *reader, const char *path, pcast_error *err)
{
    struct stat status;
    FILE *stream = fopen(path, "r");
    *reader = (records_reader){.path = path};
    if (stream == NULL || fstat(fileno(stream), &status) != 0)
        snprintf(err->text, sizeof err->text, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        snprintf(err->text, sizeof err->text, "%s: is no regular file", path);
    else
        return records_start(reader, stream, path, err);
    if (stream != NULL)
        fclose(stream);
    return PCAST_ERR_INPUT;
}

pcast_status records_go_on(records_reader *reader, size_t shape, long long at, size_t number,
                           pcast_error *err)
{
    reader->shape = shape;
    reader->after = at;
    reader->number = number;
    return fseeko(reader->stream, (off_t)at, SEEK_SET) == 0 ? PCAST_OK
                                                            : at_line(reader, strerror(errno), err);
}

pcast_status records_next(records_reader *reader, const records_counts *counts, pcast_loss *losses,
                          pcast_error *err)
{
    const uint64_t trial = reader->info.first + reader->trial;
    pcast_error why;
    for (size_t i = 0; i < counts->kernels * counts->deltas; i++) {
        const size_t kernel = i / counts->deltas, delta = i % counts->deltas;
        pcast_record record;
        size_t length = 0;
        pcast_status status = next_line(reader, &length, err);
        if (status != PCAST_OK)
            return status;
        if (pcast_record_read(reader->line, length, &record, &why) != PCAST_OK)
            return at_line(reader, why.text, err);
        if (record.shape != reader->shape || record.trial != trial || record.kernel != kernel ||
            record.delta != delta) {
            snprintf(why.text, sizeof why.text,
                     "is not the record of shape %zu, trial %" PRIu64 ", kernel %zu, delta %zu",
                     reader->shape, trial, kernel, delta);
            return at_line(reader, why.text, err);
        }
        losses[i] = record.loss;
    }
    if (++reader->trial == reader->info.trials) {
        reader->trial = 0;
        reader->shape++;
    }
    return PCAST_OK;
}

pcast_status records_end(records_reader *reader, const records_counts *counts, pcast_error *err)
{
    char expected[40];
    size_t length = 0;
    const pcast_status status = next_line(reader, &length, err);
    if (status != PCAST_OK)
        return status;
    snprintf(expected, sizeof expected, "end %" PRIu64,
             counts->shapes * counts->kernels * counts->deltas * reader->info.trials);
    if (length != strlen(expected) || strcmp(expected, reader->line) != 0)
        return at_line(reader, "is not the end with the count of records", err);
    reader->number++;
    return fgetc(reader->stream) == EOF ? PCAST_OK : at_line(reader, "goes on after the end", err);
}

void records_close(records_reader *reader)
{
    if (reader->stream != NULL)
        fclose(reader->stream);
    free(reader->line);
    records_info_free(&reader->info);
    *reader = (records_reader){0};
}

char *records_part_path(const char *path)
{
    char *part = cli_alloc(strlen(path) + sizeof ".part", 1);
    sprintf(part, "%s.part", path);
    return part;
}
