/* SPDX-License-Identifier: MIT */
/* Golden probes: small attention problems on each of which one known fault moves the output by far
 * more than any legitimate rounding; what every legitimate kernel may answer; and the judgement of
 * an answer (docs/golden.md). */
#ifndef PCAST_GOLDEN_H
#define PCAST_GOLDEN_H

#include "pcast/kernel.h"
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
} pcast_problem;

/* Zeroed q, k, v of these sizes, softmax_scale 1 / sqrt(dim) rounded to FP32. PCAST_ERR_MEMORY; to
 * be freed in any case. */
pcast_status pcast_problem_init(pcast_problem *problem, size_t batch, size_t heads, size_t kv_heads,
                                size_t queries, size_t keys, size_t dim, pcast_error *err);
pcast_status pcast_problem_copy(const pcast_problem *problem, pcast_problem *copy,
                                pcast_error *err);
void pcast_problem_free(pcast_problem *problem);

/* Makes one of the optional arrays with `count` numbers, all 1 (or 0 for a sink). NULL when memory
 * runs out. */
float *pcast_problem_descale(float **array, size_t count);

/* Rows of the output: batch * heads * queries. */
size_t pcast_problem_rows(const pcast_problem *problem);

/* ---- Faults ---- */

/* What a kernel gets wrong in its arithmetic, apart from what the kernel model can say. */
typedef enum pcast_slip {
    PCAST_SLIP_NONE,
    PCAST_SLIP_CAST_TRUNCATES,      /* the cast rounds toward zero */
    PCAST_SLIP_CAST_TWICE,          /* by way of bfloat16 */
    PCAST_SLIP_CAST_LOSES_TOP,      /* saturates at 240, one binade early */
    PCAST_SLIP_CAST_FLUSHES,        /* subnormal codes become zero */
    PCAST_SLIP_SUM_NOT_RESCALED,    /* the row sum misses the factor of a new maximum */
    PCAST_SLIP_OUTPUT_NOT_RESCALED, /* O misses it */
    PCAST_SLIP_SPLITS_UNWEIGHTED,   /* splits are averaged */
    PCAST_SLIP_SPLITS_BY_SUM,       /* splits are weighted by their row sums, without maxima */
    PCAST_SLIP_MAX_STARTS_AT_ZERO,  /* the running maximum starts at 0 */
    PCAST_SLIP_SUM_OF_OTHER_SCALE,  /* P holds S, the row sum does not, and nothing undoes it */
} pcast_slip;

/* How a faulty kernel answers: as a healthy one would answer the problem that it misreads, with
 * other choices than declared, a slip, and factors on what it returns. */
typedef struct pcast_fault {
    const char *id;                          /* "sink-ignored" */
    const char *fault_class;                 /* "learned-sink" */
    const char *title;                       /* what the kernel does, one line */
    const char *look;                        /* where to look: the number or line that is wrong */
    void (*misread)(pcast_problem *problem); /* NULL: nothing */
    void (*choose)(pcast_kernel *kernel);    /* NULL: as declared */
    pcast_slip slip;
    /* On O, and added to the log-sum-exp in nats; NULL: none. S is the kernel's scale. */
    double (*o_factor)(const pcast_kernel *kernel);
    double (*lse_offset)(const pcast_kernel *kernel);
    double lse_factor; /* on the log-sum-exp; 0: none */
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
    int unique;          /* every key's code of P is the same in all of them */
} pcast_bounds;

/* Readings of a declaration: orders of blocks, while everything else is known. */
size_t pcast_reading_count(const pcast_declaration *declaration);

/* Intervals that hold every legitimate answer of reading `index`, under a fault (NULL: healthy).
 * PCAST_ERR_VALUE: the kernel's fields are invalid; PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_bounds_of(const pcast_problem *problem, const pcast_declaration *declaration,
                             size_t index, const pcast_fault *fault, pcast_bounds *bounds,
                             pcast_error *err);
void pcast_bounds_free(pcast_bounds *bounds);

#ifdef __cplusplus
}
#endif

#endif
