/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: every preset; from the best of them what single probes read; then one aspect at a
 * time over all; and at the end what every other value of an aspect would have given. A kernel that
 * can no longer beat the best is not run to the end. */
#include "pcast/identify.h"

#include "base/bits.h"
#include "base/error.h"
#include "experiment/identify_aspects.h"
#include "experiment/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Presets from which fields are varied, and rounds of that. */
enum { STARTS = 3, ROUNDS = 3, DISTANCE_MOST = 1 << 16, NEAR_F32 = 256 };
/* No output has these bits: what was not written still holds them. */
#define UNWRITTEN UINT32_C(0xFFC0DEAD)

/* Working memory of one thread. */
typedef struct identify_space {
    float *o, *lse;
    pcast_attend_head *heads;
} identify_space;

typedef struct identify_run {
    const pcast_sighting *sightings;
    size_t count, elements; /* elements: of all sightings together, that are looked at */
    pcast_attend_shape *shapes;
    size_t *steps; /* queries from one that is run to the next */
    pcast_run run;
    int threads;
    identify_space *spaces;
    /* The current batch. */
    const pcast_kernel *kernels;
    pcast_match *matches;
    size_t to_beat;   /* near numbers of the best */
    const char *only; /* the only probe that is looked at; NULL: all sightings */
    size_t evaluations;
} identify_run;

int pcast_match_better(const pcast_match *a, const pcast_match *b)
{
    return a->near != b->near     ? a->near > b->near
           : a->exact != b->exact ? a->exact > b->exact
                                  : a->distance < b->distance;
}

/* ---- One kernel on the sightings ---- */

static int32_t place_of(float x)
{
    const uint32_t bits = pcast_bits_f32(x);
    const int32_t size = (int32_t)(bits & 0x7FFFFFFF);
    return bits >> 31 ? -size : size;
}

/* Steps between two different numbers of a format, at most DISTANCE_MOST. */
static double distance(float a, float b, pcast_output format)
{
    static const int shifts[] = {
        [PCAST_OUTPUT_F32] = 0, [PCAST_OUTPUT_BF16] = 16, [PCAST_OUTPUT_F16] = 13};
    if (isnan(a) || isnan(b))
        return DISTANCE_MOST;
    const int64_t apart = llabs((int64_t)place_of(a) - place_of(b)) >> shifts[format];
    return apart < 1 ? 1 : apart > DISTANCE_MOST ? DISTANCE_MOST : (double)apart;
}

/* Adds the numbers that were written. */
static void add_numbers(pcast_match *match, const float *own, const float *seen, size_t count,
                        pcast_output format)
{
    for (size_t i = 0; i < count; i++) {
        if (pcast_bits_f32(own[i]) == UNWRITTEN)
            continue;
        const int same = own[i] == seen[i] || (isnan(own[i]) && isnan(seen[i]));
        match->elements++;
        const double apart = same ? 0 : distance(own[i], seen[i], format);
        match->exact += (size_t)same;
        match->near += apart <= (format == PCAST_OUTPUT_F32 ? NEAR_F32 : 1);
        match->distance += apart;
    }
}

static void mark_unwritten(float *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = pcast_f32_from_bits(UNWRITTEN);
}

static pcast_match match_kernel(const identify_run *self, identify_space *space,
                                const pcast_kernel *kernel, size_t to_beat)
{
    pcast_match match = {0};
    for (size_t s = 0; s < self->count; s++) {
        const pcast_sighting *sighting = &self->sightings[s];
        const pcast_attend_shape *shape = &self->shapes[s];
        if (self->only != NULL && (sighting->id == NULL || strcmp(sighting->id, self->only) != 0))
            continue;
        const size_t rows = shape->heads * shape->rows, size = rows * shape->value_dim;
        pcast_kernel adapted = *kernel;
        pcast_attend attend = sighting->attend;
        pcast_error err;
        adapted.mask = sighting->mask;
        adapted.window_left = sighting->window_left;
        adapted.window_right = sighting->window_right;
        attend.outputs_only = 1;
        attend.query_step = self->steps[s];
        const pcast_run run = {
            .kernels = &adapted, .kernel_count = 1, .threads = 1, .cpu = self->run.cpu};
        mark_unwritten(space->o, size);
        mark_unwritten(space->lse, rows);
        const pcast_attend_result result = {
            .o = space->o, .lse = space->lse, .heads = space->heads};
        if (pcast_kernel_validate(&adapted, &err) != PCAST_OK ||
            pcast_attend_run(&attend, &run, &result, &err) != PCAST_OK)
            continue;
        add_numbers(&match, space->o, sighting->o, size, kernel->out_format);
        if (sighting->lse != NULL && kernel->lse != PCAST_LSE_NONE)
            add_numbers(&match, space->lse, sighting->lse, rows, PCAST_OUTPUT_F32);
        if (self->only == NULL && match.near + (self->elements - match.elements) < to_beat)
            break;
    }
    match.distance = match.elements > 0 ? match.distance / (double)match.elements : INFINITY;
    return match;
}

static void match_piece(void *context, int thread, size_t index)
{
    const identify_run *self = context;
    self->matches[index] =
        match_kernel(self, &self->spaces[thread], &self->kernels[index], self->to_beat);
}

static void match_all(identify_run *self, const pcast_kernel *kernels, size_t count, size_t to_beat,
                      pcast_match *matches)
{
    self->kernels = kernels;
    self->matches = matches;
    self->to_beat = to_beat;
    self->evaluations += count;
    if (count > 0)
        pcast_parallel(&self->run, self->threads, 0, count, count, match_piece, self);
}

/* ---- The search ---- */

