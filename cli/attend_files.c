/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What attend writes: O, LSE, dumps and metrics. */
#include "attend.h"

#include "pcast/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int has_suffix(const char *text, const char *suffix)
{
    const size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/* O.npy -> O.p8.npy */
static char *dump_path(const char *output, const char *kind)
{
    size_t stem = strlen(output);
    if (has_suffix(output, ".npy"))
        stem -= strlen(".npy");
    else if (has_suffix(output, ".safetensors"))
        stem -= strlen(".safetensors");
    const size_t size = stem + strlen(kind) + sizeof "..npy";
    char *path = cli_alloc(size, 1);
    snprintf(path, size, "%.*s.%s.npy", (int)stem, output, kind);
    return path;
}

static int open_one(attend_files *files, int what, const char *path, const char *name)
{
    pcast_error err;
    cli_output *output = &files->all[files->count];
    if (cli_output_open(output, path, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, name, "%s", err.text);
    files->count++;
    files->streams[what] = output->stream;
    if (cli_outputs_repeat(files->all, files->count))
        return cli_fail(EXIT_USAGE, name, "%s: two results cannot go to one file",
                        output->path != NULL ? output->path : "standard output");
    return EXIT_OK;
}

int attend_files_open(attend_files *files, const attend_options *options, const attend_dump *dump)
{
    int code = EXIT_OK;
    if (options->output != NULL)
        code = open_one(files, FILE_O, options->output, options->name);
    if (code == EXIT_OK && options->lse != NULL)
        code = open_one(files, FILE_LSE, options->lse, options->name);
    for (int kind = 0; code == EXIT_OK && kind < DUMP_COUNT; kind++) {
        if (!dump->wanted[kind])
            continue;
        char *path = dump_path(options->output, attend_dump_name(kind));
        code = open_one(files, FILE_DUMP + kind, path, options->name);
        free(path);
    }
    if (code == EXIT_OK)
        code = open_one(files, FILE_METRICS, options->metrics, options->name);
    return code;
}

/* Shape of the LSE: [batch, heads, tokens] without what Q leaves out, packed [heads, tokens]. */
static size_t lse_shape(const attend_state *state, size_t dims[PCAST_RANK_MAX])
{
    const pcast_attend_shape *shape = &state->shape;
    size_t rank = 0;
    if (state->inputs.q.rank == 4)
        dims[rank++] = shape->batch;
    if (state->inputs.q.rank >= 3)
        dims[rank++] = shape->heads;
    dims[rank++] = shape->queries > 0 ? shape->queries : shape->rows;
    return rank;
}

static pcast_status write_output(FILE *stream, const attend_options *options, attend_state *state)
{
    static const pcast_format formats[] = {PCAST_F32, PCAST_BF16, PCAST_F16};
    const pcast_tensor *q = &state->inputs.q;
    size_t o_shape[PCAST_RANK_MAX], lse_dims[PCAST_RANK_MAX];
    memcpy(o_shape, q->shape, sizeof o_shape);
    o_shape[q->rank - 1] = state->shape.value_dim;
    const pcast_format format = formats[options->kernel.out_format];
    const pcast_entry entries[] = {
        {"o", format, q->rank, o_shape, state->result.o, NULL},
        {"lse", PCAST_F32, lse_shape(state, lse_dims), lse_dims, state->result.lse, NULL},
    };
    if (options->output == NULL || !has_suffix(options->output, ".safetensors"))
        return pcast_npy_write(stream, format, q->rank, o_shape, state->result.o);
    return pcast_safetensors_write(stream, entries, options->kernel.lse == PCAST_LSE_NONE ? 1 : 2);
}

static pcast_status write_dump(FILE *stream, const attend_options *options,
                               const attend_state *state, int kind)
{
    const attend_dump *dump = &state->dump;
    size_t dims[PCAST_RANK_MAX];
    size_t rank = lse_shape(state, dims);
    dims[rank++] = kind == DUMP_P || kind == DUMP_P8 ? dump->keys : dump->blocks;
    if (kind == DUMP_O_TILE)
        dims[rank++] = dump->dim;
    if (kind == DUMP_P8)
        return pcast_npy_write_codes(stream, options->kernel.p_format, rank, dims,
                                     dump->data[kind]);
    return pcast_npy_write(stream, PCAST_F32, rank, dims, dump->data[kind]);
}

static void write_metrics(FILE *stream, const attend_options *options, const attend_state *state)
{
    csv_writer csv = {.stream = stream};
    if (options->budget)
        attend_write_budget(&csv, options, &state->shape, state->result.heads, state->budgets);
    else if (options->report)
        attend_write_report(stream, options, &state->shape, state->result.heads);
    else
        attend_write_csv(&csv, options, &state->shape, state->result.heads);
}

pcast_status attend_files_write(attend_files *files, const attend_options *options,
                                attend_state *state, pcast_error *err)
{
    size_t dims[PCAST_RANK_MAX];
    const size_t rank = lse_shape(state, dims);
    pcast_status status = PCAST_OK;
    errno = 0;
    if (files->streams[FILE_O] != NULL)
        status = write_output(files->streams[FILE_O], options, state);
    if (status == PCAST_OK && files->streams[FILE_LSE] != NULL)
        status =
            pcast_npy_write(files->streams[FILE_LSE], PCAST_F32, rank, dims, state->result.lse);
    for (int kind = 0; status == PCAST_OK && kind < DUMP_COUNT; kind++)
        if (files->streams[FILE_DUMP + kind] != NULL)
            status = write_dump(files->streams[FILE_DUMP + kind], options, state, kind);
    if (status == PCAST_OK)
        write_metrics(files->streams[FILE_METRICS], options, state);
    else
        snprintf(err->text, sizeof err->text, "writing the results: %s",
                 errno != 0 ? strerror(errno) : "failed");
    return status;
}
