/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouping a sweep's rows. */
#include "series.h"

#include "grid.h"

#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void find_columns(const csv_table *table, series_columns *columns)
{
    const struct {
        const char *name;
        int *column;
    } wanted[] = {
        {"kernel", &columns->kernel},
        {"order", &columns->order},
        {"scale", &columns->scale},
        {"delta", &columns->delta},
        {"n", &columns->n},
        {"dim", &columns->dim},
        {"block", &columns->block},
        {"sinks", &columns->sinks},
        {"sigma", &columns->sigma},
        {"trials", &columns->trials},
        {"underflow", &columns->underflow},
        {"underflow_se", &columns->underflow_se},
        {"mse", &columns->mse},
        {"mse_se", &columns->mse_se},
        {"mse_theory", &columns->mse_theory},
        {"rel_l2", &columns->rel_l2},
        {"layer", &columns->layer},
        {"head", &columns->head},
        {"gap", &columns->gap},
        {"gap_sigma", &columns->gap_sigma},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        *wanted[i].column = csv_column(table, wanted[i].name);
    /* The CSV of `pcast theory` has expectations in the place of measurements. */
    if (columns->underflow < 0)
        columns->underflow = csv_column(table, "theory_underflow");
    if (columns->mse < 0)
        columns->mse = columns->mse_theory;
}

static pcast_status missing(const char *path, const char *column, pcast_error *err)
{
    snprintf(err->text, sizeof err->text, "%s: no column '%s'; is it a sweep's CSV?", path, column);
    return PCAST_ERR_INPUT;
}

static pcast_status check_columns(const char *path, const series_columns *columns, pcast_error *err)
{
    if (columns->order < 0)
        return missing(path, "order", err);
    if (columns->scale < 0)
        return missing(path, "scale", err);
    if (columns->underflow < 0)
        return missing(path, "underflow", err);
    if (columns->mse < 0)
        return missing(path, "mse", err);
    if (columns->delta < 0 && columns->gap < 0)
        return missing(path, "delta", err);
    return PCAST_OK;
}

/* Every field of a numeric column must be empty or a number; x and the shape also finite and in
 * range. */
static pcast_status check_numbers(const series_set *set, const char *path, pcast_error *err)
{
    const series_columns *c = &set->columns;
    const struct {
        int column;
        double low, high; /* inf and nan are only for measured columns, whose range is NaN */
    } checks[] = {
        {c->delta, -1e6, 1e6},     {c->gap, -1e6, 1e6},         {c->n, 1, 1e12},
        {c->dim, 1, 1e12},         {c->block, 1, 1e12},         {c->sinks, 1, 1e12},
        {c->sigma, 0.1, 20},       {c->underflow, NAN, NAN},    {c->mse, NAN, NAN},
        {c->mse_theory, NAN, NAN}, {c->underflow_se, NAN, NAN}, {c->mse_se, NAN, NAN},
        {c->rel_l2, NAN, NAN},     {c->gap_sigma, NAN, NAN},
    };
    for (size_t row = 0; row < set->table.rows; row++)
        for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
            const char *text = csv_cell(&set->table, row, checks[i].column);
            char *end;
            const double value = strtod(text, &end);
            if (*text == '\0' ||
                (*end == '\0' &&
                 (isnan(checks[i].low) || (value >= checks[i].low && value <= checks[i].high))))
                continue;
            snprintf(err->text, sizeof err->text, "%s: row %zu: %s: '%.40s' is no number in range",
                     path, row + 2, csv_header(&set->table, checks[i].column), text);
            return PCAST_ERR_INPUT;
        }
    return PCAST_OK;
}

/* Fields that tell one series from another. */
enum { KEY_FIELDS = 8 };

static void key_columns(const series_set *set, int keys[KEY_FIELDS])
{
    const series_columns *columns = &set->columns;
    const int all[KEY_FIELDS] = {
        columns->order, columns->scale, columns->kernel, set->over_n ? -1 : columns->n,
        columns->dim,   columns->block, columns->sinks,  columns->sigma};
    memcpy(keys, all, sizeof all);
}

static int same_series(const series_set *set, size_t a, size_t b)
{
    int keys[KEY_FIELDS];
    key_columns(set, keys);
    for (int i = 0; i < KEY_FIELDS; i++)
        if (strcmp(csv_cell(&set->table, a, keys[i]), csv_cell(&set->table, b, keys[i])) != 0)
            return 0;
    return 1;
}

/* Does a column vary over the file, or over the rows of one kernel only? */
static int varies(const series_set *set, int column, int kernel_column, size_t row)
{
    const char *kernel = csv_cell(&set->table, row, kernel_column);
    const char *own = csv_cell(&set->table, row, column);
    for (size_t r = 0; r < set->table.rows; r++)
        if ((kernel_column < 0 || strcmp(csv_cell(&set->table, r, kernel_column), kernel) == 0) &&
            strcmp(csv_cell(&set->table, r, column), own) != 0)
            return 1;
    return 0;
}

/* Where the file has several kernels, the kernel and what tells its own series apart; else order
 * and scale, and what else differs. */
