/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs kernels on the sightings and counts the numbers that they reproduce. */
#include "experiment/identify_matcher.h"

#include "base/bits.h"
#include "base/error.h"
#include "experiment/parallel.h"
#include "math/strict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DISTANCE_MOST = 1 << 16, NEAR_F32 = 256 };
/* No output has these bits: what was not written still holds them. */
#define UNWRITTEN UINT32_C(0xFFC0DEAD)

int pcast_match_better(const pcast_match *a, const pcast_match *b)
{
    return a->near != b->near     ? a->near > b->near
           : a->exact != b->exact ? a->exact > b->exact
                                  : a->distance < b->distance;
}

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

static pcast_match match_kernel(const pcast_matcher *self, pcast_matcher_space *space,
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
    const pcast_matcher *self = context;
    self->matches[index] =
        match_kernel(self, &self->spaces[thread], &self->kernels[index], self->to_beat);
}

void pcast_matcher_run(pcast_matcher *self, const pcast_kernel *kernels, size_t count,
                       size_t to_beat, pcast_match *matches)
{
    self->kernels = kernels;
    self->matches = matches;
    self->to_beat = to_beat;
    self->evaluations += count;
    if (count > 0)
        pcast_parallel(&self->run, self->threads, 0, count, count, match_piece, self);
}

/* Types that the outputs may have been rounded to. */
static unsigned find_outputs(const pcast_matcher *self)
{
    static const pcast_format formats[] = {[PCAST_OUTPUT_F32] = PCAST_F32,
                                           [PCAST_OUTPUT_BF16] = PCAST_BF16,
                                           [PCAST_OUTPUT_F16] = PCAST_F16};
    unsigned outputs = 0;
    for (size_t type = 0; type < sizeof formats / sizeof formats[0]; type++) {
        int held = 1;
        for (size_t s = 0; held && s < self->count; s++) {
            const pcast_attend_shape *shape = &self->shapes[s];
            const size_t size = shape->heads * shape->rows * shape->value_dim;
            for (size_t i = 0; held && i < size; i++) {
                const float x = self->sightings[s].o[i];
                held = isnan(x) || pcast_round_through(formats[type], (double)x) == x;
            }
        }
        outputs |= (unsigned)held << type;
    }
    return outputs;
}

/* Shapes, steps, memory for every thread. */
pcast_status pcast_matcher_init(pcast_matcher *self, size_t rows, pcast_error *err)
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
        pcast_matcher_space *space = &self->spaces[t];
        space->o = malloc(o_most * sizeof *space->o);
        space->lse = malloc(lse_most * sizeof *space->lse);
        space->heads = malloc(heads_most * sizeof *space->heads);
        if (space->o == NULL || space->lse == NULL || space->heads == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for outputs");
    }
    self->outputs = find_outputs(self);
    return PCAST_OK;
}

void pcast_matcher_free(pcast_matcher *self)
{
    for (int t = 0; self->spaces != NULL && t < self->threads; t++) {
        free(self->spaces[t].o);
        free(self->spaces[t].lse);
        free(self->spaces[t].heads);
    }
    free(self->spaces);
    free(self->shapes);
    free(self->steps);
}
