/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's figures. */
#ifndef PCAST_CLI_FIGURES_H
#define PCAST_CLI_FIGURES_H

#include "pcast/paper.h"

/* Writes underflow.svg, mse.svg, dp.svg and ratio.svg into the folder, which is made if it is
 * missing. Returns an exit code after one line on stderr. */
int figures_draw(const char *name, const char *folder, const pcast_paper *paper);

#endif
