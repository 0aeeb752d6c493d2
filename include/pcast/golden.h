/* SPDX-License-Identifier: MIT */
/* Golden probes: small attention problems on each of which one known fault moves the output by far
 * more than any legitimate rounding; what every legitimate kernel may answer; and the judgement of
 * an answer (docs/golden.md). */
#ifndef PCAST_GOLDEN_H
#define PCAST_GOLDEN_H

#include "pcast/kernel.h"
#include "pcast/slip.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems ---- */

/* A batch of heads as a kernel gets it. All numbers of q, k and v are E4M3's, so that kernels of
 * any input format read the same; every q.k is exact in 14 bits. Arrays are the problem's. */
typedef struct pcast_problem {
    size_t batch, heads, kv_heads, queries, keys, dim; /* heads divide into groups by kv head */
    float *q;                                          /* [batch][heads][queries][dim] */
    float *k, *v;                                      /* [batch][kv_heads][keys][dim] */
    float softmax_scale;
    float *q_descale, *k_descale, *v_descale; /* [kv_heads]; NULL: none, as 1 */
    float *sink;                              /* [heads] learned sinks, logits in nats; NULL */
    size_t *kv_lengths;                       /* [batch] valid keys; NULL: all. The rest is NaN */
    pcast_mask mask;                          /* aligned to the valid keys */
    size_t window_left, window_right;         /* as in pcast_kernel; 0: none */
    /* Keys that the kernel's K and V have room for in every sequence, the rest being zero and never
     * read: more than `keys` only where an index should pass 2^32. */
    size_t allocated_keys;
} pcast_problem;

/* Zeroed q, k, v of these sizes, softmax_scale 1 / sqrt(dim) rounded to FP32. PCAST_ERR_MEMORY; to
 * be freed in any case. */
pcast_status pcast_problem_init(pcast_problem *problem, size_t batch, size_t heads, size_t kv_heads,
                                size_t queries, size_t keys, size_t dim, pcast_error *err);
pcast_status pcast_problem_copy(const pcast_problem *problem, pcast_problem *copy,
                                pcast_error *err);
void pcast_problem_free(pcast_problem *problem);

/* Makes one of the optional arrays with `count` numbers, all 1. NULL when memory runs out. */
float *pcast_problem_descale(float **array, size_t count);

/* PCAST_ERR_INPUT where the problem is none that can be judged: a number of q, k or v that is not
 * E4M3's (in a sequence's valid part), sizes or lengths that do not fit, a q.k that 14 bits do not
 * hold in every order. */
pcast_status pcast_problem_check(const pcast_problem *problem, pcast_error *err);

/* Rows of the output: batch * heads * queries. */
size_t pcast_problem_rows(const pcast_problem *problem);

/* ---- Faults ---- */

/* How a faulty kernel answers: as a healthy one would answer the problem that it misreads, with
 * other choices than declared, a slip, and factors on what it returns. */
typedef struct pcast_fault {
    const char *id;          /* "sink-ignored" */
    const char *fault_class; /* "learned-sink" */
    const char *title;       /* what the kernel does, one line */
    const char *look;        /* where to look: the number or line that is wrong */
    /* Changes the problem to the one that is answered; 0 when memory runs out. NULL: nothing. */
    int (*misread)(pcast_problem *problem, const pcast_kernel *kernel);
    void (*choose)(pcast_kernel *kernel); /* NULL: as declared */
    pcast_slip slip;
    int mask_shift; /* keys that the mask lies too far to the right */
    /* Of the returned numbers: O times S^o_power, the log-sum-exp times lse_factor (0: 1) plus
     * lse_offset times ln S. */
    int o_power, lse_offset;
    double lse_factor;
} pcast_fault;

size_t pcast_fault_count(void);
const pcast_fault *pcast_fault_at(size_t index);
const pcast_fault *pcast_fault_find(const char *id); /* NULL: none */

/* ---- Probes ---- */

enum { PCAST_PROBE_FAULTS = 10 };

