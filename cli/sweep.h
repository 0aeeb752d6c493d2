/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep command's parts: its options, its two kinds of run, its CSV and side file. */
#ifndef PCAST_CLI_SWEEP_H
#define PCAST_CLI_SWEEP_H

#include "csv.h"
#include "grid.h"
#include "layers.h"
#include "pcast/experiment.h"

#include <jansson.h>

typedef struct sweep_options {
    const char *name; /* "pcast sweep" */
    cli_grid grid;
    unsigned long long trials, seed, threads; /* trials, threads: 0 is not given */
    int seed_given, draw_given;
    pcast_cpu cpu;
    int device_given; /* another one than the CPU, of this kind */
    pcast_device_kind device_kind;
    pcast_device *device; /* once it is open */
    const char *output;
    unsigned long long first_trial;
    int first_trial_given;
    const char *records; /* where trials go one by one; then a CSV is written only to `output` */
    int budget;          /* columns of the error budget; synthetic rows only */
    double sigma;        /* of the scores; 0: 1 */
    pcast_draw draw;
    /* Tensors. */
    layer_input input;
    const char *source;
    float softmax_scale;
} sweep_options;

/* What a row of the CSV needs beside its statistics; NULL or NaN: the field is empty. */
typedef struct sweep_row {
    const grid_kernel *kernel;
    const pcast_summary *summary;
    size_t n, dim, sinks;
    size_t qk_dim; /* head dimension of Q and K, which tables of blocks go by */
    const double *delta;
    uint64_t trials, seed; /* only with delta */
    double sigma;          /* 0: no column */
    double theory_f, theory_exact, mse_theory;
    const pcast_budget *budget; /* NULL: not asked for */
    /* On tensors. */
    const pcast_head *head; /* NULL for a synthetic row */
    const char *source, *layer;
    size_t head_index;
} sweep_row;

/* How a CSV came about, for its side file. */
typedef struct sweep_origin {
    json_t *arguments; /* of pcast sweep */
    const char *compiler, *cpu_level;
} sweep_origin;

void sweep_write_header(csv_writer *csv, const sweep_options *options);
void sweep_write_row(csv_writer *csv, const sweep_row *row);

/* Arguments as given, for a side file or a header of records. */
json_t *sweep_arguments(int argc, char **argv);

/* Does OUTPUT get a side file? Not stdout, and not a device or a pipe. */
int sweep_wants_meta(const char *output);

/* Opens OUTPUT's side file and writes it; the caller commits it after the CSV. FILE.csv has
 * FILE.meta.json. */
pcast_status sweep_open_meta(cli_output *meta, const sweep_options *options,
                             const sweep_origin *origin, pcast_error *err);

/* How many (n, dim, sinks) the grid has, sinks running fastest, and the experiment of one. */
size_t sweep_shape_count(const sweep_options *options);
pcast_synthetic sweep_experiment(const sweep_options *options, size_t shape);

/* The rows of an experiment; summaries[kernels][deltas] with the kernels of sweep_run. */
void sweep_write_rows(const sweep_options *options, csv_writer *csv,
                      const pcast_synthetic *experiment, const pcast_summary *summaries);

/* Both write rows and return an exit code. */
int sweep_synthetic(const sweep_options *options, csv_writer *csv);
int sweep_heads(const sweep_options *options, csv_writer *csv);

/* The part of a run that both kinds share; kernels is the caller's to free. With a budget each
 * kernel is followed by those of its stages, sweep_kernels_each in all. */
size_t sweep_kernels_each(const sweep_options *options);
pcast_run sweep_run(const sweep_options *options, pcast_kernel **kernels, cli_progress *progress);

#endif
