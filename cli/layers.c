/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a model's layers. */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[LAYER_FILES] = {"q", "k", "v", "scores"};

int layers_given(const layer_input *input)
{
    int given = 0;
    for (int i = 0; i < LAYER_FILES; i++)
        given |= input->paths[i] != NULL;
    return given;
}

/* Are the files those of Q, K and V, or of scores and V? */
static int check_files(const layer_input *input, const char *name)
{
    const char *const *paths = input->paths;
    const int scores = paths[LAYER_SCORES] != NULL;
    if (scores && (paths[LAYER_Q] != NULL || paths[LAYER_K] != NULL))
        return cli_fail(EXIT_USAGE, name, "--scores: takes the place of --q and --k");
    for (int i = 0; i < LAYER_SCORES; i++)
        if (paths[i] == NULL && (i == LAYER_V || !scores))
            return cli_fail(EXIT_USAGE, name,
                            "--%s: missing; tensors need --q, --k and --v, or --scores and --v",
                            names[i]);
    return EXIT_OK;
}

/* Does the mark go with the layers? */
static int check_mark(const layer_input *input, int file, const char *name)
{
    const int has_mark = strstr(input->paths[file], "{layer}") != NULL;
    if (has_mark && input->layers.count == 0)
        return cli_fail(EXIT_USAGE, name, "--layer: missing, {layer} in --%s stands for it",
                        names[file]);
    if (!has_mark && input->layers.count > 1)
        return cli_fail(EXIT_USAGE, name, "--%s: several layers need {layer} in the path",
                        names[file]);
    return EXIT_OK;
}

int layers_check(const layer_input *input, const char *name)
{
    pcast_error err;
    int from_stdin = 0, code = check_files(input, name);
    for (int i = 0; code == EXIT_OK && i < LAYER_FILES; i++)
        if (input->paths[i] != NULL) {
            code = check_mark(input, i, name);
            from_stdin += cli_is_stdin(input->paths[i]);
        }
    if (code != EXIT_OK)
        return code;
    if (from_stdin > 1)
        return cli_fail(EXIT_USAGE, name, "standard input can be only one of the tensors");
    for (size_t i = 0; i < input->layers.count; i++) {
        unsigned long long layer;
        if (cli_parse_count(input->layers.items[i], 0, 1000000, &layer, &err) != PCAST_OK)
            return cli_fail(EXIT_USAGE, name, "--layer: %s", err.text);
    }
    return EXIT_OK;
}

size_t layers_count(const layer_input *input)
{
    return input->layers.count > 0 ? input->layers.count : 1;
}

const char *layers_name(const layer_input *input, size_t index)
{
    return input->layers.count > 0 ? input->layers.items[index] : "";
}

/* The pattern with every "{layer}" replaced. */
static char *layer_path(const char *pattern, unsigned long long layer)
{
    static const char mark[] = "{layer}";
    char *path = cli_alloc(strlen(pattern) * 4 + 1, 1); /* a mark of 7 becomes at most 20 digits */
    char *out = path;
    for (const char *in = pattern; *in != '\0';) {
        if (strncmp(in, mark, sizeof mark - 1) == 0) {
            out += sprintf(out, "%02llu", layer);
            in += sizeof mark - 1;
        } else {
            *out++ = *in++;
        }
    }
    return path;
}

/* A batch in front of the heads: its heads follow one another. Heads of K divide those of Q in each
 * sequence alike, so the groups stay as they are. */
static void fold_batch(pcast_tensor *tensor)
{
    if (tensor->rank != 4)
        return;
    tensor->shape[0] *= tensor->shape[1];
    tensor->shape[1] = tensor->shape[2];
    tensor->shape[2] = tensor->shape[3];
    tensor->rank = 3;
}

pcast_status layers_read(const layer_input *input, size_t index, layer_files *files,
                         pcast_error *err)
{
    const char *text = layers_name(input, index);
    const unsigned long long layer = *text != '\0' ? strtoull(text, NULL, 10) : 0;
    pcast_status status = PCAST_OK;
    *files = (layer_files){0};
    for (int i = 0; status == PCAST_OK && i < LAYER_FILES; i++) {
        if (input->paths[i] == NULL)
            continue;
        files->paths[i] = layer_path(input->paths[i], layer);
        status = pcast_tensor_read(files->paths[i], names[i], PCAST_E4M3, &files->tensors[i], err);
        fold_batch(&files->tensors[i]);
    }
    return status;
}

void layer_files_free(layer_files *files)
{
    for (int i = 0; i < LAYER_FILES; i++) {
        free(files->paths[i]);
        pcast_tensor_free(&files->tensors[i]);
    }
}

pcast_heads layer_heads(const layer_files *files, float softmax_scale)
{
    const int scores = files->paths[LAYER_SCORES] != NULL;
    pcast_heads heads = {.q = scores ? NULL : &files->tensors[LAYER_Q],
                         .k = scores ? NULL : &files->tensors[LAYER_K],
                         .v = &files->tensors[LAYER_V],
                         .scores = scores ? &files->tensors[LAYER_SCORES] : NULL,
                         .softmax_scale = softmax_scale};
    for (int i = 0; i < LAYER_FILES; i++)
        heads.names[i] = files->paths[i];
    return heads;
}

size_t layer_head_count(const layer_files *files)
{
    const int scores = files->paths[LAYER_SCORES] != NULL;
    const pcast_tensor *rows = &files->tensors[scores ? LAYER_SCORES : LAYER_Q];
    return rows->rank > 0 ? rows->shape[0] : 0;
}

size_t layer_key_count(const layer_files *files)
{
    const pcast_tensor *v = &files->tensors[LAYER_V];
    return v->rank > 1 ? v->shape[1] : 0;
}

pcast_status parse_sink_choice(const cli_list *text, sink_choice *choice, pcast_error *err)
{
    *choice = (sink_choice){text->count > 0, 1, 4};
    if (text->count == 0)
        return PCAST_OK;
    const char *item = text->items[0];
    unsigned long long count = 4;
    pcast_status status = PCAST_OK;
    if (text->count > 1) {
        snprintf(err->text, sizeof err->text, "one choice on tensors, not a list");
        return PCAST_ERR_VALUE;
    }
    choice->automatic = strncmp(item, "auto", 4) == 0;
    if (strncmp(item, "auto:", 5) == 0)
        item += 5;
    if (strcmp(item, "auto") != 0)
        status = cli_parse_count(item, 1, 1ull << 32, &count, err);
    choice->count = (size_t)count;
    return status;
}

sink_choice fit_sink_choice(sink_choice choice, size_t keys)
{
    if (!choice.given && keys >= 2 && choice.count >= keys)
        choice.count = keys - 1;
    return choice;
}
