/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a diagnosis as gnuplot scripts. */
#ifndef PCAST_CLI_DIAGNOSE_FIGURES_H
#define PCAST_CLI_DIAGNOSE_FIGURES_H

#include "diagnose.h"
#include "gnuplot.h"

/* What a script is about. */
typedef struct diagnose_page {
    const diagnose_options *options;
    const diagnosed *all;
} diagnose_page;

gnuplot_script
    diagnose_figure_trade_off;         /* mean ratio to the best over S, by order and threshold */
gnuplot_script diagnose_figure_lost;   /* keys lost over the gap, simulated and predicted */
gnuplot_script diagnose_figure_errors; /* error of each head, now and with the one setting */
gnuplot_script diagnose_figure_stages; /* shares of the squared error by stage */

#endif
