/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a file of records: a line with the format and a check, and a line of JSON with the
 * sweep, written in one way however its options were given, and the trials. */
#include "pcast/records.h"

#include "records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What makes a sweep, in the order in which differences are looked for; each is an option. */
static const char *const axes[] = {"delta", "n", "dim", "sinks", "seed", "sigma", "draw", "budget"};
enum { AXES = sizeof axes / sizeof axes[0] };

static const char *const draw_words[] = {"normal", "equal", "ones"};
static const char not_given[] = "none"; /* of sigma: then it is 1, and no column */

static void *checked(void *pointer)
{
    if (pointer == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    return pointer;
}

static json_t *text_of_numbers(const double *numbers, size_t count)
{
    char *text = cli_alloc(count, 32);
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%s%.17g", i > 0 ? "," : "", numbers[i]);
    json_t *json = json_string(text);
    free(text);
    return json;
}

static json_t *text_of_counts(const size_t *counts, size_t count)
{
    char *text = cli_alloc(count, 24);
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%s%zu", i > 0 ? "," : "", counts[i]);
    json_t *json = json_string(text);
    free(text);
    return json;
}

static json_t *sweep_of(const sweep_options *options)
{
    const cli_grid *grid = &options->grid;
    const size_t seed[] = {(size_t)options->seed};
    json_t *kernels = checked(json_array()), *sweep = checked(json_object());
    for (size_t i = 0; i < grid->kernel_count; i++) {
        char *spec = grid_kernel_spec(&grid->kernels[i]);
        json_array_append_new(kernels, json_string(spec));
        free(spec);
    }
    json_object_set_new(sweep, "kernel", kernels);
    json_object_set_new(sweep, "delta", text_of_numbers(grid->deltas, grid->delta_count));
    json_object_set_new(sweep, "n", text_of_counts(grid->n, grid->n_count));
    json_object_set_new(sweep, "dim", text_of_counts(grid->dim, grid->dim_count));
    json_object_set_new(sweep, "sinks", text_of_counts(grid->sinks, grid->sinks_count));
    json_object_set_new(sweep, "seed", text_of_counts(seed, 1));
    json_object_set_new(sweep, "sigma",
                        options->sigma > 0 ? text_of_numbers(&options->sigma, 1)
                                           : json_string(not_given));
    json_object_set_new(sweep, "draw", json_string(draw_words[options->draw]));
    json_object_set_new(sweep, "budget", json_string(options->budget ? "yes" : "no"));
    return sweep;
}

/* Does this argument make the sweep a shard or say where to write? Then *words is how many words it
 * takes. Long options may be shortened while no other begins alike. */
static int of_shard(const char *argument, int *words)
{
    static const char *const names[] = {"first-trial", "trials", "records", "output"};
    *words = 1;
    if (strncmp(argument, "-o", 2) == 0) {
        *words = argument[2] == '\0' ? 2 : 1;
        return 1;
    }
    if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
        return 0;
    const size_t length = strcspn(argument + 2, "=");
    *words = argument[2 + length] == '=' ? 1 : 2;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(names[i], argument + 2, length) == 0)
            return 1;
    return 0;
}

/* The options as they were given, less those of the shard. */
static json_t *given_options(int argc, char **argv)
{
    json_t *all = checked(sweep_arguments(argc, argv)), *given = checked(json_array());
    for (int i = 1; i < argc; i++) {
        int words;
        if (of_shard(argv[i], &words)) {
            i += words - 1;
            continue;
        }
        json_array_append(given, json_array_get(all, (size_t)i - 1));
    }
    json_decref(all);
    return given;
}

