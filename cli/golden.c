/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast golden: its subcommands, and the list of probes. */
#include "golden.h"

#include "csv.h"

#include <stdlib.h>
#include <string.h>

static const cli_command subcommands[] = {
    {"make", "write problems, what kernels answer, and scripts that run yours on them",
     golden_make},
    {"check", "judge what your kernel answered, and name its fault", golden_check},
    {"probes", "the problems and the faults that they find; CSV", golden_probes},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0] };

int cli_golden(int argc, char **argv)
{
    return cli_subcommand(argc, argv, subcommands, SUBCOMMAND_COUNT,
                          "Small attention problems on each of which one known fault shows.");
}

error_t golden_take_dim(const char *arg, unsigned long long *dim, struct argp_state *state)
{
    static const char *const words[] = {"64", "128", "256", NULL};
    int choice;
    const error_t error = cli_take_word("dim", arg, words, &choice, state);
    *dim = 64ull << (error == 0 ? choice : 0);
    return error;
}

error_t golden_take_probes(const char *arg, cli_list *probes, struct argp_state *state)
{
    cli_list more;
    pcast_error err;
    if (cli_list_parse(arg, &more, &err) != PCAST_OK)
        return cli_bad(state, "--probe: %s", err.text);
    for (size_t i = 0; i < more.count; i++)
        if (pcast_probe_find(more.items[i]) == NULL) {
            const error_t error =
                cli_bad(state, "--probe: '%.64s' is no probe; pcast golden probes lists them",
                        more.items[i]);
            cli_list_free(&more);
            return error;
        }
    const size_t old = probes->count;
    char **all = cli_alloc(old + more.count, sizeof *all);
    for (size_t i = 0; i < old; i++)
        all[i] = probes->items[i];
    for (size_t i = 0; i < more.count; i++)
        all[old + i] = more.items[i];
    free(probes->items);
    free(more.items);
    *probes = (cli_list){all, old + more.count};
    return 0;
}

error_t golden_take_unknown(const char *arg, uint64_t *unknown, struct argp_state *state)
{
    cli_list fields;
    pcast_error err;
    error_t error = 0;
    if (cli_list_parse(arg, &fields, &err) != PCAST_OK)
        return cli_bad(state, "--unknown: %s", err.text);
    for (size_t i = 0; error == 0 && i < fields.count; i++) {
        int field = 0;
        while (field < PCAST_FIELD_COUNT &&
               strcmp(pcast_field_name((pcast_field)field), fields.items[i]) != 0)
            field++;
        if (field == PCAST_FIELD_COUNT)
            error = cli_bad(state, "--unknown: '%.64s' is no field; docs/kernels.md lists them",
                            fields.items[i]);
        else
            *unknown |= UINT64_C(1) << field;
    }
    cli_list_free(&fields);
    return error;
}

size_t golden_fault_classes(const pcast_probe *probe, const char *classes[PCAST_PROBE_FAULTS])
{
    size_t count = 0;
    for (int i = 0; i < PCAST_PROBE_FAULTS && probe->faults[i] != NULL; i++) {
        const pcast_fault *fault = pcast_fault_find(probe->faults[i]);
        size_t known = 0;
        while (fault != NULL && known < count && strcmp(classes[known], fault->fault_class) != 0)
            known++;
        if (fault != NULL && known == count)
            classes[count++] = fault->fault_class;
    }
    return count;
}

pcast_status golden_margin(const pcast_probe *probe, const pcast_problem *problem,
                           const pcast_fault *fault, double *margin, pcast_error *err)
{
    pcast_declaration declaration = {.unknown = 0};
    pcast_status status = pcast_kernel_parse(probe->reference, &declaration.kernel, NULL, err);
    if (status == PCAST_OK)
        status = pcast_separation(problem, &declaration, fault, margin, err);
    if (status != PCAST_OK || *margin >= GOLDEN_MARGIN)
        return status;
    snprintf(err->text, sizeof err->text, "%s: too loose for %s: margin %.3g on %s", probe->id,
             fault->id, *margin, probe->reference);
    return PCAST_ERR_VALUE;
}

