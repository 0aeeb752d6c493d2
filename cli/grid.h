/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid that sweep and theory share: axes given as options, SPECs, and the paper's defaults. */
#ifndef PCAST_CLI_GRID_H
#define PCAST_CLI_GRID_H

#include "cli.h"
#include "pcast/kernel.h"
#include "pcast/theory.h"

#include <stdint.h>

/* Keys of the grid's options. */
enum {
    GRID_KERNEL = 0x100,
    GRID_ORDER,
    GRID_BLOCK,
    GRID_SCALE,
    GRID_MASK,
    GRID_SEMANTICS,
    GRID_DELTA,
    GRID_N,
    GRID_DIM,
    GRID_SINKS,
    GRID_END, /* first key free for a command's own options */
};

/* Rows for a command's argp_option table. */
#define GRID_OPTIONS                                                                               \
    {"kernel", GRID_KERNEL, "SPEC", 0, "kernel NAME[:field=value;...], repeatable (paper)", 0},    \
        {"order", GRID_ORDER, "LIST", 0, "order of KV blocks (forward,reverse)", 0},               \
        {"scale", GRID_SCALE, "LIST", 0, "S, multiplies P before the cast (1,256,448)", 0},        \
        {"block", GRID_BLOCK, "LIST", 0, "keys per KV block (128)", 0},                            \
        {"delta", GRID_DELTA, "LIST", 0, "score advantage of the sinks, nats (0:12:0.5)", 0},      \
        {"n", GRID_N, "LIST", 0, "keys in the row (4096)", 0},                                     \
    {                                                                                              \
        "sinks", GRID_SINKS, "LIST", 0, "sinks, the first keys; at most one block (4)", 0          \
    }

/* One kernel of the grid. */
typedef struct grid_kernel {
    char name[PCAST_SPEC_MAX]; /* the preset, and as in a SPEC those fields that have no column of
                                  their own and differ from it */
    pcast_kernel kernel;
} grid_kernel;

typedef struct cli_grid {
    cli_list specs;                     /* --kernel, in the order given */
    cli_list fields[PCAST_FIELD_COUNT]; /* axes over fields; count 0: not given */
    cli_list delta_text, n_text, dim_text, sinks_text;
    /* Filled by grid_resolve_kernels. */
    grid_kernel *kernels;
    size_t kernel_count;
    /* Filled by grid_resolve_axes. */
    double *deltas;
    size_t delta_count;
    size_t *n, n_count, *dim, dim_count, *sinks, sinks_count;
} cli_grid;

/* Handles the grid's options, ARGP_ERR_UNKNOWN for any other key. */
error_t grid_option(cli_grid *grid, int key, const char *arg, struct argp_state *state);

/* What counts where no --kernel is given (a list of SPECs, NULL: keep), or no option for the field.
 */
int grid_set_defaults(cli_grid *grid, const char *specs, pcast_field field, const char *values);

/* Expand SPECs with the axes over their fields, and the numeric axes; name is the command's. They
 * return an exit code after one line on stderr. */
int grid_resolve_kernels(cli_grid *grid, const char *name);
int grid_resolve_axes(cli_grid *grid, const char *name);

/* Can every (n, dim, sinks, kernel) be a row of the synthetic experiment? */
int grid_check_rows(const cli_grid *grid, const char *name);

/* The name a CSV gives the kernel of a SPEC: the preset and the fields that other columns do not
 * show. */
void grid_name_kernel(grid_kernel *one, const char *spec);

/* A SPEC with every field of the kernel, the caller's to free. */
char *grid_kernel_spec(const grid_kernel *one);

/* A row of the grid as the theory sees it; sigma = 1. dim matters where the block depends on it. */
pcast_theory_row grid_theory_row(const pcast_kernel *kernel, size_t keys, size_t dim, size_t sinks,
                                 double delta);

/* The field that takes a kernel out of what the theory describes: PCAST_FIELD_COUNT for none. */
pcast_field grid_beyond_theory(const pcast_kernel *kernel);

void grid_free(cli_grid *grid);

#endif
