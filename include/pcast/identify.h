/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kernel wrote these outputs: presets and settings of their fields ranked by how many numbers
 * they reproduce to the bit, and what each field's other values would have given. */
#ifndef PCAST_IDENTIFY_H
#define PCAST_IDENTIFY_H

#include "pcast/attend.h"
#include "pcast/golden.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs and what a kernel gave for them. */
typedef struct pcast_sighting {
    const char *id; /* of the probe; NULL: none */
    pcast_attend attend;
    pcast_mask mask;
    size_t window_left, window_right;
    const float *o;   /* as pcast_attend_result.o */
    const float *lse; /* as there, as the kernel returned it; NULL: none */
} pcast_sighting;

/* A golden problem's tensors, which the sighting's attend points to. */
typedef struct pcast_problem_tensors {
    pcast_tensor q, k, v, q_descale, k_descale, v_descale, sink;
} pcast_problem_tensors;

/* The sighting of a golden problem; o and lse are left out. */
pcast_sighting pcast_sighting_of(const pcast_problem *problem, pcast_problem_tensors *tensors);

/* How much of the outputs a kernel reproduces. */
typedef struct pcast_match {
    size_t elements; /* of O and log-sum-exp that it gives an answer for */
    size_t near;     /* within 256 ulp of float32, or one of a 16-bit output */
    size_t exact;    /* the same bits */
    double distance; /* mean over elements of the ulp distance, up to 2^16 each */
} pcast_match;

typedef struct pcast_candidate {
    char spec[PCAST_SPEC_MAX];
    pcast_kernel kernel;
    pcast_match match;
} pcast_candidate;

/* Values of one aspect, as a SPEC writes them. */
typedef struct pcast_alternative {
    char value[80];
    pcast_match match;
} pcast_alternative;

enum { PCAST_ALTERNATIVES = 24 };

/* One aspect of the kernel that explains best: a field, or fields that go together. */
typedef struct pcast_evidence {
    const char *aspect;
    const char *probe; /* the probe that tells its values apart */
    char value[80];    /* of the best candidate */
    size_t same_count, other_count;
    pcast_alternative same[PCAST_ALTERNATIVES];  /* that give the same bits everywhere */
    pcast_alternative other[PCAST_ALTERNATIVES]; /* that do not, the best first */
} pcast_evidence;

enum { PCAST_EVIDENCE = 24 };

typedef struct pcast_identity {
    pcast_candidate *presets; /* [preset_count] by falling match */
    size_t preset_count;      /* those that can run at all, at either semantics */
    pcast_candidate best;     /* after a search over fields from the best presets */
    pcast_evidence evidence[PCAST_EVIDENCE];
    size_t evidence_count;
    size_t evaluations;
} pcast_identity;

/* threads: 0 is one for each processor; the result does not depend on their number. At most `rows`
 * queries of each head are looked at (0: all). PCAST_ERR_INPUT: no preset can run on the inputs;
 * PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_identify(const pcast_sighting *sightings, size_t count, size_t rows, int threads,
                            pcast_cpu cpu, pcast_identity *identity, pcast_error *err);
void pcast_identity_free(pcast_identity *identity);

/* An answer to a golden problem. */
typedef struct pcast_answered {
    const pcast_problem *problem;
    const pcast_probe *probe; /* NULL: none that is known */
    pcast_answer answer;
} pcast_answered;

/* Judges a run of problems by a kernel that was identified. As that kernel, where it explains most
 * of them; what it does not explain is defective only where a fault does that is no other choice of
 * settings and that shows on the run's probes that isolate it, or where no kernel could have
 * answered so. *as is 0 where the identified kernel
 * explains too little: then nothing is known. Errors as pcast_judge. */
pcast_status pcast_judge_identified(const pcast_answered *answers, size_t count,
                                    const pcast_candidate *best, pcast_judgement *judgements,
                                    int *as, pcast_error *err);

/* Is a better than b: more numbers that are near, else more exact ones, else a smaller distance? */
int pcast_match_better(const pcast_match *a, const pcast_match *b);

#ifdef __cplusplus
}
#endif

#endif
