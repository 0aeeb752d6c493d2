/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The attend command's parts: its inputs, the files it dumps, its metrics. */
#ifndef PCAST_CLI_ATTEND_H
#define PCAST_CLI_ATTEND_H

#include "cli.h"
#include "csv.h"
#include "pcast/budget.h"

typedef struct attend_options {
    const char *name; /* "pcast attend" */
    const char *spec;
    const char *q, *k, *v, *cu_q, *cu_k, *kv_lengths;
    const char *q_descale, *k_descale, *v_descale, *learned_sink; /* a number or a file */
    const char *output, *lse, *metrics;
    cli_list dump;
    pcast_format fp8;
    pcast_layout layout;
    float softmax_scale;
    unsigned long long threads;
    pcast_cpu cpu;
    int device_given; /* another one than the CPU, of this kind */
    pcast_device_kind device_kind;
    pcast_device *device; /* once it is open */
    int report, quantize, budget;
    const char *draw; /* "normal" or "outliers" instead of files */
    unsigned long long heads, n, dim, seed;
    const char *mask, *semantics; /* override the kernel's */
    pcast_kernel kernel;
} attend_options;

/* Tensors and lengths, read from files. */
typedef struct attend_inputs {
    pcast_tensor q, k, v, q_descale, k_descale, v_descale, learned_sink;
    float *drawn[3];  /* data of q, k and v where they are drawn */
    float numbers[4]; /* data of descales and sink where they are given as a number */
    size_t *q_starts, *k_starts, *kv_lengths;
    pcast_attend attend;
} attend_inputs;

pcast_status attend_read(const attend_options *options, attend_inputs *inputs, pcast_error *err);
void attend_inputs_free(attend_inputs *inputs);

/* Q, K and V [1, heads, n, dim] of independent normals, or with one entry in a thousand of ten
 * times the spread added (N(0, 1) + N(0, 100) Bernoulli(0.001)). */
void attend_draw(const attend_options *options, attend_inputs *inputs);

/* What --dump asks for, [row] being a query of a head as in the LSE. */
enum { DUMP_M, DUMP_L, DUMP_P, DUMP_P8, DUMP_O_TILE, DUMP_COUNT };

typedef struct attend_dump {
    int wanted[DUMP_COUNT];
    size_t rows, keys, blocks, block, dim;
    void *data[DUMP_COUNT]; /* floats: m, l [row][block]; p [row][key]; o_tile [row][block][dim];
                               uint32_t: codes p8 [row][key] */
} attend_dump;

/* The set that LIST names, or a message. */
pcast_status attend_dump_choose(const cli_list *list, attend_dump *dump, pcast_error *err);
/* NaN (zero for p and p8) where a row visits no block. */
pcast_status attend_dump_init(attend_dump *dump, const pcast_attend_shape *shape, size_t block,
                              pcast_error *err);
void attend_dump_tile(void *context, size_t row, const pcast_tile *tile);
void attend_dump_free(attend_dump *dump);
const char *attend_dump_name(int kind);

/* Everything a run holds. */
typedef struct attend_state {
    attend_inputs inputs;
    pcast_attend_shape shape;
    pcast_attend_result result;
    attend_dump dump;
    pcast_budget *budgets; /* only for --budget */
} attend_state;

/* The files that one run writes; all are opened before it starts, and appear together. */
enum { FILE_O, FILE_LSE, FILE_METRICS, FILE_DUMP, FILE_COUNT = FILE_DUMP + DUMP_COUNT };

typedef struct attend_files {
    cli_output all[FILE_COUNT];
    size_t count;
    FILE *streams[FILE_COUNT]; /* by what they hold; NULL where not wanted */
} attend_files;

/* Returns an exit code after one line: two of them are the same file, or one cannot be opened. */
int attend_files_open(attend_files *files, const attend_options *options, const attend_dump *dump);
pcast_status attend_files_write(attend_files *files, const attend_options *options,
                                attend_state *state, pcast_error *err);

void attend_write_csv(csv_writer *csv, const attend_options *options,
                      const pcast_attend_shape *shape, const pcast_attend_head *heads);
void attend_write_budget(csv_writer *csv, const attend_options *options,
                         const pcast_attend_shape *shape, const pcast_attend_head *heads,
                         const pcast_budget *budgets);
void attend_write_report(FILE *out, const attend_options *options, const pcast_attend_shape *shape,
                         const pcast_attend_head *heads);

#endif
