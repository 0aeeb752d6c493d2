/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What identify found: for people, and as CSV. */
#include "identify.h"

#include <string.h>

static void write_match(FILE *stream, const pcast_match *match)
{
    if (match->exact == match->elements)
        fprintf(stream, "all %zu numbers to the bit", match->elements);
    else
        fprintf(stream, "%zu of %zu numbers to the bit (%.3g %%), %zu nearly", match->exact,
                match->elements, 100 * (double)match->exact / (double)match->elements, match->near);
}

static int is_same(const pcast_match *a, const pcast_match *b)
{
    return a->exact == b->exact && a->elements == b->elements && a->distance == b->distance;
}

/* "block=128 or block=160" */
static void write_values(FILE *stream, const pcast_evidence *evidence)
{
    fputs(evidence->value, stream);
    for (size_t i = 0; i < evidence->same_count; i++)
        fprintf(stream, " or %s", evidence->same[i].value);
}

static void write_evidence(FILE *stream, const pcast_identity *identity,
                           const pcast_evidence *evidence)
{
    const size_t best = identity->best.match.exact;
    fprintf(stream, "  %-21s ", evidence->aspect);
    write_values(stream, evidence);
    if (evidence->other_count > 0 && evidence->other[0].match.exact < best)
        fprintf(stream, "; %s would change %zu numbers", evidence->other[0].value,
                best - evidence->other[0].match.exact);
    if (evidence->same_count > 0)
        fprintf(stream, "; these outputs cannot tell them apart%s%s",
                evidence->other_count == 0 ? ", probe " : "",
                evidence->other_count == 0 ? evidence->probe : "");
    if (evidence->same_count > 0 && evidence->other_count == 0)
        fprintf(stream, " might");
    fputc('\n', stream);
}

void identify_write_text(FILE *stream, const pcast_identity *identity, size_t top)
{
    const pcast_candidate *best = &identity->best;
    fprintf(stream, "best: %s\n      ", best->spec);
    write_match(stream, &best->match);
    fprintf(stream, "\npresets:\n");
    for (size_t i = 0; i < identity->preset_count && i < top; i++) {
        fprintf(stream, "  %-36s ", identity->presets[i].spec);
        write_match(stream, &identity->presets[i].match);
        fputc('\n', stream);
    }
    size_t same = 0;
    for (size_t i = 0; i < identity->preset_count; i++)
        if (strcmp(identity->presets[i].spec, best->spec) != 0 &&
            is_same(&identity->presets[i].match, &best->match))
            fprintf(stream, "%s%s", same++ == 0 ? "not told apart from: " : ", ",
                    identity->presets[i].spec);
    if (same > 0)
        fputc('\n', stream);
    fprintf(stream, "aspects of the best:\n");
    for (size_t i = 0; i < identity->evidence_count; i++)
        write_evidence(stream, identity, &identity->evidence[i]);
}

static void write_row(csv_writer *csv, const char *kind, const char *aspect, const char *value,
                      const pcast_match *match)
{
    csv_text(csv, kind);
    csv_text(csv, aspect);
    csv_text(csv, value);
    csv_count(csv, match->exact);
    csv_count(csv, match->near);
    csv_count(csv, match->elements);
    csv_number(csv, match->distance);
    csv_end(csv);
}

void identify_write_csv(FILE *stream, const pcast_identity *identity)
{
    static const char *const columns[] = {"kind", "aspect",   "value",       "exact",
                                          "near", "elements", "distance_ulp"};
    csv_writer csv = {.stream = stream};
    csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    write_row(&csv, "best", "", identity->best.spec, &identity->best.match);
    for (size_t i = 0; i < identity->preset_count; i++)
        write_row(&csv, "preset", "", identity->presets[i].spec, &identity->presets[i].match);
    for (size_t i = 0; i < identity->evidence_count; i++) {
        const pcast_evidence *evidence = &identity->evidence[i];
        write_row(&csv, "own", evidence->aspect, evidence->value, &identity->best.match);
        for (size_t j = 0; j < evidence->same_count; j++)
            write_row(&csv, "same", evidence->aspect, evidence->same[j].value,
                      &evidence->same[j].match);
        for (size_t j = 0; j < evidence->other_count; j++)
            write_row(&csv, "other", evidence->aspect, evidence->other[j].value,
                      &evidence->other[j].match);
    }
}
