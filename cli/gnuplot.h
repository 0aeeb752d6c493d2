/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot. */
#ifndef PCAST_CLI_GNUPLOT_H
#define PCAST_CLI_GNUPLOT_H

#include <stdio.h>

/* Starts gnuplot without a shell on the script (read from its start) and writes the picture to
 * `picture` once it is complete. name is the command's; returns an exit code after one line on
 * stderr. */
int gnuplot_run(const char *name, FILE *script, FILE *picture);

#endif