static int by_match(const void *a, const void *b)
{
    const pcast_candidate *x = a, *y = b;
    return pcast_match_better(&x->match, &y->match)   ? -1
           : pcast_match_better(&y->match, &x->match) ? 1
                                                      : strcmp(x->spec, y->spec);
}

static pcast_status try_presets(identify_run *self, pcast_identity *identity, pcast_error *err)
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
            pcast_kernel_spec(&kernels[count], preset, identity->presets[count].spec,
                              PCAST_SPEC_MAX);
            identity->presets[count].kernel = kernels[count];
            count += pcast_kernel_validate(&kernels[count], &ignored) == PCAST_OK;
        }
        match_all(self, kernels, count, 0, matches);
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
    {"split-merge", {"splits"}},
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
static pcast_kernel *combine(const pcast_kernel *from, const reading *what, size_t *count)
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
        *count += (size_t)valid;
    }
    return kernels;
}

/* Takes from each probe the values that it is there to read. */
static void read_probes(identify_run *self, pcast_candidate *from)
{
    for (size_t r = 0; r < sizeof readings / sizeof readings[0]; r++) {
        size_t count = 0, best = 0;
        pcast_kernel *kernels = combine(&from->kernel, &readings[r], &count);
        pcast_match *matches = calloc(count + 1, sizeof *matches);
        if (kernels != NULL && matches != NULL) {
            self->only = readings[r].probe;
            match_all(self, kernels, count, 0, matches);
            self->only = NULL;
            for (size_t i = 1; i < count; i++)
                if (pcast_match_better(&matches[i], &matches[best]))
                    best = i;
            from->kernel = kernels[best];
        }
        free(kernels);
        free(matches);
    }
    match_all(self, &from->kernel, 1, 0, &from->match);
}

/* The best that changing one aspect after the other leads to. */
static void climb(identify_run *self, pcast_candidate *from)
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
            match_all(self, kernels, count, from->match.near, matches);
            for (size_t i = 0; i < count; i++)
                if (pcast_match_better(&matches[i], &from->match)) {
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
static void prefer_e4m3(identify_run *self, pcast_candidate *best)
{
    pcast_candidate other = *best;
    if (best->kernel.p_format != PCAST_E4M3FNUZ)
        return;
    other.kernel.p_format = PCAST_E4M3;
    other.kernel.scale *= 2;
    other.kernel.scale_log2 = 0;
    match_all(self, &other.kernel, 1, 0, &other.match);
    if (!pcast_match_better(&best->match, &other.match))
        *best = other;
}

static void search(identify_run *self, pcast_identity *identity)
{
    identity->best = identity->presets[0];
    for (size_t i = 0; i < STARTS && i < identity->preset_count; i++) {
        pcast_candidate from = identity->presets[i];
        if (identity->best.match.exact == self->elements)
            break;
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

static void gather_evidence(identify_run *self, pcast_identity *identity)
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
        match_all(self, kernels, count, 0, matches);
        for (size_t i = 0; i < count; i++)
            add_alternative(evidence, values[i], matches[i], &best->match);
    }
}

/* ---- */

/* Shapes, steps, memory for every thread. */
static pcast_status prepare(identify_run *self, size_t rows, pcast_error *err)
{
    size_t o_most = 1, lse_most = 1, heads_most = 1;
    self->shapes = calloc(self->count, sizeof *self->shapes);
    self->steps = calloc(self->count, sizeof *self->steps);
    self->spaces = calloc((size_t)self->threads, sizeof *self->spaces);
    if (self->shapes == NULL || self->steps == NULL || self->spaces == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu sightings", self->count);
    for (size_t s = 0; s < self->count; s++) {
        pcast_attend_shape *shape = &self->shapes[s];
        const pcast_kernel kernel = {
            .block = 1, .scale = 1, .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR};
        const pcast_status status =
            pcast_attend_check(&self->sightings[s].attend, &kernel, shape, err);
        if (status != PCAST_OK)
            return status;
        const size_t all = shape->heads * shape->rows;
        const size_t queries = shape->queries > 0 ? shape->queries : shape->rows;
        self->steps[s] = rows > 0 && queries > rows ? (queries + rows - 1) / rows : 1;
        o_most = all * shape->value_dim > o_most ? all * shape->value_dim : o_most;
        lse_most = all > lse_most ? all : lse_most;
        const size_t heads = shape->batch * shape->heads;
        heads_most = heads > heads_most ? heads : heads_most;
    }
    for (int t = 0; t < self->threads; t++) {
        identify_space *space = &self->spaces[t];
        space->o = malloc(o_most * sizeof *space->o);
        space->lse = malloc(lse_most * sizeof *space->lse);
        space->heads = malloc(heads_most * sizeof *space->heads);
        if (space->o == NULL || space->lse == NULL || space->heads == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for outputs");
    }
    return PCAST_OK;
}

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
    identify_run self = {
        .sightings = sightings, .count = count, .run = {.threads = threads, .cpu = cpu}};
    *identity = (pcast_identity){0};
    self.threads = pcast_thread_count(&self.run, 2 * pcast_preset_count());
    pcast_status status = prepare(&self, rows, err);
    if (status == PCAST_OK)
        status = try_presets(&self, identity, err);
    if (status == PCAST_OK) {
        self.elements = count_elements(identity);
        search(&self, identity);
        gather_evidence(&self, identity);
        identity->evaluations = self.evaluations;
    }
    for (int t = 0; self.spaces != NULL && t < self.threads; t++) {
        free(self.spaces[t].o);
        free(self.spaces[t].lse);
        free(self.spaces[t].heads);
    }
    free(self.spaces);
    free(self.shapes);
    free(self.steps);
    return status;
}

void pcast_identity_free(pcast_identity *identity)
{
    free(identity->presets);
    *identity = (pcast_identity){0};
}
