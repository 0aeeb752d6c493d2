/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep's CSV and its side file. */
#include "sweep.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const columns[] = {
    "kernel",
    "order",
    "scale",
    "delta",
    "n",
    "dim",
    "block",
    "sinks",
    "trials",
    "seed",
    "underflow",
    "underflow_se",
    "underflow_outside",
    "theory_f",
    "theory_exact",
    "subnormal",
    "saturated",
    "mass_kept",
    "mse",
    "mse_se",
    "mse_given_p",
    "mse_theory",
    "rel_l2",
    "max_abs",
};
static const char *const tensor_columns[] = {"source", "layer",     "head",     "queries",
                                             "gap",    "gap_sigma", "sink_keys"};

void sweep_write_header(csv_writer *csv, const sweep_options *options)
{
    const int tensors = layers_given(&options->input);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        csv_text(csv, columns[i]);
    for (size_t i = 0; tensors && i < sizeof tensor_columns / sizeof tensor_columns[0]; i++)
        csv_text(csv, tensor_columns[i]);
    if (options->sigma > 0)
        csv_text(csv, "sigma");
    if (options->budget)
        csv_budget_names(csv);
    csv_end(csv);
}

static void write_head(csv_writer *csv, const sweep_row *row)
{
    const pcast_head *head = row->head;
    csv_text(csv, row->source);
    csv_text(csv, row->layer);
    csv_count(csv, row->head_index);
    csv_count(csv, head->queries);
    csv_known(csv, head->gap);
    csv_known(csv, head->gap_sigma);
    char *keys = cli_alloc(row->sinks, 21);
    size_t length = 0;
    for (size_t i = 0; i < row->sinks; i++)
        length += (size_t)sprintf(keys + length, "%s%zu", i > 0 ? " " : "", head->sinks[i]);
    csv_text(csv, keys);
    free(keys);
}

void sweep_write_row(csv_writer *csv, const sweep_row *row)
{
    const pcast_summary *summary = row->summary;
    pcast_kernel resolved = row->kernel->kernel;
    pcast_kernel_resolve(&resolved, row->qk_dim);
    const pcast_kernel *kernel = &resolved;
    const int several = summary->rows > 1;
    csv_text(csv, row->kernel->name);
    csv_text(csv, pcast_order_name(kernel->order));
    csv_number(csv, (double)kernel->scale);
    csv_number_if(csv, row->delta != NULL, row->delta != NULL ? *row->delta : 0);
    csv_count(csv, row->n);
    csv_count(csv, row->dim);
    csv_count(csv, kernel->block);
    csv_count(csv, row->sinks);
    if (row->delta != NULL) {
        csv_count(csv, row->trials);
        csv_count(csv, row->seed);
    } else {
        csv_empty(csv);
        csv_empty(csv);
    }
    csv_number(csv, summary->underflow);
    csv_number_if(csv, several, summary->underflow_se);
    csv_known(csv, summary->underflow_outside);
    csv_theory(csv, row->theory_f);
    csv_theory(csv, row->theory_exact);
    csv_number(csv, summary->subnormal);
    csv_number(csv, summary->saturated);
    csv_number(csv, summary->mass_kept);
    csv_number(csv, summary->mse);
    csv_number_if(csv, several, summary->mse_se);
    csv_number(csv, summary->mse_given_p);
    csv_theory(csv, row->mse_theory);
    csv_number(csv, summary->rel_l2);
    csv_number(csv, summary->max_abs);
    if (row->head != NULL)
        write_head(csv, row);
    if (row->sigma > 0)
        csv_number(csv, row->sigma);
    if (row->budget != NULL)
        csv_budget(csv, row->budget);
    csv_end(csv);
}

/* FILE.csv -> FILE.meta.json, anything else gets .meta.json appended. */
static char *meta_path(const char *path)
{
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".csv") == 0)
        length -= 4;
    char *meta = cli_alloc(length + sizeof ".meta.json", 1);
    memcpy(meta, path, length);
    strcpy(meta + length, ".meta.json");
    return meta;
}

json_t *sweep_arguments(int argc, char **argv)
{
    json_t *arguments = json_array();
    for (int i = 1; i < argc; i++) {
        json_t *text = json_string(argv[i]);
        /* JSON holds UTF-8 only. */
        json_array_append_new(arguments, text != NULL ? text : json_string("(not UTF-8)"));
    }
    return arguments;
}

static json_t *make_meta(const sweep_options *options, const sweep_origin *origin)
{
    json_t *meta = json_pack("{s:s, s:O, s:s, s:s, s:s}", "command", "pcast sweep", "arguments",
                             origin->arguments, "version", PCAST_VERSION, "compiler",
                             origin->compiler, "cpu_level", origin->cpu_level);
    if (meta != NULL && !layers_given(&options->input)) {
        /* JSON readers keep integers exactly only up to 2^53, so the seed is a string. */
        char seed[24];
        snprintf(seed, sizeof seed, "%llu", options->seed);
        json_object_set_new(meta, "seed", json_string(seed));
        json_object_set_new(meta, "trials", json_integer((json_int_t)options->trials));
        if (options->first_trial > 0)
            json_object_set_new(meta, "first_trial",
                                json_integer((json_int_t)options->first_trial));
    }
    return meta;
}

int sweep_wants_meta(const char *output)
{
    struct stat info;
    return output != NULL && strcmp(output, "-") != 0 &&
           (stat(output, &info) != 0 || S_ISREG(info.st_mode));
}

pcast_status sweep_open_meta(cli_output *meta, const sweep_options *options,
                             const sweep_origin *origin, pcast_error *err)
{
    char *path = meta_path(options->output);
    json_t *json = make_meta(options, origin);
    pcast_status status = json != NULL ? cli_output_open(meta, path, err) : PCAST_ERR_MEMORY;
    if (status == PCAST_OK) {
        json_dumpf(json, meta->stream, JSON_INDENT(2));
        fputc('\n', meta->stream);
    }
    json_decref(json);
    free(path);
    return status;
}
