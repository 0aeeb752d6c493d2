/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: every preset; from the best of them what single probes read; then one aspect at a
 * time over all; and at the end what every other value of an aspect would have given. */
#include "pcast/identify.h"

#include "base/error.h"
#include "experiment/identify_aspects.h"
#include "experiment/identify_matcher.h"
#include "experiment/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Presets from which fields are varied, and rounds of that. */
enum { STARTS = 3, ROUNDS = 3 };

/* ---- The search ---- */

static int by_match(const void *a, const void *b)
{
    const pcast_candidate *x = a, *y = b;
    return pcast_match_better(&x->match, &y->match)   ? -1
           : pcast_match_better(&y->match, &x->match) ? 1
                                                      : strcmp(x->spec, y->spec);
}

static int may_write(const pcast_matcher *self, const pcast_kernel *kernel)
{
    return (int)(self->outputs >> kernel->out_format & 1);
}

/* A kernel whose output type cannot be the one that is seen is taken with the narrowest that can.
 */
static void adapt_output(const pcast_matcher *self, pcast_kernel *kernel)
{
    static const pcast_output narrowest[] = {PCAST_OUTPUT_BF16, PCAST_OUTPUT_F16, PCAST_OUTPUT_F32};
    for (size_t i = 0; i < 3 && !may_write(self, kernel); i++)
        kernel->out_format = narrowest[i];
}

static pcast_status try_presets(pcast_matcher *self, pcast_identity *identity, pcast_error *err)
{
    const size_t most = 2 * pcast_preset_count();
    pcast_kernel *kernels = calloc(most, sizeof *kernels);
    pcast_match *matches = calloc(most, sizeof *matches);
    identity->presets = calloc(most, sizeof *identity->presets);
    size_t count = 0;
    if (kernels != NULL && matches != NULL && identity->presets != NULL) {
        for (size_t i = 0; i < most; i++) {
            const pcast_preset *preset = pcast_preset_at(i / 2);
            pcast_error ignored;
            kernels[count] = preset->kernel;
            kernels[count].semantics = (pcast_semantics)(i % 2);
            adapt_output(self, &kernels[count]);
            pcast_kernel_spec(&kernels[count], preset, identity->presets[count].spec,
                              PCAST_SPEC_MAX);
            identity->presets[count].kernel = kernels[count];
            count += pcast_kernel_validate(&kernels[count], &ignored) == PCAST_OK;
        }
        pcast_matcher_run(self, kernels, count, 0, matches);
        for (size_t i = 0; i < count; i++) {
            identity->presets[identity->preset_count] = identity->presets[i];
            identity->presets[identity->preset_count].match = matches[i];
            identity->preset_count += matches[i].elements > 0;
        }
        qsort(identity->presets, identity->preset_count, sizeof *identity->presets, by_match);
    }
    const int memory = kernels != NULL && matches != NULL && identity->presets != NULL;
    free(kernels);
    free(matches);
    if (!memory)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu kernels", most);
    if (identity->preset_count == 0)
        return pcast_fail(err, PCAST_ERR_INPUT, "no known kernel can run on these inputs");
    return PCAST_OK;
}

/* Valid kernels that differ from `from` in one aspect; returns how many. */
static size_t alternatives(const pcast_kernel *from, const pcast_aspect *aspect,
                           pcast_kernel kernels[PCAST_ALTERNATIVES],
                           const char *values[PCAST_ALTERNATIVES])
{
    char own[80];
    size_t count = 0;
    pcast_aspect_get(from, aspect, own, sizeof own);
    for (size_t i = 0; aspect->values[i] != NULL && count < PCAST_ALTERNATIVES; i++) {
        char text[80];
        kernels[count] = *from;
        if (!pcast_aspect_set(&kernels[count], aspect->values[i]))
            continue;
        pcast_aspect_get(&kernels[count], aspect, text, sizeof text);
        values[count] = aspect->values[i];
        count += strcmp(own, text) != 0;
    }
    return count;
}

/* Aspects of units count under hardware semantics alone. */
static int applies(const pcast_kernel *kernel, const pcast_aspect *aspect)
{
    static const char *const units[] = {"machine", "exponential unit", "reciprocal",
                                        "order of the row sum"};
    int unit = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        unit |= strcmp(units[i], aspect->name) == 0;
    return !unit || kernel->semantics == PCAST_SEMANTICS_HARDWARE;
}

/* Aspects that one probe reads, and which move its answer together. */
typedef struct reading {
    const char *probe, *aspects[3];
} reading;

