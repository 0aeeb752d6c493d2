/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The findings of pcast golden check: for people, as CSV and as JUnit XML. */
#include "golden_check.h"

#include "csv.h"

#include <math.h>
#include <string.h>

static const char *const verdict_names[GOLDEN_VERDICTS] = {
    [GOLDEN_EXACT] = "exact",         [GOLDEN_ADMISSIBLE] = "admissible",
    [GOLDEN_DEFECTIVE] = "defective", [GOLDEN_MALFORMED] = "malformed",
    [GOLDEN_MISSING] = "not run",
};

void golden_report_count(const golden_report *report, size_t counts[GOLDEN_VERDICTS])
{
    memset(counts, 0, GOLDEN_VERDICTS * sizeof *counts);
    for (size_t i = 0; i < report->count; i++)
        counts[report->outcomes[i].verdict]++;
}

/* "o[0,1,5,3]" or "lse[0,1,5]": batch, head, query, channel. */
static const char *place(const golden_outcome *outcome, char text[96])
{
    const pcast_judgement *found = &outcome->judgement;
    const size_t query = found->row % outcome->probe->queries;
    const size_t head = found->row / outcome->probe->queries % outcome->probe->heads;
    const size_t batch = found->row / outcome->probe->queries / outcome->probe->heads;
    if (found->in_lse)
        snprintf(text, 96, "lse[%zu,%zu,%zu]", batch, head, query);
    else
        snprintf(text, 96, "o[%zu,%zu,%zu,%zu]", batch, head, query, found->channel);
    return text;
}

static const char *number(double value, char text[32])
{
    if (isnan(value))
        return "nan";
    snprintf(text, 32, "%.9g", value);
    return text;
}

/* "1", "0.5 to 0.53" or "nan". */
static const char *expected(pcast_interval x, char text[96])
{
    char low[32], high[32];
    if (x.low > x.high)
        return "nan";
    if (x.low == x.high)
        snprintf(text, 96, "%s%s", number(x.low, low), x.nan ? " or nan" : "");
    else
        snprintf(text, 96, "%s to %s%s", number(x.low, low), number(x.high, high),
                 x.nan ? " or nan" : "");
    return text;
}

/* "o[0,0,0,1] is 256, expected 1; 64 of 130 numbers are outside" */
static void write_finding(FILE *stream, const golden_outcome *outcome)
{
    const pcast_judgement *found = &outcome->judgement;
    char where[96], got[32], wanted[96];
    fprintf(stream, "%s is %s, expected %s; %zu of %zu numbers are outside", place(outcome, where),
            number(found->got, got), expected(found->expected, wanted), found->outside,
            found->elements);
}

static void write_declared(FILE *stream, const golden_declared *declared)
{
    const char *before = "; not known: ";
    if (declared->nothing) {
        fprintf(stream, "nothing is known of the kernel: S may be anything from 1 to 448, in any "
                        "order of blocks; --kernel says more\n");
        return;
    }
    if (declared->identified) {
        fprintf(stream,
                "nothing is known of the kernel; it looks like %s (%zu of %zu numbers to the "
                "bit) and is judged as such\n",
                declared->spec, declared->match.exact, declared->match.elements);
        return;
    }
    fprintf(stream, "judged as %s", declared->spec);
    for (int field = 0; field < PCAST_FIELD_COUNT; field++) {
        if ((declared->unknown & UINT64_C(1) << field) == 0)
            continue;
        fprintf(stream, "%s%s", before, pcast_field_name((pcast_field)field));
        before = ", ";
    }
    fputc('\n', stream);
}

