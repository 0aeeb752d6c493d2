/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of one kernel over the heads of tensors: what its pieces share. */
#ifndef PCAST_EXPERIMENT_ATTEND_RUNNER_H
#define PCAST_EXPERIMENT_ATTEND_RUNNER_H

#include "experiment/attend_codes.h"
#include "experiment/attend_view.h"
#include "experiment/prepare.h"
#include "measure/loss.h"
#include "pcast/attend.h"
#include "softmax/row.h"

/* Memory of one thread. */
typedef struct pcast_attend_space {
    pcast_status status; /* of the device */
    pcast_error error;
    pcast_plan plan; /* of the current head */
    pcast_row row;
    pcast_row_scratch scratch;
    pcast_loss_part *parts;
    size_t loaded;            /* head of K and V among those of all sequences + 1; 0: none */
    float *k, *v;             /* [keys][dim] of that head, as the kernel reads them */
    float *exact_k, *exact_v; /* as they were given, where the inputs are prepared */
    float *q, *exact_q;       /* [dim] of the current query, likewise */
    float *k_descale;         /* [keys] */
    float *v_descale;         /* [blocks] */
    float *products, *scores, *kernel_scores; /* [keys] */
    double *reference;                        /* [2][value dim] */
    uint8_t *is_sink;                         /* [block], none */
    pcast_attend_codes codes;
} pcast_attend_space;

typedef struct pcast_attend_runner {
    const pcast_attend *attend;
    const pcast_kernel *kernel;
    const pcast_run *run;
    const pcast_attend_result *result;
    pcast_attend_shape shape;
    pcast_loss_units units;
    float softmax_scale;
    pcast_input inputs[3]; /* Q, K, V */
    int by_key;            /* scores are rescaled key by key, not by one factor for the head */
    pcast_attend_space *workspaces; /* [threads] */
} pcast_attend_runner;

pcast_status pcast_attend_space_init(pcast_attend_space *space, const pcast_attend_runner *self,
                                     pcast_error *err);
void pcast_attend_space_free(pcast_attend_space *space);

/* The head of K and V that a head reads. */
static inline size_t pcast_attend_kv_head(const pcast_attend_runner *self, size_t head)
{
    return head / (self->shape.heads / self->shape.kv_heads);
}

/* Descale that q (0), k (1) or v (2) came with, for a head. */
float pcast_attend_given_descale(const pcast_attend_runner *self, int which, size_t batch,
                                 size_t head);

/* Descale of a token of a head: what quantising gave it, or what it came with. */
float pcast_attend_token_descale(const pcast_attend_runner *self, int which, size_t batch,
                                 size_t head, size_t token);

/* Where a row's results go. */
typedef struct pcast_attend_place {
    float *o;
    size_t row; /* index into lse */
} pcast_attend_place;

pcast_attend_place pcast_attend_place_of(const pcast_attend_runner *self, size_t batch, size_t head,
                                         size_t query);

/* O and the log-sum-exp of a head whose K and V are loaded, from the run's device. Errors as
 * pcast_device_rows and pcast_attention_schedule_init. */
pcast_status pcast_attend_on_device(const pcast_attend_runner *self, pcast_attend_space *space,
                                    const pcast_attend_head *head, pcast_error *err);

/* Constants of a head. */
pcast_status pcast_attend_plan(const pcast_attend_runner *self, size_t batch, size_t head,
                               pcast_plan *plan, pcast_error *err);

/* Every head's constants must be in range before threads start, which cannot report. */
pcast_status pcast_attend_check_plans(const pcast_attend_runner *self, pcast_error *err);

/* One query of a head whose K and V are loaded: its output, log-sum-exp, and errors. */
void pcast_attend_query(const pcast_attend_runner *self, pcast_attend_space *space,
                        pcast_attend_head *head, size_t query, pcast_tally *tally);

#endif
