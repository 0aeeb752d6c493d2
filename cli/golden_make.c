/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast golden make: a suite in a folder. */
#include "golden.h"

#include <stdlib.h>
#include <string.h>

typedef struct make_options {
    const char *name, *folder, *spec;
    pcast_kernel kernel;
    uint64_t unknown; /* of its fields */
    unsigned long long dim;
    cli_list probes; /* none: all */
    int large;
    pcast_cpu cpu;
} make_options;

enum { KEY_DIM = 0x100, KEY_PROBE, KEY_LARGE, KEY_KERNEL, KEY_UNKNOWN, KEY_CPU };

static const struct argp_option make_argp_options[] = {
    {"dim", KEY_DIM, "NUMBER", 0, "channels of a head: 64, 128 (default) or 256", 0},
    {"probe", KEY_PROBE, "ID,...", 0,
     "only these problems; may be repeated (all; pcast golden probes lists them)", 0},
    {"large", KEY_LARGE, NULL, 0,
     "also those whose K and V take gigabytes where the kernel runs (index-overflow)", 0},
    {"kernel", KEY_KERNEL, "SPEC", 0,
     "what is known of the kernel that will be checked: NAME[:field=value;...]", 0},
    {"unknown", KEY_UNKNOWN, "FIELD,...", 0, "fields of --kernel that are not known after all", 0},
    {"cpu", KEY_CPU, "LEVEL", 0, "highest CPU level: scalar, avx2, avx512 or native", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    make_options *options = state->input;
    pcast_error err;
    switch (key) {
    case KEY_DIM:
        return golden_take_dim(arg, &options->dim, state);
    case KEY_PROBE:
        return golden_take_probes(arg, &options->probes, state);
    case KEY_LARGE:
        options->large = 1;
        return 0;
    case KEY_KERNEL:
        options->spec = arg;
        if (pcast_kernel_parse(arg, &options->kernel, NULL, &err) != PCAST_OK)
            return cli_bad(state, "--kernel: %s", err.text);
        return 0;
    case KEY_UNKNOWN:
        return golden_take_unknown(arg, &options->unknown, state);
    case KEY_CPU:
        return cli_take_cpu(arg, &options->cpu, state);
    case ARGP_KEY_ARG:
        if (options->folder != NULL)
            return ARGP_ERR_UNKNOWN;
        options->folder = arg;
        return arg[0] != '\0' ? 0 : cli_bad(state, "'': is no folder name");
    case ARGP_KEY_END:
        if (options->folder == NULL)
            return cli_bad(state, "a folder is needed");
        if (options->unknown != 0 && options->spec == NULL)
            return cli_bad(state, "--unknown: names fields of --kernel, which is not given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp make_argp = {
    .options = make_argp_options,
    .parser = parse_option,
    .args_doc = "DIR",
    .doc = "Makes a golden suite in the folder DIR: problems as safetensors and NPY, what the "
           "known kernels answer, manifest.json, and two scripts to copy that run a kernel in "
           "Python on all of them. DIR is new or empty, or a suite, which is replaced."
           "\vExamples:\n"
           "  pcast golden make suite --kernel fa3\n"
           "  pcast golden make suite --kernel 'fa3:block=64' --unknown order,rescale_threshold",
};

static int is_wanted(const make_options *options, const pcast_probe *probe)
{
    for (size_t i = 0; i < options->probes.count; i++)
        if (strcmp(options->probes.items[i], probe->id) == 0)
            return 1;
    return options->probes.count == 0 && (options->large || !probe->large);
}

static pcast_status write_manifest(const golden_suite *suite, pcast_error *err)
{
    cli_output output;
    pcast_status status = golden_folder_open(suite->folder, "manifest.json", &output, err);
    if (status != PCAST_OK)
        return status;
    status = pcast_manifest_write(output.stream, &suite->manifest);
    if (status == PCAST_OK)
        return cli_output_commit(&output, err);
    snprintf(err->text, sizeof err->text, "manifest.json: cannot be written");
    cli_output_abandon(&output);
    return status;
}

/* All files, the manifest last. */
static pcast_status write_suite(const make_options *options, golden_suite *suite, pcast_error *err)
{
    pcast_manifest *manifest = &suite->manifest;
    cli_progress progress;
    size_t wanted = 0;
    for (size_t i = 0; i < pcast_probe_count(); i++)
        wanted += (size_t)is_wanted(options, pcast_probe_at(i));
    manifest->dim = options->dim;
    manifest->spec = options->spec;
    manifest->kernel = options->kernel;
    manifest->unknown = options->unknown;
    manifest->probes = pcast_manifest_alloc(manifest, wanted, sizeof *manifest->probes);
    if (manifest->probes == NULL) {
        snprintf(err->text, sizeof err->text, "out of memory");
        return PCAST_ERR_MEMORY;
    }
    pcast_status status = golden_folder_prepare(suite->folder, err);
    if (status == PCAST_OK)
        status = golden_write_runners(suite->folder, err);
    cli_progress_start(&progress, "probes", wanted);
    for (size_t i = 0; status == PCAST_OK && i < pcast_probe_count(); i++) {
        const pcast_probe *probe = pcast_probe_at(i);
        if (!is_wanted(options, probe))
            continue;
        status =
            golden_write_probe(suite, probe, options->dim, &manifest->probes[manifest->count], err);
        cli_progress_update(&progress, ++manifest->count, wanted);
    }
    cli_progress_end(&progress);
    return status == PCAST_OK ? write_manifest(suite, err) : status;
}

int golden_make(int argc, char **argv)
{
    make_options options = {.name = argv[0], .dim = GOLDEN_DIM, .cpu = pcast_cpu_detect()};
    pcast_error err = {""};
    int code = cli_parse(&make_argp, argc, argv, &options);
    if (code == EXIT_OK && options.spec != NULL)
        code = cli_check_kernel(options.name, "--kernel ", options.spec, &options.kernel);
    if (code == EXIT_OK) {
        golden_suite suite = {.folder = options.folder, .cpu = options.cpu};
        const pcast_status status = write_suite(&options, &suite, &err);
        if (status != PCAST_OK)
            code = cli_fail(cli_exit_code(status), options.name, "%s", err.text);
        pcast_manifest_free(&suite.manifest);
    }
    cli_list_free(&options.probes);
    return code < 0 ? EXIT_OK : code;
}
