/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grouping a sweep's rows. */
#include "series.h"

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
        {"trials", &columns->trials},
        {"underflow", &columns->underflow},
        {"underflow_se", &columns->underflow_se},
        {"mass_kept", &columns->mass_kept},
        {"mse", &columns->mse},
        {"mse_se", &columns->mse_se},
        {"rel_l2", &columns->rel_l2},
        {"layer", &columns->layer},
        {"head", &columns->head},
        {"gap", &columns->gap},
        {"gap_sigma", &columns->gap_sigma},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        *wanted[i].column = csv_column(table, wanted[i].name);
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

/* Fields that tell one series from another. */
enum { KEY_FIELDS = 7 };

static void key_columns(const series_columns *columns, int keys[KEY_FIELDS])
{
    const int all[KEY_FIELDS] = {columns->order, columns->scale, columns->kernel, columns->n,
                                 columns->dim,   columns->block, columns->sinks};
    memcpy(keys, all, sizeof all);
}

static int same_series(const series_set *set, size_t a, size_t b)
{
    int keys[KEY_FIELDS];
    key_columns(&set->columns, keys);
    for (int i = 0; i < KEY_FIELDS; i++)
        if (strcmp(csv_cell(&set->table, a, keys[i]), csv_cell(&set->table, b, keys[i])) != 0)
            return 0;
    return 1;
}

/* order and scale, then those further key fields that differ somewhere in the file. */
static void make_label(const series_set *set, series *one, size_t row)
{
    static const char *const names[KEY_FIELDS] = {"order", "S", "kernel", "N", "d", "B", "k"};
    int keys[KEY_FIELDS];
    key_columns(&set->columns, keys);
    snprintf(one->label, sizeof one->label, "%s, S = %s", csv_cell(&set->table, row, keys[0]),
             csv_cell(&set->table, row, keys[1]));
    for (int i = 2; i < KEY_FIELDS; i++) {
        int varies = 0;
        for (size_t r = 1; r < set->table.rows; r++)
            varies |=
                strcmp(csv_cell(&set->table, r, keys[i]), csv_cell(&set->table, 0, keys[i])) != 0;
        const size_t length = strlen(one->label);
        if (varies)
            snprintf(one->label + length, sizeof one->label - length, ", %s = %s", names[i],
                     csv_cell(&set->table, row, keys[i]));
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
    one->block = csv_value(table, row, columns->block);
    one->sinks = csv_value(table, row, columns->sinks);
    one->rows = cli_alloc(table->rows, sizeof *one->rows);
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

pcast_status series_read(const char *path, series_set *set, pcast_error *err)
{
    *set = (series_set){0};
    pcast_status status = csv_read(path, &set->table, err);
    if (status != PCAST_OK)
        return status;
    find_columns(&set->table, &set->columns);
    status = check_columns(path, &set->columns, err);
    if (status == PCAST_OK) {
        set->on_heads = 1;
        for (size_t row = 0; row < set->table.rows; row++)
            if (!isnan(csv_value(&set->table, row, set->columns.delta)))
                set->on_heads = 0;
        status = group_rows(set, path, err);
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
    return csv_value(&set->table, row, set->on_heads ? set->columns.gap : set->columns.delta);
}
