/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error budget of a kernel as a picture. */
#ifndef PCAST_CLI_PLOT_BUDGET_H
#define PCAST_CLI_PLOT_BUDGET_H

#include "csv.h"

#include <stdio.h>

/* Is it the CSV of `pcast attend --budget`? */
int plot_budget_is(const csv_table *table);

/* A gnuplot script for its first rows, at most twelve; terminal is "svg" or "png". */
void plot_budget_script(FILE *script, const char *terminal, const csv_table *table);

#endif
