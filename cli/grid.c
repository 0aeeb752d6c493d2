/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid options and their expansion to kernels and numbers. */
#include "grid.h"

#include "pcast/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Defaults: the paper's lists. A kernel field takes its list only under the preset `paper`, any
 * other preset keeps its own value. */
static const char *const paper_lists[PCAST_FIELD_COUNT] = {
    [PCAST_FIELD_ORDER] = "forward,reverse",
    [PCAST_FIELD_SCALE] = "1,256,448",
};

static error_t take_list(cli_list *list, const char *option, const char *arg,
                         struct argp_state *state)
{
    pcast_error err;
    cli_list_free(list); /* the last one given counts */
    if (cli_list_parse(arg, list, &err) != PCAST_OK)
        return cli_bad(state, "--%s: %s", option, err.text);
    return 0;
}

static error_t take_field(cli_grid *grid, pcast_field field, const char *arg,
                          struct argp_state *state)
{
    const char *name = pcast_field_name(field);
    const error_t error = take_list(&grid->fields[field], name, arg, state);
    pcast_kernel scratch;
    pcast_error err;
    for (size_t i = 0; error == 0 && i < grid->fields[field].count; i++)
        if (pcast_kernel_set(&scratch, field, grid->fields[field].items[i], &err) != PCAST_OK)
            return cli_bad(state, "--%s", err.text); /* the message begins with the field's name */
    return error;
}

static error_t take_spec(cli_grid *grid, const char *arg, struct argp_state *state)
{
    pcast_kernel kernel;
    pcast_error err;
    if (pcast_kernel_parse(arg, &kernel, NULL, &err) != PCAST_OK)
        return cli_bad(state, "--kernel: %s", err.text);
    char **grown = realloc(grid->specs.items, (grid->specs.count + 1) * sizeof *grown);
    char *copy = strdup(arg);
    if (grown == NULL || copy == NULL)
        return ENOMEM;
    grid->specs.items = grown;
    grid->specs.items[grid->specs.count++] = copy;
    return 0;
}

