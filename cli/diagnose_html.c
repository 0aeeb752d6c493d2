/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis as one HTML page that asks nothing of anything outside it. */
#include "diagnose_figures.h"
#include "html.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{margin:0;background:#fff;color:#1a1a1a;font:1rem/1.5 system-ui,sans-serif}\n"
    "main{max-width:68rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}\n"
    "h2{font-size:1.25rem;margin:2rem 0 .5rem}\n"
    "h1,code,dd{overflow-wrap:anywhere}\n"
    "code,kbd{font:.9em ui-monospace,monospace}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0}\n"
    "p,dl,figcaption{max-width:48rem}\n"
    ".inputs{display:grid;grid-template-columns:auto 1fr;gap:0 .75rem}"
    ".inputs dd{margin:0}\n"
    "a{color:#0b5394}\n"
    ".advice{border-left:.3rem solid #0072b2;background:#eef5fa;padding:.75rem 1rem}\n"
    "dl{margin:.5rem 0}dt{font-weight:600}dd{margin:0 0 .5rem 1rem}\n"
    "figure{margin:0}h2{break-after:avoid}.drawn{break-inside:avoid}\n"
    "figcaption{color:#333;margin:.25rem 0 0}\n"
    ".scroll{overflow-x:auto}.scroll+.scroll{margin-top:1rem}\n"
    ".scroll svg{display:block;width:100%;min-width:22rem;max-width:40rem;height:auto}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:.25rem 0;color:#333}\n"
    "th,td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid #ddd;"
    "white-space:nowrap}\n"
    "thead th{vertical-align:bottom;border-bottom:2px solid #888;white-space:normal}\n"
    "tbody th{font-weight:400}\n"
    "tbody tr:nth-child(even){background:#f6f6f6}\n"
    "@media print{main{max-width:none;padding:0}nav{display:none}table{font-size:.6rem}"
    "th,td{padding:.1rem .2rem}.scroll{overflow:visible}.scroll svg{min-width:0;max-width:34rem}"
    "thead{display:table-header-group}tr{break-inside:avoid}}\n";

static void put_item(FILE *out, const char *term, const char *text)
{
    fprintf(out, "<dt>%s</dt><dd><code>", term);
    html_text(out, text);
    fprintf(out, "</code></dd>\n");
}

static void put_top(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    char keys[48], sinks[48], mask[64], advice[DIAGNOSE_ADVICE_MAX];
    const size_t layers = layers_count(&options->input);
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'\">\n<title>What ");
    html_text(out, options->label);
    fprintf(out, " does to these heads</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
            style);
    fprintf(out, "<h1>What <code>");
    html_text(out, options->label);
    fprintf(out, "</code> does to these heads</h1>\n<dl class=\"inputs\">\n");
    static const char *const names[LAYER_FILES] = {"Q", "K", "V", "Scores"};
    for (int i = 0; i < LAYER_FILES; i++)
        if (options->input.paths[i] != NULL)
            put_item(out, names[i], options->input.paths[i]);
    pcast_kernel_get(&options->kernel, PCAST_FIELD_MASK, mask, sizeof mask);
    fprintf(out, "</dl>\n<p>%zu layer%s, %zu head%s, %s keys, %s sink%s a head; mask %s.</p>\n",
            layers, layers == 1 ? "" : "s", all->count, all->count == 1 ? "" : "s",
            diagnose_span(all->keys, keys), diagnose_span(all->sinks, sinks),
            all->sinks.most == 1 ? "" : "s", mask);
    diagnose_advice(options, all, advice, sizeof advice);
    fprintf(out, "<p class=\"advice\"><strong>Advice.</strong> ");
    html_text(out, advice);
    fprintf(out, "</p>\n");
}

static void put_contents(FILE *out, const diagnose_options *options)
{
    fprintf(out, "<nav aria-label=\"Contents\">\n<ul>\n"
                 "<li><a href=\"#trade-off\">Trade-off</a></li>\n"
                 "<li><a href=\"#lost\">Lost keys</a></li>\n"
                 "<li><a href=\"#errors\">Errors</a></li>\n");
    if (options->quantize)
        fprintf(out, "<li><a href=\"#stages\">Stages</a></li>\n");
    fprintf(out, "<li><a href=\"#heads\">Heads</a></li>\n"
                 "<li><a href=\"#settings\">Settings</a></li>\n"
                 "<li><a href=\"#terms\">Terms</a></li>\n"
                 "<li><a href=\"#made\">How it was computed</a></li>\n</ul>\n</nav>\n");
}

/* A section with a figure; the caption, which is the figure's description, is complete HTML. */
static int put_figure(FILE *out, const diagnose_page *page, const char *id, const char *title,
                      const char *caption, gnuplot_script *put)
{
    char *svg = NULL;
    size_t size = 0;
    FILE *picture = open_memstream(&svg, &size);
    if (picture == NULL)
        return cli_fail(EXIT_OUTPUT, page->options->name, "out of memory");
    int code = gnuplot_draw(page->options->name, picture, put, page);
    if (fclose(picture) != 0 && code == EXIT_OK)
        code = cli_fail(EXIT_OUTPUT, page->options->name, "out of memory");
    if (code == EXIT_OK) {
        fprintf(out,
                "<section class=\"drawn\" aria-labelledby=\"%s-title\" id=\"%s\">\n<h2 "
                "id=\"%s-title\">%s</h2>\n<figure>\n<div class=\"scroll\" role=\"region\" "
                "tabindex=\"0\" aria-labelledby=\"%s-title\">\n",
                id, id, id, title, id);
        html_picture(out, svg, size, id);
        fprintf(out,
                "</div>\n<figcaption id=\"%s-caption\">%s</figcaption>\n</figure>\n</section>\n",
                id, caption);
    }
    free(svg);
    return code;
}

