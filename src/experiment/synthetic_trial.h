/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial of the synthetic experiment under all configurations, and what a thread needs for it.
 */
#ifndef PCAST_EXPERIMENT_SYNTHETIC_TRIAL_H
#define PCAST_EXPERIMENT_SYNTHETIC_TRIAL_H

#include "experiment/synthetic_draws.h"
#include "measure/loss.h"
#include "measure/reference.h"
#include "softmax/row.h"

/* Keys of the exact reference's blocks; no workspace has room for fewer. */
enum { PCAST_REFERENCE_BLOCK = 128 };

/* V of a block as kernels read it that multiply codes; NULL where there is none. */
typedef struct pcast_value_codes {
    uint8_t *codes; /* [block][dim] */
    float *rounded; /* their values */
    int filled;     /* for the current visit */
} pcast_value_codes;

/* Rows whose P.V waits to be multiplied together. */
enum { PCAST_BATCH = 48 };

typedef struct pcast_row_batch {
    size_t count;
    float *o[PCAST_BATCH], alpha[PCAST_BATCH];
    const float *p[PCAST_BATCH];
    float *rows; /* [PCAST_BATCH][block] their P */
} pcast_row_batch;

/* Working memory of one thread. */
typedef struct pcast_workspace {
    pcast_status status; /* of the device */
    pcast_error error;
    size_t first_delta, end_delta; /* those of the current piece of work */
    pcast_draws draws;
    pcast_row_scratch scratch;
    float *scores;               /* [block] */
    uint8_t *is_sink;            /* [2][block]: of the first block, of any other */
    pcast_reference *references; /* [deltas] */
    double *reference_o;    /* [deltas + 1][2][dim]: output, lost parts; last the other keys' */
    float *kernel_scores;   /* [block] as a kernel reads them */
    pcast_value_codes v[2]; /* in E4M3 and E5M2, for kernels that read codes */
    pcast_row_batch batch;
    pcast_row *rows;          /* [kernels][deltas] */
    pcast_loss_meter *meters; /* [kernels][deltas] */
    pcast_loss_part *parts;   /* [deltas][splits of each kernel], for the meters */
} pcast_workspace;

typedef struct pcast_synthetic_state {
    const pcast_synthetic *experiment;
    const pcast_run *run;
    size_t threads;
    size_t groups; /* of Delta, each a piece of work, where there are fewer trials than threads */
    size_t block;  /* largest block of any kernel, at least PCAST_REFERENCE_BLOCK */
    pcast_plan *plans;       /* [kernels] */
    pcast_loss_units *units; /* [kernels] */
    size_t *front;           /* [kernels] the first that has the same maxima and P before S */
    size_t *first_part;      /* [kernels + 1] where a kernel's parts begin, for one Delta */
    pcast_workspace *workspaces;
    pcast_loss *losses; /* [trials of this chunk][kernels][deltas] */
    size_t chunk_first; /* number of this chunk's first trial within the run */
} pcast_synthetic_state;

/* Working memory for one thread of a run whose plans are made. PCAST_ERR_MEMORY; free what was
 * begun in any case. */
pcast_status pcast_workspace_init(pcast_workspace *space, const pcast_synthetic_state *self,
                                  pcast_error *err);
void pcast_workspace_free(pcast_workspace *space, size_t configs);

/* Scores of the keys of a range: RN32(Delta + sigma*g) for sinks, RN32(sigma*g) for the others. */
void pcast_fill_scores(float *scores, const double *normals, pcast_range range,
                       const pcast_synthetic *experiment, double delta);

/* Exact outputs of the trial that has been drawn, one for each Delta of the piece. */
void pcast_compute_references(const pcast_synthetic_state *self, pcast_workspace *space);

/* Piece trial * groups + group of the run's work: losses of all kernels, for that group of Delta.
 * The context is a pcast_synthetic_state. */
void pcast_synthetic_piece(void *context, int thread, size_t piece);

#endif