static const reading readings[] = {
    {"cast-table", {"output type", "row sum", "S"}},
    {"unit-row", {"log-sum-exp", "where S enters"}},
    {"sums-of-cast", {"row sum", "where S enters"}},
    {"cast-table", {"format of P", "row sum", "S"}},
    {"walk", {"order", "staleness", "block"}},
    {"walk", {"order", "splits", "block"}},
    {"masked-rows", {"masked rows"}},
};

static const pcast_aspect *find_aspect(const char *name)
{
    size_t a = 0;
    while (strcmp(pcast_aspects[a].name, name) != 0)
        a++;
    return &pcast_aspects[a];
}

static size_t count_values(const pcast_aspect *aspect)
{
    size_t count = 0;
    while (aspect->values[count] != NULL)
        count++;
    return count;
}

/* All combinations of values of a reading's aspects that are valid, the kernel itself first; NULL
 * when memory runs out. */
static pcast_kernel *combine(const pcast_matcher *self, const pcast_kernel *from,
                             const reading *what, size_t *count)
{
    size_t most = 1;
    for (int a = 0; a < 3 && what->aspects[a] != NULL; a++)
        most *= count_values(find_aspect(what->aspects[a]));
    pcast_kernel *kernels = malloc((most + 1) * sizeof *kernels);
    if (kernels == NULL)
        return NULL;
    kernels[0] = *from;
    *count = 1;
    for (size_t i = 0; i < most; i++) {
        size_t rest = i, block = most;
        int valid = 1;
        kernels[*count] = *from;
        for (int a = 0; a < 3 && what->aspects[a] != NULL; a++) {
            const pcast_aspect *aspect = find_aspect(what->aspects[a]);
            block /= count_values(aspect);
            valid &= pcast_aspect_set(&kernels[*count], aspect->values[rest / block]);
            rest %= block;
        }
        *count += (size_t)(valid && may_write(self, &kernels[*count]));
    }
    return kernels;
}

/* Takes from each probe the values that it is there to read. */
static void read_probes(pcast_matcher *self, pcast_candidate *from)
{
    for (size_t r = 0; r < sizeof readings / sizeof readings[0]; r++) {
        size_t count = 0, best = 0;
        pcast_kernel *kernels = combine(self, &from->kernel, &readings[r], &count);
        pcast_match *matches = calloc(count + 1, sizeof *matches);
        if (kernels != NULL && matches != NULL) {
            self->only = readings[r].probe;
            pcast_matcher_run(self, kernels, 1, 0, matches);
            if (matches[0].exact == matches[0].elements)
                count = 1; /* nothing is better */
            pcast_matcher_run(self, kernels + 1, count - 1, 0, matches + 1);
            self->only = NULL;
            for (size_t i = 1; i < count; i++)
                if (pcast_match_better(&matches[i], &matches[best]))
                    best = i;
            from->kernel = kernels[best];
        }
        free(kernels);
        free(matches);
    }
    pcast_matcher_run(self, &from->kernel, 1, 0, &from->match);
}

/* The best that changing one aspect after the other leads to. */
static void climb(pcast_matcher *self, pcast_candidate *from)
{
    pcast_kernel kernels[PCAST_ALTERNATIVES];
    const char *values[PCAST_ALTERNATIVES];
    pcast_match matches[PCAST_ALTERNATIVES];
    for (int round = 0, better = 1; better && round < ROUNDS; round++) {
        better = 0;
        for (size_t a = 0; a < pcast_aspect_count && from->match.exact < self->elements; a++) {
            if (!applies(&from->kernel, &pcast_aspects[a]))
                continue;
            const size_t count = alternatives(&from->kernel, &pcast_aspects[a], kernels, values);
            pcast_matcher_run(self, kernels, count, from->match.near, matches);
            for (size_t i = 0; i < count; i++)
                if (may_write(self, &kernels[i]) && pcast_match_better(&matches[i], &from->match)) {
                    from->kernel = kernels[i];
                    from->match = matches[i];
                    better = 1;
                }
        }
    }
}

static const pcast_preset *preset_of(const char *spec)
{
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const char *name = pcast_preset_at(i)->name;
        const size_t length = strlen(name);
        if (strncmp(spec, name, length) == 0 && (spec[length] == ':' || spec[length] == '\0'))
            return pcast_preset_at(i);
    }
    return pcast_preset_at(0);
}

/* E4M3 with S gives the codes of E4M3FNUZ with S/2: where both explain as much, the former is
 * meant.
 */
