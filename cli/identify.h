/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identify command's parts: what it looks at, and how it tells what it found. */
#ifndef PCAST_CLI_IDENTIFY_H
#define PCAST_CLI_IDENTIFY_H

#include "attend.h"
#include "golden.h"
#include "pcast/identify.h"

/* Sightings and what they point to. */
typedef struct identify_sightings {
    size_t count, room;
    pcast_sighting *sighting;       /* [room], of which `count` are used */
    pcast_problem *problems;        /* [room] of a suite */
    pcast_problem_tensors *tensors; /* [room] */
    float **o, **lse;               /* [room] */
    attend_inputs inputs;           /* of tensors */
    pcast_manifest manifest;        /* of a suite, which names the probes */
} identify_sightings;

/* The answers in a folder to the probes of a suite; those that are missing are left out.
 * PCAST_ERR_INPUT: the first that is malformed, or none at all. */
pcast_status identify_read_suite(const char *suite, const char *outputs,
                                 identify_sightings *sightings, pcast_error *err);

/* One run on tensors: its inputs, O and, unless it is NULL, the log-sum-exp. */
pcast_status identify_read_tensors(const attend_options *options, const char *o, const char *lse,
                                   identify_sightings *sightings, pcast_error *err);

void identify_sightings_free(identify_sightings *sightings);

/* For people: at most `top` presets. */
void identify_write_text(FILE *stream, const pcast_identity *identity, size_t top);
void identify_write_csv(FILE *stream, const pcast_identity *identity);

#endif
