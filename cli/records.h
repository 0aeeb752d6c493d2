/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of records: the trials of a shard of a sweep. docs/sweep.md describes the format; a record
 * itself is pcast_record's business. */
#ifndef PCAST_CLI_RECORDS_H
#define PCAST_CLI_RECORDS_H

#include "sweep.h"

#include <jansson.h>

/* The header as text, two lines, for the sweep's FILE; the caller's to free. argv is that of the
 * command, for the side file of the merged CSV. */
char *records_header(const sweep_options *options, int argc, char **argv);

/* What the second line of a header says. */
typedef struct records_info {
    json_t *json;
    uint64_t first, trials;
} records_info;

/* PCAST_ERR_INPUT says what is wrong with the line. */
pcast_status records_info_read(const char *line, size_t length, records_info *info,
                               pcast_error *err);
void records_info_free(records_info *info);

/* Are both of the same sweep? Otherwise err says in what they differ, `this` first. */
int records_same_sweep(const records_info *this, const records_info *other, const char *other_name,
                       pcast_error *err);

/* The options of that sweep, as if they had been given; the caller frees the grid. Trials are those
 * of info. */
pcast_status records_options(const records_info *info, sweep_options *options, pcast_error *err);

/* How many of each a file of a sweep has. */
typedef struct records_counts {
    size_t shapes, kernels, deltas;
} records_counts;

records_counts records_counts_of(const sweep_options *options);

/* Reading a file from its beginning to its end. Messages name the file and the line. */
typedef struct records_reader {
    const char *path;
    FILE *stream;
    char *line;
    size_t room;
    size_t number;       /* of the line read last */
    long long after;     /* where the next line begins */
    size_t shape, trial; /* what comes next; trial counts from 0 within the file */
    records_info info;
} records_reader;

/* Takes the stream over and reads the header. */
pcast_status records_start(records_reader *reader, FILE *stream, const char *path,
                           pcast_error *err);
pcast_status records_open(records_reader *reader, const char *path, pcast_error *err);

/* Goes to the first trial of a shape, where another reader of the file was after the one before. */
pcast_status records_go_on(records_reader *reader, size_t shape, long long at, size_t number,
                           pcast_error *err);

/* The next trial, losses[kernels][deltas]. */
pcast_status records_next(records_reader *reader, const records_counts *counts, pcast_loss *losses,
                          pcast_error *err);

/* After the last trial: the line that says so. */
pcast_status records_end(records_reader *reader, const records_counts *counts, pcast_error *err);
void records_close(records_reader *reader);

char *records_part_path(const char *path); /* FILE.part; the caller's to free */

/* Runs the trials of the sweep that are missing in options->records and writes them; returns an
 * exit code after its messages. */
int records_run(const sweep_options *options, int argc, char **argv);

/* Where a file of a merge stands. */
typedef struct records_shard {
    const char *path;
    uint64_t first, trials;
    long long at; /* of the next shape's lines */
    size_t number;
} records_shard;

/* Reduces shards, in the order of their trials and without a gap, to rows of the CSV. */
int records_reduce(const sweep_options *options, records_shard *shards, size_t count,
                   csv_writer *csv);

#endif