char *records_header(const sweep_options *options, int argc, char **argv)
{
    json_t *json = checked(
        json_pack("{s:s, s:o, s:I, s:I, s:s, s:s, s:o}", "version", PCAST_VERSION, "sweep",
                  sweep_of(options), "first_trial", (json_int_t)options->first_trial, "trials",
                  (json_int_t)options->trials, "compiler", PCAST_COMPILER, "cpu_level",
                  pcast_cpu_name(options->cpu), "options", given_options(argc, argv)));
    char *line = checked(json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII));
    const size_t length = strlen(line), size = length + 40;
    char *text = cli_alloc(size, 1);
    snprintf(text, size, "pcast-records 1 %08" PRIx32 "\n%s\n", pcast_record_check(line, length),
             line);
    free(line);
    json_decref(json);
    return text;
}

static pcast_status bad(pcast_error *err, const char *what, const char *name)
{
    snprintf(err->text, sizeof err->text, what, name);
    return PCAST_ERR_INPUT;
}

/* A member of the sweep as text. */
static const char *axis(const records_info *info, const char *name)
{
    return json_string_value(json_object_get(json_object_get(info->json, "sweep"), name));
}

static pcast_status check_info(records_info *info, pcast_error *err)
{
    const json_t *sweep = json_object_get(info->json, "sweep");
    const json_t *kernels = json_object_get(sweep, "kernel");
    const char *version = json_string_value(json_object_get(info->json, "version"));
    const json_int_t first = json_integer_value(json_object_get(info->json, "first_trial"));
    const json_int_t trials = json_integer_value(json_object_get(info->json, "trials"));
    const json_int_t most = (json_int_t)1 << 32;
    if (version == NULL)
        return bad(err, "'%s' is missing", "version");
    if (strcmp(version, PCAST_VERSION) != 0)
        return bad(err, "is of pcast %s, this is pcast " PCAST_VERSION, version);
    if (json_array_size(kernels) == 0)
        return bad(err, "'%s' is missing", "kernel");
    for (size_t i = 0; i < json_array_size(kernels); i++)
        if (!json_is_string(json_array_get(kernels, i)))
            return bad(err, "'%s' is no list of texts", "kernel");
    for (size_t i = 0; i < AXES; i++)
        if (axis(info, axes[i]) == NULL)
            return bad(err, "'%s' is missing", axes[i]);
    if (!json_is_integer(json_object_get(info->json, "first_trial")) || first < 0 || first >= most)
        return bad(err, "'%s' is no number of a trial", "first_trial");
    if (trials < 1 || trials > most - first)
        return bad(err, "'%s' is no number of trials", "trials");
    info->first = (uint64_t)first;
    info->trials = (uint64_t)trials;
    return PCAST_OK;
}

pcast_status records_info_read(const char *line, size_t length, records_info *info,
                               pcast_error *err)
{
    json_error_t error;
    *info = (records_info){.json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error)};
    const pcast_status status =
        info->json != NULL ? check_info(info, err) : bad(err, "is no JSON: %s", error.text);
    if (status != PCAST_OK)
        records_info_free(info);
    return status;
}

void records_info_free(records_info *info)
{
    json_decref(info->json);
    *info = (records_info){0};
}

/* The first field in which two SPECs differ. */
static void differing_field(const char *a, const char *b, size_t kernel, const char *other_name,
                            pcast_error *err)
{
    size_t start = 0;
    for (size_t i = 0; a[i] == b[i] && a[i] != '\0'; i++)
        if (a[i] == ':' || a[i] == ';')
            start = i + 1;
    snprintf(err->text, sizeof err->text, "--kernel: kernel %zu is %.*s, but %.*s in %s", kernel,
             (int)strcspn(a + start, ":;"), a + start, (int)strcspn(b + start, ":;"), b + start,
             other_name);
}

