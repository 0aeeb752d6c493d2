/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagnose command's parts: its results, and the forms they are written in. */
#ifndef PCAST_CLI_DIAGNOSE_H
#define PCAST_CLI_DIAGNOSE_H

#include "csv.h"
#include "layers.h"
#include "pcast/budget.h"
#include "pcast/diagnose.h"

typedef struct diagnose_options {
    const char *name; /* "pcast diagnose" */
    const char *spec;
    pcast_kernel kernel;
    const char *mask;           /* overrides the kernel's */
    char label[PCAST_SPEC_MAX]; /* the SPEC with it */
    layer_input input;
    cli_list sinks_text;
    sink_choice sinks;
    const char *output, *trade_off, *report;
    int argc;
    char **argv; /* as given */
    float softmax_scale;
    int quantize, text;
    unsigned long long threads;
    pcast_cpu cpu;
} diagnose_options;

/* One head of one layer. */
typedef struct diagnosed_head {
    const char *layer;
    size_t index;
    size_t sinks;
    pcast_diagnosis diagnosis;
    pcast_budget budget; /* only with --quantize */
} diagnosed_head;

/* Layers may differ in their keys, and then in how many sinks they have room for. */
typedef struct diagnosed_span {
    size_t fewest, most;
} diagnosed_span;

typedef struct diagnosed {
    diagnosed_head *heads;
    double *errors; /* [heads][candidates] relative L2 error */
    size_t count;
    diagnosed_span keys, sinks; /* of a head */
    pcast_candidate candidates[PCAST_CANDIDATES_MAX];
    size_t candidate_count;
    pcast_choice overall; /* one setting for all heads */
} diagnosed;

/* Does theory predict this kernel's lost keys? Forward order, and nothing beyond what it describes.
 */
int diagnose_is_predicted(const diagnose_options *options);

/* A candidate over all heads. */
pcast_regret diagnose_regret(const diagnosed *all, size_t candidate);

/* The candidate that is the kernel as it is, but for its output in FP32. */
size_t diagnose_own(const diagnose_options *options, const diagnosed *all);

/* A head's relative error with the kernel as it is, output in FP32. */
double diagnose_error_now(const diagnose_options *options, const diagnosed *all, size_t head);

/* "order=..., scale=..., rescale_threshold=...": a candidate's fields. */
void diagnose_setting(const diagnose_options *options, const pcast_candidate *candidate, char *text,
                      size_t size);

/* "512", or "128 to 512". */
const char *diagnose_span(diagnosed_span span, char text[48]);

/* Stages of a quantised kernel: Q, K, V, the cast of P, the output. */
enum { DIAGNOSE_STAGES = 5, DIAGNOSE_P_CAST = 3 };
extern const pcast_budget_stage diagnose_stages[DIAGNOSE_STAGES];
const char *diagnose_stage_name(size_t stage);

/* The cast of P is a small part of the squared error below this share. */
#define DIAGNOSE_SMALL_PART 0.1

/* Does the kernel cast any of Q, K and V? */
int diagnose_casts_inputs(const diagnose_options *options);

/* What each adds to the squared error, and its share among those that add to it. */
void diagnose_stage_errors(const pcast_budget *budget, double parts[DIAGNOSE_STAGES]);
void diagnose_stage_shares(const pcast_budget *budget, double shares[DIAGNOSE_STAGES]);

/* Mean over heads: squared error, and what each stage adds to it. */
double diagnose_stage_means(const diagnosed *all, double parts[DIAGNOSE_STAGES]);

enum { DIAGNOSE_ADVICE_MAX = 2048 };

/* In plain sentences: what to set, what it brings, from how much. */
void diagnose_advice(const diagnose_options *options, const diagnosed *all, char *text,
                     size_t size);

void diagnose_write_csv(csv_writer *csv, const diagnose_options *options, const diagnosed *all);
void diagnose_write_trade_off(csv_writer *csv, const diagnosed *all);
void diagnose_write_text(FILE *out, const diagnose_options *options, const diagnosed *all);

/* A page with figures and no request to anything outside it; returns an exit code after one line on
 * stderr. */
int diagnose_write_html(FILE *out, const diagnose_options *options, const diagnosed *all);

/* The page's paragraph of numbers, and its glossary. */
void diagnose_put_overview(FILE *out, const diagnosed *all);
void diagnose_put_terms(FILE *out);

/* The page's tables: heads, stages (with --quantize), the best candidates. */
void diagnose_put_heads(FILE *out, const diagnose_options *options, const diagnosed *all);
void diagnose_put_stages(FILE *out, const diagnosed *all);
void diagnose_put_candidates(FILE *out, const diagnose_options *options, const diagnosed *all);

#endif
