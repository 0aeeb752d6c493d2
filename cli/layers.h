/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q, K and V of a model's layers, or scores and V: options, paths, files, and the choice of sinks.
 */
#ifndef PCAST_CLI_LAYERS_H
#define PCAST_CLI_LAYERS_H

#include "cli.h"
#include "pcast/experiment.h"
#include "pcast/tensor.h"

enum { LAYER_Q, LAYER_K, LAYER_V, LAYER_SCORES, LAYER_FILES };

typedef struct layer_input {
    /* Paths, NULL where not given; "{layer}" stands for the layer's number in two digits. */
    const char *paths[LAYER_FILES];
    cli_list layers; /* empty: one, without a number */
} layer_input;

/* Is any file given? */
int layers_given(const layer_input *input);

/* Q, K and V are there, or scores and V. The mark "{layer}" and --layer go together, in all paths;
 * layers are whole numbers. Returns an exit code after one line on stderr. */
int layers_check(const layer_input *input, const char *name);

/* Number of layers, and what a column calls one: "" where there is no number. */
size_t layers_count(const layer_input *input);
const char *layers_name(const layer_input *input, size_t index);

/* One layer's files. */
typedef struct layer_files {
    char *paths[LAYER_FILES];
    pcast_tensor tensors[LAYER_FILES];
} layer_files;

/* A batch in front of the heads, [batch, heads, tokens, dim], counts as batch * heads heads. */
pcast_status layers_read(const layer_input *input, size_t index, layer_files *files,
                         pcast_error *err);
void layer_files_free(layer_files *files);

/* The experiment on them, without sinks; it refers to the files. */
pcast_heads layer_heads(const layer_files *files, float softmax_scale);

/* Heads and keys of what was read, before anything checks ranks: 0 where there are none. */
size_t layer_head_count(const layer_files *files);
size_t layer_key_count(const layer_files *files);

/* --sinks on tensors: auto, auto:K or K; without text auto:4. */
typedef struct sink_choice {
    int given; /* not the default */
    int automatic;
    size_t count;
} sink_choice;

pcast_status parse_sink_choice(const cli_list *text, sink_choice *choice, pcast_error *err);

/* The choice for heads of so many keys: the default leaves a key beside the sinks. */
sink_choice fit_sink_choice(sink_choice choice, size_t keys);

#endif