void golden_report_text(FILE *stream, const golden_report *report)
{
    size_t counts[GOLDEN_VERDICTS];
    golden_report_count(report, counts);
    write_declared(stream, report->declared);
    for (size_t i = 0; i < report->count; i++) {
        const golden_outcome *outcome = &report->outcomes[i];
        fprintf(stream, "%-10s  %s\n", verdict_names[outcome->verdict], outcome->probe->id);
        if (outcome->verdict == GOLDEN_MALFORMED)
            fprintf(stream, "            %s\n", outcome->message);
        if (outcome->verdict != GOLDEN_DEFECTIVE)
            continue;
        fprintf(stream, "            ");
        write_finding(stream, outcome);
        fputc('\n', stream);
        for (size_t f = 0; f < outcome->judgement.fault_count; f++) {
            const pcast_fault *fault = outcome->judgement.faults[f];
            fprintf(stream, "            %s%s (%s): %s; look at %s\n", f > 0 ? "or " : "",
                    fault->id, fault->fault_class, fault->title, fault->look);
        }
        if (outcome->judgement.fault_count == 0)
            fprintf(stream, "            no fault of the catalogue explains it\n");
    }
    const char *separator = "";
    for (int v = 0; v < GOLDEN_VERDICTS; v++) {
        if (counts[v] == 0)
            continue;
        fprintf(stream, "%s%zu %s", separator, counts[v], verdict_names[v]);
        separator = ", ";
    }
    fprintf(stream, " of %zu\n", report->count);
}

static void csv_interval_end(csv_writer *csv, double value, int known)
{
    csv_known(csv, known ? value : NAN);
}

void golden_report_csv(FILE *stream, const golden_report *report)
{
    static const char *const columns[] = {"probe",   "verdict",  "fault",        "fault_class",
                                          "where",   "got",      "expected_low", "expected_high",
                                          "outside", "elements", "message"};
    csv_writer csv = {.stream = stream};
    csv_names(&csv, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->count; i++) {
        const golden_outcome *outcome = &report->outcomes[i];
        const pcast_judgement *found = &outcome->judgement;
        const int defective = outcome->verdict == GOLDEN_DEFECTIVE;
        const int judged = outcome->verdict <= GOLDEN_DEFECTIVE;
        const pcast_fault *fault = defective && found->fault_count > 0 ? found->faults[0] : NULL;
        char where[96];
        csv_text(&csv, outcome->probe->id);
        csv_text(&csv, verdict_names[outcome->verdict]);
        csv_text(&csv, fault != NULL ? fault->id : "");
        csv_text(&csv, fault != NULL ? fault->fault_class : "");
        csv_text(&csv, defective ? place(outcome, where) : "");
        if (defective)
            csv_number(&csv, found->got);
        else
            csv_text(&csv, "");
        csv_interval_end(&csv, found->expected.low, defective);
        csv_interval_end(&csv, found->expected.high, defective);
        if (judged) {
            csv_count(&csv, found->outside);
            csv_count(&csv, found->elements);
        } else {
            csv_text(&csv, "");
            csv_text(&csv, "");
        }
        csv_text(&csv, outcome->message);
        csv_end(&csv);
    }
}

static void xml_text(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, stream);
        }
}

void golden_report_junit(FILE *stream, const golden_report *report)
{
    size_t counts[GOLDEN_VERDICTS];
    golden_report_count(report, counts);
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pcast golden\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
            report->count, counts[GOLDEN_DEFECTIVE], counts[GOLDEN_MALFORMED],
            counts[GOLDEN_MISSING]);
    for (size_t i = 0; i < report->count; i++) {
        const golden_outcome *outcome = &report->outcomes[i];
        fprintf(stream, "  <testcase classname=\"");
        xml_text(stream, report->declared->nothing ? "unknown kernel" : report->declared->spec);
        fprintf(stream, "\" name=\"%s\">", outcome->probe->id);
        if (outcome->verdict == GOLDEN_DEFECTIVE) {
            const pcast_fault *fault =
                outcome->judgement.fault_count > 0 ? outcome->judgement.faults[0] : NULL;
            fprintf(stream, "<failure type=\"%s\" message=\"",
                    fault != NULL ? fault->fault_class : "unknown");
            xml_text(stream,
                     fault != NULL ? fault->title : "no fault of the catalogue explains it");
            fprintf(stream, "\">");
            write_finding(stream, outcome);
            fprintf(stream, "</failure>");
        } else if (outcome->verdict == GOLDEN_MALFORMED) {
            fprintf(stream, "<error message=\"");
            xml_text(stream, outcome->message);
            fprintf(stream, "\"/>");
        } else if (outcome->verdict == GOLDEN_MISSING) {
            fprintf(stream, "<skipped message=\"no output\"/>");
        }
        fprintf(stream, "</testcase>\n");
    }
    fprintf(stream, "</testsuite>\n");
}
