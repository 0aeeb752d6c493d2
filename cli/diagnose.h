/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagnose command's parts: its results, and the forms they are written in. */
#ifndef PCAST_CLI_DIAGNOSE_H
#define PCAST_CLI_DIAGNOSE_H

#include "csv.h"
#include "layers.h"
#include "pcast/attend.h"
#include "pcast/diagnose.h"

typedef struct diagnose_options {
    const char *name; /* "pcast diagnose" */
    const char *spec;
    pcast_kernel kernel;
    const char *mask; /* overrides the kernel's */
    layer_input input;
    cli_list sinks_text;
    sink_choice sinks;
    const char *output, *trade_off, *report;
    float softmax_scale;
    int quantize, text;
    unsigned long long threads;
    pcast_cpu cpu;
} diagnose_options;

/* One head of one layer. */
typedef struct diagnosed_head {
    const char *layer;
    size_t index;
    pcast_diagnosis diagnosis;
    pcast_stage_errors stages; /* only with --quantize */
} diagnosed_head;

typedef struct diagnosed {
    diagnosed_head *heads;
    double *errors; /* [heads][candidates] relative L2 error */
    size_t count, sinks, keys;
    pcast_candidate candidates[PCAST_CANDIDATES_MAX];
    size_t candidate_count;
    pcast_choice overall; /* one setting for all heads */
} diagnosed;

/* "fa3:order=...;scale=...": the kernel's SPEC with a candidate's fields, those that differ. */
void diagnose_setting(const diagnose_options *options, const pcast_candidate *candidate, char *text,
                      size_t size);

/* Over all heads: mean and largest ratio of a candidate's error to the best of the same head. */
void diagnose_regret(const diagnosed *all, size_t candidate, double *mean, double *largest);

/* One plain sentence: what to set, what it brings. */
void diagnose_advice(const diagnose_options *options, const diagnosed *all, char *text,
                     size_t size);

void diagnose_write_csv(csv_writer *csv, const diagnose_options *options, const diagnosed *all);
void diagnose_write_trade_off(csv_writer *csv, const diagnosed *all);
void diagnose_write_text(FILE *out, const diagnose_options *options, const diagnosed *all);

/* A page with figures and no request to anything outside it; returns an exit code. */
int diagnose_write_html(FILE *out, const diagnose_options *options, const diagnosed *all);

#endif
