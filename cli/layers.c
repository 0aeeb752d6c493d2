/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a model's layers. */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

int layers_check(const layer_input *input, const char *name)
{
    const char *const paths[3] = {input->q, input->k, input->v}, *const names[3] = {"q", "k", "v"};
    pcast_error err;
    int from_stdin = 0;
    for (int i = 0; i < 3; i++) {
        const int has_mark = strstr(paths[i], "{layer}") != NULL;
        if (has_mark && input->layers.count == 0)
            return cli_fail(EXIT_USAGE, name, "--layer: missing, {layer} in --%s stands for it",
                            names[i]);
        if (!has_mark && input->layers.count > 1)
            return cli_fail(EXIT_USAGE, name, "--%s: several layers need {layer} in the path",
                            names[i]);
        from_stdin += cli_is_stdin(paths[i]);
    }
    if (from_stdin > 1)
        return cli_fail(EXIT_USAGE, name, "standard input can be only one of --q, --k and --v");
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

pcast_status layers_read(const layer_input *input, size_t index, layer_files *files,
                         pcast_error *err)
{
    const char *const patterns[3] = {input->q, input->k, input->v};
    static const char *const names[3] = {"q", "k", "v"};
    const char *text = layers_name(input, index);
    const unsigned long long layer = *text != '\0' ? strtoull(text, NULL, 10) : 0;
    pcast_status status = PCAST_OK;
    *files = (layer_files){0};
    for (int i = 0; status == PCAST_OK && i < 3; i++) {
        files->paths[i] = layer_path(patterns[i], layer);
        status = pcast_tensor_read(files->paths[i], names[i], PCAST_E4M3, &files->tensors[i], err);
    }
    return status;
}

void layer_files_free(layer_files *files)
{
    for (int i = 0; i < 3; i++) {
        free(files->paths[i]);
        pcast_tensor_free(&files->tensors[i]);
    }
}

pcast_status parse_sink_choice(const cli_list *text, sink_choice *choice, pcast_error *err)
{
    *choice = (sink_choice){1, 4};
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
