/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches kernels with sightings: how much of the outputs each reproduces. */
#ifndef PCAST_EXPERIMENT_IDENTIFY_MATCHER_H
#define PCAST_EXPERIMENT_IDENTIFY_MATCHER_H

#include "pcast/identify.h"

/* Working memory of one thread. */
typedef struct pcast_matcher_space {
    float *o, *lse;
    pcast_attend_head *heads;
} pcast_matcher_space;

typedef struct pcast_matcher {
    const pcast_sighting *sightings;
    size_t count, elements; /* elements: of all sightings together, that are looked at */
    unsigned outputs;       /* bit of each type that holds every number of O exactly */
    pcast_attend_shape *shapes;
    size_t *steps; /* queries from one that is run to the next */
    pcast_run run;
    int threads;
    pcast_matcher_space *spaces;
    /* The current batch. */
    const pcast_kernel *kernels;
    pcast_match *matches;
    size_t to_beat;   /* near numbers of the best */
    const char *only; /* the only probe that is looked at; NULL: all sightings */
    size_t evaluations;
} pcast_matcher;

/* Sightings, their count, run and threads are given; at most `rows` queries of each head are looked
 * at (0: all). To be freed in any case. */
pcast_status pcast_matcher_init(pcast_matcher *self, size_t rows, pcast_error *err);
void pcast_matcher_free(pcast_matcher *self);

/* matches [count] of kernels [count], in parallel. One that can no longer have to_beat near numbers
 * is not run to the end. */
void pcast_matcher_run(pcast_matcher *self, const pcast_kernel *kernels, size_t count,
                       size_t to_beat, pcast_match *matches);

#endif