static int put_figures(FILE *out, const diagnose_page *page)
{
    const int predicted = diagnose_is_predicted(page->options);
    int code = put_figure(
        out, page, "trade-off", "What order, S and threshold cost",
        "Error of every setting over the least that any reaches in the same head, mean over heads, "
        "against the static scale S. One line for each rescale_threshold, in powers of two; lower "
        "is better, and 1 is the best setting of every head at once. On a flat bottom the kernel's "
        "own "
        "setting stays, else the largest S that cannot saturate is taken.",
        diagnose_figure_trade_off);
    if (code == EXIT_OK)
        code = put_figure(
            out, page, "lost", "Which keys are lost",
            predicted ? "Share of the keys that are no sinks whose P the cast turns into zero, "
                        "against the head's gap: simulated, and predicted from the scores alone. A "
                        "grey line joins the two of a head."
                      : "Share of the keys that are no sinks whose P the cast turns into zero, "
                        "against the head's gap, simulated. The closed forms do not describe this "
                        "kernel: they are for the forward order without a stale maximum.",
            diagnose_figure_lost);
    if (code == EXIT_OK)
        code = put_figure(
            out, page, "errors", "Error now and with the recommended setting",
            "Relative L2 error of each head's output against exact attention, output in FP32 "
            "in both: heads below the line gain, those above it lose.",
            diagnose_figure_errors);
    if (code == EXIT_OK && page->options->quantize)
        code = put_figure(
            out, page, "stages", "Error by stage",
            "What quantising Q, K and V, casting P and rounding the output each add to the squared "
            "error of a head's output: the error less that without the stage, as a share of all "
            "that add to it. A stage that takes some away counts as nothing.",
            diagnose_figure_stages);
    return code;
}

static void put_tables(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    fprintf(out, "<section aria-labelledby=\"heads-title\" id=\"heads\">\n"
                 "<h2 id=\"heads-title\">Heads</h2>\n");
    diagnose_put_heads(out, options, all);
    if (options->quantize)
        diagnose_put_stages(out, all);
    fprintf(out, "</section>\n<section aria-labelledby=\"settings-title\" id=\"settings\">\n"
                 "<h2 id=\"settings-title\">Settings</h2>\n");
    diagnose_put_candidates(out, options, all);
    fprintf(out, "</section>\n");
}

/* An argument as a shell takes it. */
static void put_argument(FILE *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
    const int quoted = *text == '\0' || text[strspn(text, plain)] != '\0';
    char *word = cli_alloc(4 * strlen(text) + 3, 1), *end = word;
    if (quoted)
        *end++ = '\'';
    for (; *text != '\0'; text++)
        if (*text == '\'')
            end = stpcpy(end, "'\\''");
        else
            *end++ = *text;
    if (quoted)
        *end++ = '\'';
    *end = '\0';
    fputc(' ', out);
    html_text(out, word);
    free(word);
}

/* Is this candidate the first with its S, or with its threshold? */
static int is_new(const diagnosed *all, size_t candidate, int threshold)
{
    for (size_t i = 0; i < candidate; i++)
        if (threshold ? all->candidates[i].tau == all->candidates[candidate].tau
                      : all->candidates[i].scale == all->candidates[candidate].scale)
            return 0;
    return 1;
}

static void put_tried(FILE *out, const diagnosed *all, int threshold)
{
    for (size_t i = 0; i < all->candidate_count; i++)
        if (is_new(all, i, threshold))
            fprintf(out, "%s%g", i > 0 ? ", " : "",
                    (double)(threshold ? all->candidates[i].tau : all->candidates[i].scale));
}

static void put_made(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    fprintf(out,
            "<section aria-labelledby=\"made-title\" id=\"made\">\n"
            "<h2 id=\"made-title\">How it was computed</h2>\n"
            "<p>pcast %s simulated the kernel on every query of every head, bit for bit as "
            "docs/numerics.md says, and compared it with exact attention on the same "
            "scores: exponential, reciprocal and accumulator in FP32 semantics. So it did "
            "with %zu settings: both orders where the kernel can have them; S = ",
            PCAST_VERSION, all->candidate_count);
    put_tried(out, all, 0);
    fprintf(out, "; rescale_threshold = ");
    put_tried(out, all, 1);
    fprintf(out, ". Settings are compared with the output in FP32. One prompt's tensors say "
                 "nothing of another prompt's.</p>\n<p>The command:</p>\n<p><code>pcast diagnose");
    for (int i = 1; i < options->argc; i++)
        put_argument(out, options->argv[i]);
    fprintf(out, "</code></p>\n</section>\n");
}

int diagnose_write_html(FILE *out, const diagnose_options *options, const diagnosed *all)
{
    const diagnose_page page = {options, all};
    put_top(out, options, all);
    diagnose_put_overview(out, all);
    put_contents(out, options);
    const int code = put_figures(out, &page);
    if (code != EXIT_OK)
        return code;
    put_tables(out, options, all);
    diagnose_put_terms(out);
    put_made(out, options, all);
    fprintf(out, "</main>\n</body>\n</html>\n");
    return EXIT_OK;
}
