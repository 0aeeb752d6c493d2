/* SPDX-License-Identifier: MIT */
/* How fast the attention kernel is, beside the strict one. */
#include "cuda/attention_check.h"

#include "base/error.h"
#include "cuda/rows.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 4096, DIM = 128, LAUNCHES = 5, NUMBERS = TOKENS * DIM };

/* One head, in codes and in floats; the numbers do not matter. */
typedef struct timing {
    pcast_plan plan, strict_plan;
    uint8_t *codes;
    float *floats, *o, *lse;
    pcast_row_keys *where;
} timing;

static void timing_free(timing *self)
{
    free(self->codes);
    free(self->floats);
    free(self->o);
    free(self->lse);
    free(self->where);
}

static pcast_status timing_init(timing *self, pcast_error *err)
{
    const pcast_head_scales scales = {1 / sqrtf((float)DIM), 1, 1, 0, 0};
    pcast_kernel kernel;
    *self = (timing){0};
    pcast_status status = pcast_kernel_parse("pcast-wgmma", &kernel, NULL, err);
    if (status == PCAST_OK)
        status =
            pcast_plan_init(&self->strict_plan, &kernel, pcast_cpu_detect(), &scales, DIM, err);
    kernel.semantics = PCAST_SEMANTICS_HARDWARE;
    if (status == PCAST_OK)
        status = pcast_plan_init(&self->plan, &kernel, pcast_cpu_detect(), &scales, DIM, err);
    self->codes = malloc(NUMBERS);
    self->floats = malloc(NUMBERS * sizeof *self->floats);
    self->o = malloc(NUMBERS * sizeof *self->o);
    self->lse = malloc(TOKENS * sizeof *self->lse);
    self->where = malloc(TOKENS * sizeof *self->where);
    if (status == PCAST_OK && (self->codes == NULL || self->floats == NULL || self->o == NULL ||
                               self->lse == NULL || self->where == NULL))
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %d tokens", TOKENS);
    for (size_t i = 0; status == PCAST_OK && i < NUMBERS; i++) {
        self->codes[i] = (uint8_t)(0x28 + i * 7 % 16 + (i % 3 == 0 ? 0x80 : 0));
        self->floats[i] = pcast_decode_f32(PCAST_E4M3, self->codes[i]);
    }
    for (size_t i = 0; status == PCAST_OK && i < TOKENS; i++)
        self->where[i] = (pcast_row_keys){TOKENS, {0, TOKENS}, {0, TOKENS}};
    return status;
}

pcast_status pcast_attention_time(pcast_cuda *cuda, pcast_check_result *result, pcast_error *err)
{
    timing self;
    double best[2] = {INFINITY, INFINITY};
    pcast_status status = timing_init(&self, err);
    const pcast_attention_job job = {.plan = &self.plan,
                                     .queries = TOKENS,
                                     .dim = DIM,
                                     .keys = TOKENS,
                                     .q = self.codes,
                                     .k = self.codes,
                                     .v = self.codes,
                                     .where = self.where,
                                     .o = self.o,
                                     .lse = self.lse};
    const pcast_row_job strict = {.plan = &self.strict_plan,
                                  .rows = TOKENS,
                                  .dim = DIM,
                                  .value_dim = DIM,
                                  .keys = TOKENS,
                                  .q = self.floats,
                                  .k = self.floats,
                                  .v = self.floats,
                                  .where = self.where,
                                  .o = self.o,
                                  .lse = self.lse,
                                  .visit_max = pcast_row_job_visits(&self.strict_plan, TOKENS),
                                  .split_max = 1};
    for (int n = 0; status == PCAST_OK && n < 2 * LAUNCHES; n++) {
        status = n % 2 == 0 ? pcast_cuda_attention(cuda, &job, err)
                            : pcast_cuda_rows(cuda, &strict, 1, err);
        best[n % 2] = fmin(best[n % 2], pcast_cuda_launch_seconds(cuda));
    }
    if (status == PCAST_OK) {
        pcast_check_add_count(result, "microseconds: attention kernel", (uint64_t)(best[0] * 1e6));
        pcast_check_add_count(result, "microseconds: strict kernel", (uint64_t)(best[1] * 1e6));
    }
    timing_free(&self);
    return status;
}