int records_same_sweep(const records_info *this, const records_info *other, const char *other_name,
                       pcast_error *err)
{
    const json_t *a = json_object_get(json_object_get(this->json, "sweep"), "kernel");
    const json_t *b = json_object_get(json_object_get(other->json, "sweep"), "kernel");
    const size_t count = json_array_size(a), others = json_array_size(b);
    for (size_t i = 0; i < count && i < others; i++)
        if (!json_equal(json_array_get(a, i), json_array_get(b, i))) {
            differing_field(json_string_value(json_array_get(a, i)),
                            json_string_value(json_array_get(b, i)), i, other_name, err);
            return 0;
        }
    if (count != others) {
        snprintf(err->text, sizeof err->text, "--kernel: %zu kernels, but %zu in %s", count, others,
                 other_name);
        return 0;
    }
    for (size_t i = 0; i < AXES; i++) {
        const char *x = axis(this, axes[i]), *y = axis(other, axes[i]);
        if (strcmp(x, y) == 0)
            continue;
        snprintf(err->text, sizeof err->text, "--%s is %.100s%s, but %.100s%s in %s", axes[i], x,
                 strlen(x) > 100 ? "..." : "", y, strlen(y) > 100 ? "..." : "", other_name);
        return 0;
    }
    return 1;
}

static pcast_status take_kernels(const records_info *info, cli_grid *grid, pcast_error *err)
{
    const json_t *kernels = json_object_get(json_object_get(info->json, "sweep"), "kernel");
    grid->kernels = cli_alloc(json_array_size(kernels), sizeof *grid->kernels);
    grid->kernel_count = json_array_size(kernels);
    for (size_t i = 0; i < grid->kernel_count; i++) {
        const char *spec = json_string_value(json_array_get(kernels, i));
        pcast_kernel *kernel = &grid->kernels[i].kernel;
        if (pcast_kernel_parse(spec, kernel, NULL, err) != PCAST_OK ||
            pcast_kernel_validate(kernel, err) != PCAST_OK)
            return PCAST_ERR_INPUT;
        grid_name_kernel(&grid->kernels[i], spec);
    }
    return PCAST_OK;
}

static pcast_status take_scalars(const records_info *info, sweep_options *options, pcast_error *err)
{
    const char *sigma = axis(info, "sigma"), *draw = axis(info, "draw");
    if (cli_parse_count(axis(info, "seed"), 0, UINT64_MAX, &options->seed, err) != PCAST_OK)
        return PCAST_ERR_INPUT;
    if (strcmp(sigma, not_given) != 0 &&
        (cli_parse_double(sigma, &options->sigma, err) != PCAST_OK || !(options->sigma > 0)))
        return bad(err, "sigma: '%s' is no spread", sigma);
    options->budget = strcmp(axis(info, "budget"), "yes") == 0;
    for (size_t i = 0; i < sizeof draw_words / sizeof draw_words[0]; i++)
        if (strcmp(draw, draw_words[i]) == 0) {
            options->draw = (pcast_draw)i;
            return PCAST_OK;
        }
    return bad(err, "draw: '%s' is unknown", draw);
}

pcast_status records_options(const records_info *info, sweep_options *options, pcast_error *err)
{
    cli_grid *grid = &options->grid;
    cli_list *const lists[] = {&grid->delta_text, &grid->n_text, &grid->dim_text,
                               &grid->sinks_text}; /* in the order of axes */
    options->first_trial = info->first;
    options->trials = info->trials;
    pcast_status status = take_scalars(info, options, err);
    for (size_t i = 0; status == PCAST_OK && i < 4; i++) {
        const char *text = axis(info, axes[i]);
        status = strchr(text, ':') == NULL ? cli_list_parse(text, lists[i], err)
                                           : bad(err, "'%s' is no list of numbers", text);
    }
    if (status == PCAST_OK)
        status = take_kernels(info, grid, err);
    if (status == PCAST_OK && (grid_resolve_axes(grid, options->name) != EXIT_OK ||
                               grid_check_rows(grid, options->name) != EXIT_OK))
        status = bad(err, "is of no sweep that can be run%s", "");
    return status == PCAST_OK ? PCAST_OK : PCAST_ERR_INPUT;
}