typedef struct probes_options {
    const char *name, *output;
    unsigned long long dim;
    int faults;
} probes_options;

enum { KEY_DIM = 0x100, KEY_FAULTS };

static const struct argp_option probes_argp_options[] = {
    {"dim", KEY_DIM, "NUMBER", 0, "channels of a head: 64, 128 (default) or 256", 0},
    {"faults", KEY_FAULTS, NULL, 0,
     "one row for each fault of a problem, with the margin: how far the fault moves the answer, "
     "over the width of what is legitimate, on the reference kernel",
     0},
    {"output", 'o', "FILE", 0, "write FILE; - is stdout", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    probes_options *options = state->input;
    switch (key) {
    case KEY_DIM:
        return golden_take_dim(arg, &options->dim, state);
    case KEY_FAULTS:
        options->faults = 1;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp probes_argp = {
    .options = probes_argp_options,
    .parser = parse_option,
    .doc = "Lists the problems of a golden suite, one a row: id, title, classes of the faults that "
           "it finds, sizes.",
};

static void write_row(csv_writer *csv, const pcast_probe *probe, const pcast_problem *problem)
{
    const char *classes[PCAST_PROBE_FAULTS];
    char text[512] = "";
    const size_t count = golden_fault_classes(probe, classes);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                 classes[i]);
    csv_text(csv, probe->id);
    csv_text(csv, probe->title);
    csv_text(csv, text);
    csv_count(csv, problem->batch);
    csv_count(csv, problem->heads);
    csv_count(csv, problem->kv_heads);
    csv_count(csv, problem->queries);
    csv_count(csv, problem->keys);
    csv_end(csv);
}

static pcast_status write_faults(csv_writer *csv, const pcast_probe *probe,
                                 const pcast_problem *problem, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    for (int i = 0; status == PCAST_OK && i < PCAST_PROBE_FAULTS && probe->faults[i] != NULL; i++) {
        const pcast_fault *fault = pcast_fault_find(probe->faults[i]);
        char text[32];
        double margin;
        status = golden_margin(probe, problem, fault, &margin, err);
        snprintf(text, sizeof text, "%.3g", margin);
        csv_text(csv, probe->id);
        csv_text(csv, fault->id);
        csv_text(csv, fault->fault_class);
        csv_text(csv, probe->reference);
        csv_text(csv, text);
        csv_text(csv, fault->title);
        csv_end(csv);
    }
    return status;
}

int golden_probes(int argc, char **argv)
{
    static const char *const columns[] = {"id",    "title",    "fault_classes", "batch",
                                          "heads", "kv_heads", "queries",       "keys"};
    static const char *const fault_columns[] = {"probe",     "fault",  "fault_class",
                                                "reference", "margin", "title"};
    probes_options options = {.name = argv[0], .dim = GOLDEN_DIM};
    pcast_error err = {""};
    cli_output output;
    const int parsed = cli_parse(&probes_argp, argc, argv, &options);
    if (parsed != EXIT_OK)
        return parsed < 0 ? EXIT_OK : parsed;
    if (cli_output_open(&output, options.output, &err) != PCAST_OK)
        return cli_fail(EXIT_OUTPUT, options.name, "%s", err.text);
    csv_writer csv = {.stream = output.stream};
    pcast_status status = PCAST_OK;
    if (options.faults)
        csv_names(&csv, fault_columns, sizeof fault_columns / sizeof fault_columns[0]);
    else
        csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; status == PCAST_OK && i < pcast_probe_count(); i++) {
        const pcast_probe *probe = pcast_probe_at(i);
        pcast_problem problem = {0};
        status = probe->build(&problem, options.dim, &err);
        if (status == PCAST_OK && options.faults)
            status = write_faults(&csv, probe, &problem, &err);
        else if (status == PCAST_OK)
            write_row(&csv, probe, &problem);
        pcast_problem_free(&problem);
    }
    int code = EXIT_OK;
    if (status != PCAST_OK)
        code = cli_fail(cli_exit_code(status), options.name, "%s", err.text);
    return cli_output_finish(&output, code, options.name);
}