typedef struct pcast_probe {
    const char *id, *title;
    const char *why;                        /* why it works: one or two sentences */
    const char *signature;                  /* what the faults leave in the output */
    const char *faults[PCAST_PROBE_FAULTS]; /* ids of those it isolates, NULL after the last */
    /* SPEC of a kernel on which the faults are worked out and the margin is measured. */
    const char *reference;
    /* Numbers for heads of `dim` channels: 64, 128 or 256. Frees nothing on failure. */
    pcast_status (*build)(pcast_problem *problem, size_t dim, pcast_error *err);
    int large; /* needs gigabytes where it is run: only on request */
} pcast_probe;

size_t pcast_probe_count(void);
const pcast_probe *pcast_probe_at(size_t index);
const pcast_probe *pcast_probe_find(const char *id);

/* ---- What is legitimate ---- */

/* What is known of a kernel: its SPEC's fields, less those that are left open. */
typedef struct pcast_declaration {
    pcast_kernel kernel;
    uint64_t unknown; /* set of fields, bits UINT64_C(1) << field */
} pcast_declaration;

/* Nothing is known but that P is cast to E4M3 (or kept wider), with S from 1 to 448. */
pcast_declaration pcast_declaration_of_nothing(void);

typedef struct pcast_interval {
    double low, high; /* of real numbers, before the output is rounded; low > high: none */
    int nan;          /* NaN is legitimate too */
} pcast_interval;

/* What a kernel may answer under one reading of its declaration. */
typedef struct pcast_bounds {
    size_t rows, dim;
    pcast_interval *o;   /* [rows][dim] */
    pcast_interval *lse; /* [rows], in nats */
} pcast_bounds;

/* Readings of a declaration, one of which an answer must fit as a whole. */
size_t pcast_reading_count(const pcast_declaration *declaration);

/* Intervals that hold every legitimate answer of reading `index`, under a fault (NULL: healthy).
 * PCAST_ERR_VALUE: the kernel's fields are invalid; PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_bounds_of(const pcast_problem *problem, const pcast_declaration *declaration,
                             size_t index, const pcast_fault *fault, pcast_bounds *bounds,
                             pcast_error *err);
void pcast_bounds_free(pcast_bounds *bounds);

/* ---- Judgement ---- */

typedef struct pcast_answer {
    const float *o;   /* [rows][dim] */
    const float *lse; /* [rows] as the kernel returned it; NULL: none */
} pcast_answer;

typedef enum pcast_verdict {
    PCAST_VERDICT_EXACT,      /* the one answer there is, to the bit */
    PCAST_VERDICT_ADMISSIBLE, /* within the bounds */
    PCAST_VERDICT_DEFECTIVE,
} pcast_verdict;

enum { PCAST_JUDGEMENT_FAULTS = 4 };

typedef struct pcast_judgement {
    pcast_verdict verdict;
    size_t elements, outside; /* of O and log-sum-exp */
    /* The element furthest outside, where there is one. */
    int in_lse;
    size_t row, channel;
    double got;
    pcast_interval expected; /* of it, rounded to the output's type */
    /* Faults whose own bounds hold the whole answer, the best explanation first. */
    const pcast_fault *faults[PCAST_JUDGEMENT_FAULTS];
    size_t fault_count;
} pcast_judgement;

/* Judges an answer to a problem; probe (may be NULL) tells which faults to think of first.
 * PCAST_ERR_INPUT as pcast_problem_check; PCAST_ERR_VALUE, PCAST_ERR_MEMORY. */
pcast_status pcast_judge(const pcast_problem *problem, const pcast_probe *probe,
                         const pcast_declaration *declaration, const pcast_answer *answer,
                         pcast_judgement *judgement, pcast_error *err);

/* How well a problem separates a fault from what is legitimate: the largest gap between what
 * either may answer for an element, over the width of the legitimate interval (at least an ulp of
 * the output); Inf where the fault gives NaN; 0 where some healthy reading can answer the same. */
pcast_status pcast_separation(const pcast_problem *problem, const pcast_declaration *declaration,
                              const pcast_fault *fault, double *margin, pcast_error *err);

#ifdef __cplusplus
}
#endif

#endif
