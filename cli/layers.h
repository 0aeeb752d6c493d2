/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K and V of a model's layers: options, paths, files, and the choice of sinks. */
#ifndef PCAST_CLI_LAYERS_H
#define PCAST_CLI_LAYERS_H

#include "cli.h"
#include "pcast/tensor.h"

typedef struct layer_input {
    const char *q, *k, *v; /* paths; "{layer}" stands for the layer's number in two digits */
    cli_list layers;       /* empty: one, without a number */
} layer_input;

/* The mark "{layer}" and --layer go together, in all three paths; layers are whole numbers. Returns
 * an exit code after one line on stderr. */
int layers_check(const layer_input *input, const char *name);

/* Number of layers, and what a column calls one: "" where there is no number. */
size_t layers_count(const layer_input *input);
const char *layers_name(const layer_input *input, size_t index);

/* One layer's files. */
typedef struct layer_files {
    char *paths[3]; /* of Q, K and V */
    pcast_tensor tensors[3];
} layer_files;

pcast_status layers_read(const layer_input *input, size_t index, layer_files *files,
                         pcast_error *err);
void layer_files_free(layer_files *files);

/* --sinks on tensors: auto, auto:K or K; without text auto:4. */
typedef struct sink_choice {
    int automatic;
    size_t count;
} sink_choice;

pcast_status parse_sink_choice(const cli_list *text, sink_choice *choice, pcast_error *err);

#endif
