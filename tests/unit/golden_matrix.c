/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The confusion matrix of the golden judge: every fault of the catalogue seeded into presets,
 * judged on its own probes under the healthy preset's declaration.
 *
 * usage: golden_matrix [EVERY [FIRST]]   every EVERY-th preset from the FIRST on (1, 0)
 *
 * Prints a table in Markdown: classes seeded against classes named. A fault is seeded where it is
 * one: where a probe separates it from what is legitimate for that preset by 1.5 widths at least.
 * Exits with 1 if a seeded fault is missed or fewer than nine in ten are named right. */
#include "pcast/golden.h"
#include "pcast/golden_simulate.h"

#include "faulty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 64, CLASSES_MOST = 40 };
#define SEPARATE 1.5

typedef struct matrix {
    size_t count;
    const char *names[CLASSES_MOST];
    size_t named[CLASSES_MOST][CLASSES_MOST + 1]; /* last: no fault explains it */
    size_t seeded[CLASSES_MOST], missed[CLASSES_MOST];
} matrix;

static size_t class_of(matrix *all, const char *name)
{
    size_t i = 0;
    while (i < all->count && strcmp(all->names[i], name) != 0)
        i++;
    if (i == all->count)
        all->names[all->count++] = name;
    return i;
}

/* One fault in one preset on one of its probes. */
static void seed(matrix *all, const pcast_preset *preset, const pcast_probe *probe,
                 const pcast_fault *fault)
{
    pcast_kernel kernel = preset->kernel;
    if (strcmp(fault->fault_class, "split-merge") == 0 && kernel.partition == 0)
        kernel.splits = 4; /* which presets leave to the caller */
    const pcast_declaration declaration = {kernel, 0};
    pcast_problem problem = {0};
    pcast_error err = {""};
    double margin = 0;
    if (probe->build(&problem, DIM, &err) != PCAST_OK)
        exit(2);
    const size_t rows = pcast_problem_rows(&problem);
    float *o = calloc(rows, DIM * sizeof *o), *lse = calloc(rows, sizeof *lse);
    const int returns_lse = kernel.lse != PCAST_LSE_NONE;
    const int of_lse = fault->o_power == 0 && (fault->lse_offset != 0 || fault->lse_factor != 0);
    const int can = faulty_answer(&problem, &kernel, fault, o, lse) && (returns_lse || !of_lse);
    if (can && pcast_separation(&problem, &declaration, fault, &margin, &err) == PCAST_OK &&
        margin >= SEPARATE) {
        pcast_judgement found;
        const pcast_answer answered = {o, returns_lse ? lse : NULL};
        const size_t class = class_of(all, fault->fault_class);
        if (pcast_judge(&problem, probe, &declaration, &answered, &found, &err) != PCAST_OK)
            exit(2);
        all->seeded[class]++;
        if (found.verdict != PCAST_VERDICT_DEFECTIVE) {
            fprintf(stderr, "missed: %s in %s on %s (margin %.3g)\n", fault->id, preset->name,
                    probe->id, margin);
            all->missed[class]++;
        } else if (found.fault_count == 0) {
            fprintf(stderr, "not named: %s in %s on %s\n", fault->id, preset->name, probe->id);
            all->named[class][CLASSES_MOST]++;
        } else {
            all->named[class][class_of(all, found.faults[0]->fault_class)]++;
            if (strcmp(found.faults[0]->fault_class, fault->fault_class) != 0)
                fprintf(stderr, "%s in %s on %s: named %s\n", fault->id, preset->name, probe->id,
                        found.faults[0]->id);
        }
    }
    free(o);
    free(lse);
    pcast_problem_free(&problem);
}

static void print_row(const matrix *all, size_t class)
{
    const char *separator = "";
    printf("| %s | %zu | %zu | ", all->names[class], all->seeded[class],
           all->seeded[class] - all->missed[class]);
    printf("%zu | ", all->named[class][class]);
    for (size_t c = 0; c < all->count; c++)
        if (c != class && all->named[class][c] > 0) {
            printf("%s%s %zu", separator, all->names[c], all->named[class][c]);
            separator = ", ";
        }
    if (all->named[class][CLASSES_MOST] > 0)
        printf("%snone %zu", separator, all->named[class][CLASSES_MOST]);
    printf(" |\n");
}

int main(int argc, char **argv)
{
    const size_t every = argc > 1 ? (size_t)atoi(argv[1]) : 1;
    const size_t first = argc > 2 ? (size_t)atoi(argv[2]) : 0;
    static matrix all;
    size_t seeded = 0, missed = 0, right = 0;
    for (size_t i = first; i<pcast_preset_count(); i += every> 0 ? every : 1)
        for (size_t p = 0; p < pcast_probe_count(); p++)
            for (int f = 0; f < PCAST_PROBE_FAULTS && pcast_probe_at(p)->faults[f] != NULL; f++)
                seed(&all, pcast_preset_at(i), pcast_probe_at(p),
                     pcast_fault_find(pcast_probe_at(p)->faults[f]));
    printf(
        "| class | seeded | detected | named right | named otherwise |\n|---|---|---|---|---|\n");
    for (size_t c = 0; c < all.count; c++) {
        print_row(&all, c);
        seeded += all.seeded[c];
        missed += all.missed[c];
        right += all.named[c][c];
    }
    printf("| all | %zu | %zu | %zu | |\n", seeded, seeded - missed, right);
    return missed > 0 || 10 * right < 9 * seeded;
}