error_t grid_option(cli_grid *grid, int key, const char *arg, struct argp_state *state)
{
    switch (key) {
    case GRID_KERNEL:
        return take_spec(grid, arg, state);
    case GRID_ORDER:
        return take_field(grid, PCAST_FIELD_ORDER, arg, state);
    case GRID_BLOCK:
        return take_field(grid, PCAST_FIELD_BLOCK, arg, state);
    case GRID_SCALE:
        return take_field(grid, PCAST_FIELD_SCALE, arg, state);
    case GRID_SEMANTICS:
        return take_field(grid, PCAST_FIELD_SEMANTICS, arg, state);
    case GRID_MASK:
        return take_field(grid, PCAST_FIELD_MASK, arg, state);
    case GRID_DELTA:
        return take_list(&grid->delta_text, "delta", arg, state);
    case GRID_N:
        return take_list(&grid->n_text, "n", arg, state);
    case GRID_DIM:
        return take_list(&grid->dim_text, "dim", arg, state);
    case GRID_SINKS:
        return take_list(&grid->sinks_text, "sinks", arg, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Copies each kernel once for every value of the axis. */
static int multiply(cli_grid *grid, size_t first, pcast_field field, const cli_list *axis,
                    const char *name)
{
    const size_t old = grid->kernel_count - first;
    grid_kernel *all = cli_alloc(first + old * axis->count, sizeof *all);
    memcpy(all, grid->kernels, first * sizeof *all);
    pcast_error err;
    for (size_t i = 0; i < old; i++)
        for (size_t v = 0; v < axis->count; v++) {
            grid_kernel *copy = &all[first + i * axis->count + v];
            *copy = grid->kernels[first + i];
            if (pcast_kernel_set(&copy->kernel, field, axis->items[v], &err) != PCAST_OK) {
                free(all);
                return cli_fail(EXIT_USAGE, name, "--%s", err.text);
            }
        }
    free(grid->kernels);
    grid->kernels = all;
    grid->kernel_count = first + old * axis->count;
    return EXIT_OK;
}

/* Appends all kernels of one SPEC: outermost axis first, in the order of the rows of the CSV. */
static int expand_spec(cli_grid *grid, const char *spec, const char *name)
{
    static const pcast_field axes[] = {PCAST_FIELD_SEMANTICS, PCAST_FIELD_MASK, PCAST_FIELD_BLOCK,
                                       PCAST_FIELD_ORDER, PCAST_FIELD_SCALE};
    uint64_t given;
    pcast_error err;
    const size_t first = grid->kernel_count;
    grid_kernel *grown = realloc(grid->kernels, (first + 1) * sizeof *grown);
    if (grown == NULL)
        return cli_fail(EXIT_OUTPUT, name, "out of memory");
    grid->kernels = grown;
    if (pcast_kernel_parse(spec, &grid->kernels[first].kernel, &given, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, name, "--kernel: %s", err.text);
    grid->kernel_count = first + 1;
    const int is_paper = strncmp(spec, "paper", strcspn(spec, ":")) == 0;

    int code = EXIT_OK;
    for (size_t a = 0; code == EXIT_OK && a < sizeof axes / sizeof axes[0]; a++) {
        const pcast_field field = axes[a];
        if (grid->fields[field].count > 0) {
            code = multiply(grid, first, field, &grid->fields[field], name);
        } else if (is_paper && paper_lists[field] != NULL && !((given >> field) & 1) &&
                   !(field == PCAST_FIELD_SCALE && ((given >> PCAST_FIELD_SCALE_LOG2) & 1))) {
            cli_list list;
            if (cli_list_parse(paper_lists[field], &list, &err) != PCAST_OK)
                return cli_fail(EXIT_USAGE, name, "%s", err.text);
            code = multiply(grid, first, field, &list, name);
            cli_list_free(&list);
        }
    }
    for (size_t i = first; code == EXIT_OK && i < grid->kernel_count; i++) {
        code = cli_check_kernel(name, "--kernel ", spec, &grid->kernels[i].kernel);
        grid_name_kernel(&grid->kernels[i], spec);
    }
    return code;
}

static int resolve_counts(cli_list *text, const char *option, const char *fallback,
                          unsigned long long max, size_t **values, size_t *count, const char *name)
{
    pcast_error err;
    if (text->count == 0 && cli_list_parse(fallback, text, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, name, "%s", err.text);
    *count = text->count;
    *values = cli_alloc(text->count, sizeof **values);
    for (size_t i = 0; i < text->count; i++) {
        unsigned long long value;
        if (cli_parse_count(text->items[i], 1, max, &value, &err) != PCAST_OK)
            return cli_fail(EXIT_USAGE, name, "--%s: %s", option, err.text);
        (*values)[i] = (size_t)value;
    }
    return EXIT_OK;
}

int grid_set_defaults(cli_grid *grid, const char *specs, pcast_field field, const char *values)
{
    pcast_error err;
    pcast_status status = PCAST_OK;
    if (specs != NULL && grid->specs.count == 0)
        status = cli_list_parse(specs, &grid->specs, &err);
    if (status == PCAST_OK && grid->fields[field].count == 0)
        status = cli_list_parse(values, &grid->fields[field], &err);
    return status == PCAST_OK ? EXIT_OK : cli_fail(cli_exit_code(status), "pcast", "%s", err.text);
}

int grid_resolve_kernels(cli_grid *grid, const char *name)
{
    int code = EXIT_OK;
    if (grid->specs.count == 0)
        code = expand_spec(grid, "paper", name);
    for (size_t i = 0; code == EXIT_OK && i < grid->specs.count; i++)
        code = expand_spec(grid, grid->specs.items[i], name);
    return code;
}

static int resolve_deltas(cli_grid *grid, const char *name)
{
    pcast_error err;
    if (grid->delta_text.count == 0 &&
        cli_list_parse("0:12:0.5", &grid->delta_text, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, name, "%s", err.text);
    grid->delta_count = grid->delta_text.count;
    grid->deltas = cli_alloc(grid->delta_count, sizeof *grid->deltas);
    for (size_t i = 0; i < grid->delta_count; i++)
        if (cli_parse_double(grid->delta_text.items[i], &grid->deltas[i], &err) != PCAST_OK)
            return cli_fail(EXIT_USAGE, name, "--delta: %s", err.text);
    for (size_t i = 0; i < grid->delta_count; i++)
        if (!(fabs(grid->deltas[i]) <= PCAST_DELTA_MAX))
            return cli_fail(EXIT_USAGE, name, "--delta: '%s' is not from -%d to %d",
                            grid->delta_text.items[i], PCAST_DELTA_MAX, PCAST_DELTA_MAX);
    return EXIT_OK;
}

int grid_resolve_axes(cli_grid *grid, const char *name)
{
    int code = resolve_deltas(grid, name);
    if (code == EXIT_OK)
        code =
            resolve_counts(&grid->n_text, "n", "4096", 1ull << 32, &grid->n, &grid->n_count, name);
    if (code == EXIT_OK)
        code = resolve_counts(&grid->dim_text, "dim", "128", 1 << 20, &grid->dim, &grid->dim_count,
                              name);
    if (code == EXIT_OK)
        code = resolve_counts(&grid->sinks_text, "sinks", "4", PCAST_BLOCK_MAX, &grid->sinks,
                              &grid->sinks_count, name);
    return code;
}

int grid_check_rows(const cli_grid *grid, const char *name)
{
    pcast_error err;
    for (size_t i = 0; i < grid->sinks_count; i++)
        for (size_t j = 0; j < grid->n_count; j++)
            for (size_t d = 0; d < grid->dim_count; d++)
                for (size_t n = 0; n < grid->kernel_count; n++)
                    if (pcast_synthetic_check_row(&grid->kernels[n].kernel, grid->n[j],
                                                  grid->dim[d], grid->sinks[i], &err) != PCAST_OK)
                        return cli_fail(EXIT_USAGE, name, "%s", err.text);
    return EXIT_OK;
}

pcast_theory_row grid_theory_row(const pcast_kernel *kernel, size_t keys, size_t dim, size_t sinks,
                                 double delta)
{
    pcast_kernel resolved = *kernel;
    pcast_kernel_resolve(&resolved, dim);
    return (pcast_theory_row){
        .order = kernel->order,
        .keys = keys,
        .sinks = sinks,
        .block = resolved.block,
        .scale = (double)kernel->scale,
        .delta = delta,
        .sigma = 1,
    };
}

pcast_field grid_beyond_theory(const pcast_kernel *kernel)
{
    const struct {
        int beyond;
        pcast_field field;
    } rules[] = {
        {kernel->semantics != PCAST_SEMANTICS_FP32, PCAST_FIELD_SEMANTICS},
        {kernel->splits > 1, PCAST_FIELD_SPLITS},
        {kernel->partition > 0, PCAST_FIELD_PARTITION},
        {kernel->rescale_threshold > 0, PCAST_FIELD_RESCALE_THRESHOLD},
        {kernel->row_sum != PCAST_ROW_SUM_PRECAST, PCAST_FIELD_ROW_SUM},
        {kernel->normalise != PCAST_NORMALISE_END, PCAST_FIELD_NORMALISE},
        {kernel->p_format != PCAST_E4M3, PCAST_FIELD_P_FORMAT},
        {kernel->sink_given, PCAST_FIELD_SINK_LOGIT},
        {kernel->softcap > 0, PCAST_FIELD_SOFTCAP},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].beyond)
            return rules[i].field;
    return PCAST_FIELD_COUNT;
}

void grid_free(cli_grid *grid)
{
    cli_list_free(&grid->specs);
    for (int i = 0; i < PCAST_FIELD_COUNT; i++)
        cli_list_free(&grid->fields[i]);
    cli_list_free(&grid->delta_text);
    cli_list_free(&grid->n_text);
    cli_list_free(&grid->dim_text);
    cli_list_free(&grid->sinks_text);
    free(grid->kernels);
    free(grid->deltas);
    free(grid->n);
    free(grid->dim);
    free(grid->sinks);
    *grid = (cli_grid){0};
}
