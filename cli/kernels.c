/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast kernels: the presets, as a list, one in full, or as CSV. */
#include "cli.h"
#include "csv.h"

#include "pcast/kernel.h"

#include <string.h>

typedef struct kernels_options {
    const char *name; /* "pcast kernels" */
    const char *spec; /* NULL: all */
    const char *output;
    int csv;
} kernels_options;

enum { KEY_CSV = 0x100 };

static const struct argp_option kernels_argp_options[] = {
    {"csv", KEY_CSV, NULL, 0, "one row a kernel: every field, source, date, caveats, unit_row", 0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    kernels_options *options = state->input;
    pcast_kernel kernel;
    pcast_error err;
    switch (key) {
    case KEY_CSV:
        options->csv = 1;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->spec != NULL)
            return ARGP_ERR_UNKNOWN;
        options->spec = arg;
        if (pcast_kernel_parse(arg, &kernel, NULL, &err) != PCAST_OK ||
            pcast_kernel_validate(&kernel, &err) != PCAST_OK)
            return cli_bad(state, "%s", err.text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp kernels_argp = {
    .options = kernels_argp_options,
    .parser = parse_option,
    .args_doc = "[SPEC]",
    .doc = "Lists the kernels pcast knows, or all fields of one: NAME[:field=value[;...]]. "
           "docs/kernels.md explains the fields.",
};

static const pcast_preset *preset_of(const char *spec)
{
    const size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        if (strlen(preset->name) == length && strncmp(preset->name, spec, length) == 0)
            return preset;
    }
    return NULL;
}

static void write_row(csv_writer *csv, const char *name, const pcast_kernel *kernel,
                      const pcast_preset *preset)
{
    char text[64];
    csv_text(csv, name);
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        pcast_kernel_get(kernel, (pcast_field)i, text, sizeof text);
        csv_text(csv, text);
    }
    csv_text(csv, preset->source);
    csv_text(csv, preset->date);
    csv_text(csv, preset->caveats);
    csv_text(csv, preset->unit_row);
    csv_end(csv);
}

static void write_csv(const kernels_options *options, FILE *out)
{
    csv_writer csv = {.stream = out};
    csv_text(&csv, "kernel");
    for (int i = 0; i < PCAST_FIELD_COUNT; i++)
        csv_text(&csv, pcast_field_name((pcast_field)i));
    static const char *const rest[] = {"source", "date", "caveats", "unit_row"};
    csv_names(&csv, rest, sizeof rest / sizeof rest[0]);
    if (options->spec != NULL) {
        pcast_kernel kernel;
        pcast_kernel_parse(options->spec, &kernel, NULL, NULL);
        write_row(&csv, options->spec, &kernel, preset_of(options->spec));
        return;
    }
    for (size_t i = 0; i < pcast_preset_count(); i++)
        write_row(&csv, pcast_preset_at(i)->name, &pcast_preset_at(i)->kernel, pcast_preset_at(i));
}

static void write_list(FILE *out)
{
    fprintf(out, "%-24s %-8s %-15s %-9s %-10s %s\n", "kernel", "order", "block", "S", "date",
            "source");
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        char block[64];
        pcast_kernel_get(&preset->kernel, PCAST_FIELD_BLOCK, block, sizeof block);
        fprintf(out, "%-24s %-8s %-15s %-9.6g %-10s %s\n", preset->name,
                pcast_order_name(preset->kernel.order), block, (double)preset->kernel.scale,
                preset->date, preset->source);
    }
}

static void write_one(const char *spec, FILE *out)
{
    const pcast_preset *preset = preset_of(spec);
    pcast_kernel kernel;
    pcast_kernel_parse(spec, &kernel, NULL, NULL);
    fprintf(out, "%s\n", spec);
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        char own[64], given[64];
        pcast_kernel_get(&kernel, (pcast_field)i, own, sizeof own);
        pcast_kernel_get(&preset->kernel, (pcast_field)i, given, sizeof given);
        fprintf(out, "  %-18s %s", pcast_field_name((pcast_field)i), own);
        fprintf(out, strcmp(own, given) == 0 ? "\n" : " (%s: %s)\n", preset->name, given);
    }
    fprintf(out, "source: %s (%s)\n", preset->source, preset->date);
    fprintf(out, "caveats: %s\n", preset->caveats);
    fprintf(out, "equal scores and V = 1: %s\n", preset->unit_row);
}

static int run(const kernels_options *options)
{
    cli_output output;
    pcast_error err;
    if (cli_output_open(&output, options->output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
    if (options->csv)
        write_csv(options, output.stream);
    else if (options->spec != NULL)
        write_one(options->spec, output.stream);
    else
        write_list(output.stream);
    return cli_output_finish(&output, EXIT_OK, options->name);
}

int cli_kernels(int argc, char **argv)
{
    kernels_options options = {.name = argv[0]};
    const int code = cli_parse(&kernels_argp, argc, argv, &options);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    return run(&options);
}