static void make_label(const series_set *set, series *one, size_t row)
{
    static const char *const names[KEY_FIELDS] = {"order", "S", "kernel", "N",
                                                  "d",     "B", "k",      "sigma"};
    int keys[KEY_FIELDS];
    key_columns(set, keys);
    const int kernels = varies(set, keys[2], -1, row);
    if (kernels)
        snprintf(one->label, sizeof one->label, "%s", csv_cell(&set->table, row, keys[2]));
    else
        snprintf(one->label, sizeof one->label, "%s, S = %s", csv_cell(&set->table, row, keys[0]),
                 csv_cell(&set->table, row, keys[1]));
    for (int i = kernels ? 0 : 3; i < KEY_FIELDS; i++) {
        const size_t length = strlen(one->label);
        if (i == 2 || !varies(set, keys[i], kernels ? keys[2] : -1, row))
            continue;
        snprintf(one->label + length, sizeof one->label - length, i == 0 ? ", %s%s" : ", %s = %s",
                 i == 0 ? "" : names[i], csv_cell(&set->table, row, keys[i]));
    }
}

static pcast_status start_series(series_set *set, series *one, const char *path, size_t row,
                                 pcast_error *err)
{
    const csv_table *table = &set->table;
    const series_columns *columns = &set->columns;
    const char *order = csv_cell(table, row, columns->order);
    one->scale = csv_value(table, row, columns->scale);
    if (strcmp(order, pcast_order_name(PCAST_ORDER_FORWARD)) == 0) {
        one->order = PCAST_ORDER_FORWARD;
    } else if (strcmp(order, pcast_order_name(PCAST_ORDER_REVERSE)) == 0) {
        one->order = PCAST_ORDER_REVERSE;
    } else {
        snprintf(err->text, sizeof err->text, "%s: row %zu: unknown order '%.40s'", path, row + 2,
                 order);
        return PCAST_ERR_INPUT;
    }
    if (!(one->scale > 0) || isinf(one->scale)) {
        snprintf(err->text, sizeof err->text, "%s: row %zu: scale is not a positive number", path,
                 row + 2);
        return PCAST_ERR_INPUT;
    }
    one->n = csv_value(table, row, columns->n);
    one->dim = csv_value(table, row, columns->dim);
    one->block = csv_value(table, row, columns->block);
    one->sinks = csv_value(table, row, columns->sinks);
    one->sigma = csv_value(table, row, columns->sigma);
    if (isnan(one->sigma))
        one->sigma = 1;
    one->rows = cli_alloc(table->rows, sizeof *one->rows);
    pcast_kernel kernel = {0};
    const char *spec = csv_cell(&set->table, row, set->columns.kernel);
    one->in_theory = *spec == '\0' || (pcast_kernel_parse(spec, &kernel, NULL, NULL) == PCAST_OK &&
                                       grid_beyond_theory(&kernel) == PCAST_FIELD_COUNT);
    make_label(set, one, row);
    return PCAST_OK;
}

static pcast_status group_rows(series_set *set, const char *path, pcast_error *err)
{
    set->all = cli_alloc(set->table.rows, sizeof *set->all);
    for (size_t row = 0; row < set->table.rows; row++) {
        size_t i = 0;
        while (i < set->count && !same_series(set, set->all[i].rows[0], row))
            i++;
        if (i == set->count) {
            const pcast_status status = start_series(set, &set->all[i], path, row, err);
            if (status != PCAST_OK)
                return status;
            set->count++;
        }
        set->all[i].rows[set->all[i].count++] = row;
    }
    return PCAST_OK;
}

/* Brings the rows of a series over Delta into ascending order. */
static void sort_rows(const series_set *set, series *one)
{
    for (size_t i = 1; i < one->count; i++) {
        const size_t row = one->rows[i];
        size_t j = i;
        for (; j > 0 && series_x(set, one->rows[j - 1]) > series_x(set, row); j--)
            one->rows[j] = one->rows[j - 1];
        one->rows[j] = row;
    }
}

pcast_status series_read(const char *path, series_set *set, pcast_error *err)
{
    csv_table table;
    const pcast_status status = csv_read(path, &table, err);
    return status == PCAST_OK ? series_from_table(path, &table, set, err) : status;
}

pcast_status series_from_table(const char *path, csv_table *table, series_set *set,
                               pcast_error *err)
{
    *set = (series_set){.table = *table};
    *table = (csv_table){0};
    pcast_status status;
    path = strcmp(path, "-") == 0 ? "standard input" : path;
    find_columns(&set->table, &set->columns);
    set->is_theory = csv_column(&set->table, "underflow") < 0;
    status = check_columns(path, &set->columns, err);
    if (status == PCAST_OK) {
        status = check_numbers(set, path, err);
    }
    if (status == PCAST_OK) {
        set->on_heads = 1;
        for (size_t row = 0; row < set->table.rows; row++)
            if (!isnan(csv_value(&set->table, row, set->columns.delta)))
                set->on_heads = 0;
        set->over_n = !set->on_heads && !varies(set, set->columns.delta, -1, 0) &&
                      varies(set, set->columns.n, -1, 0);
        status = group_rows(set, path, err);
        for (size_t i = 0; !set->on_heads && i < set->count; i++)
            sort_rows(set, &set->all[i]);
    }
    if (status != PCAST_OK)
        series_free(set);
    return status;
}

void series_free(series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->all[i].rows);
    free(set->all);
    csv_free(&set->table);
    *set = (series_set){0};
}

double series_x(const series_set *set, size_t row)
{
    const series_columns *columns = &set->columns;
    return csv_value(&set->table, row,
                     set->on_heads ? columns->gap
                     : set->over_n ? columns->n
                                   : columns->delta);
}
