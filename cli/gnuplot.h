/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running gnuplot, and what its scripts share. */
#ifndef PCAST_CLI_GNUPLOT_H
#define PCAST_CLI_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

/* Writes a script about data. */
typedef void gnuplot_script(FILE *script, const void *data);

/* Starts gnuplot without a shell on what put writes, and writes the picture to `picture` once it is
 * complete. name is the command's; returns an exit code after one line on stderr. */
int gnuplot_draw(const char *name, FILE *picture, gnuplot_script *put, const void *data);

/* Is gnuplot there? Returns an exit code likewise. */
int gnuplot_check(const char *name);

/* Text as a string: single quotes, and only harmless characters. */
void gnuplot_string(FILE *script, const char *text);

/* One colour for each series: Okabe and Ito's palette, told apart by readers with any colour
 * vision, and beyond it hues a golden ratio apart. text is room for it. */
const char *gnuplot_color(size_t i, char text[8]);

/* Grid, key, border and the names of the axes. */
void gnuplot_axes(FILE *script, const char *key, const char *x, const char *y);

/* Room at both ends of an axis, so that a single value has a range too. */
double gnuplot_margin(double low, double high);

/* A panel without values, which gnuplot refuses to draw without a plot. */
void gnuplot_nothing(FILE *script);

/* Begins an element of one plot command: "plot ", and from then on a comma. */
void gnuplot_element(FILE *script, int *any);

#endif