static void prefer_e4m3(pcast_matcher *self, pcast_candidate *best)
{
    pcast_candidate other = *best;
    if (best->kernel.p_format != PCAST_E4M3FNUZ)
        return;
    other.kernel.p_format = PCAST_E4M3;
    other.kernel.scale *= 2;
    other.kernel.scale_log2 = 0;
    pcast_matcher_run(self, &other.kernel, 1, 0, &other.match);
    if (!pcast_match_better(&best->match, &other.match))
        *best = other;
}

static void search(pcast_matcher *self, pcast_identity *identity)
{
    identity->best = identity->presets[0];
    for (size_t i = 0; i < STARTS && i < identity->preset_count; i++) {
        pcast_candidate from = identity->presets[i];
        if (identity->best.match.exact == self->elements)
            break;
        if (i > 0 && identity->best.match.near == self->elements &&
            from.kernel.semantics == identity->best.kernel.semantics)
            continue; /* what is left are roundings */
        read_probes(self, &from);
        if (!pcast_match_better(&from.match, &identity->presets[i].match))
            from = identity->presets[i];
        climb(self, &from);
        prefer_e4m3(self, &from);
        pcast_kernel_spec(&from.kernel, preset_of(from.spec), from.spec, PCAST_SPEC_MAX);
        if (pcast_match_better(&from.match, &identity->best.match))
            identity->best = from;
    }
}

/* ---- Evidence ---- */

static void add_alternative(pcast_evidence *evidence, const char *value, pcast_match match,
                            const pcast_match *best)
{
    pcast_alternative new = {.match = match};
    snprintf(new.value, sizeof new.value, "%s", value);
    if (match.exact == best->exact && match.near == best->near &&
        match.distance == best->distance) {
        evidence->same[evidence->same_count++] = new;
        return;
    }
    size_t i = evidence->other_count++;
    for (; i > 0 && pcast_match_better(&match, &evidence->other[i - 1].match); i--)
        evidence->other[i] = evidence->other[i - 1];
    evidence->other[i] = new;
}

static void gather_evidence(pcast_matcher *self, pcast_identity *identity)
{
    const pcast_candidate *best = &identity->best;
    pcast_kernel kernels[PCAST_ALTERNATIVES];
    const char *values[PCAST_ALTERNATIVES];
    pcast_match matches[PCAST_ALTERNATIVES];
    for (size_t a = 0; a < pcast_aspect_count && identity->evidence_count < PCAST_EVIDENCE; a++) {
        const pcast_aspect *aspect = &pcast_aspects[a];
        if (!applies(&best->kernel, aspect))
            continue;
        pcast_evidence *evidence = &identity->evidence[identity->evidence_count++];
        const size_t count = alternatives(&best->kernel, aspect, kernels, values);
        *evidence = (pcast_evidence){.aspect = aspect->name, .probe = aspect->probe};
        pcast_aspect_get(&best->kernel, aspect, evidence->value, sizeof evidence->value);
        pcast_matcher_run(self, kernels, count, 0, matches);
        for (size_t i = 0; i < count; i++)
            add_alternative(evidence, values[i], matches[i], &best->match);
    }
}

/* ---- */

/* The numbers that a kernel with a log-sum-exp gives an answer for. */
static size_t count_elements(const pcast_identity *identity)
{
    size_t most = 0;
    for (size_t i = 0; i < identity->preset_count; i++)
        if (identity->presets[i].match.elements > most)
            most = identity->presets[i].match.elements;
    return most;
}

pcast_status pcast_identify(const pcast_sighting *sightings, size_t count, size_t rows, int threads,
                            pcast_cpu cpu, pcast_identity *identity, pcast_error *err)
{
    pcast_matcher self = {
        .sightings = sightings, .count = count, .run = {.threads = threads, .cpu = cpu}};
    *identity = (pcast_identity){0};
    self.threads = pcast_thread_count(&self.run, 2 * pcast_preset_count());
    pcast_status status = pcast_matcher_init(&self, rows, err);
    if (status == PCAST_OK)
        status = try_presets(&self, identity, err);
    if (status == PCAST_OK) {
        self.elements = count_elements(identity);
        search(&self, identity);
        gather_evidence(&self, identity);
        identity->evaluations = self.evaluations;
    }
    pcast_matcher_free(&self);
    return status;
}

void pcast_identity_free(pcast_identity *identity)
{
    free(identity->presets);
    *identity = (pcast_identity){0};
}
