/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scales of a head: what quantising gave, or what the tensors came with. */
#include "experiment/attend_runner.h"

float pcast_attend_given_descale(const pcast_attend_runner *self, int which, size_t batch,
                                 size_t head)
{
    const pcast_attend *attend = self->attend;
    const pcast_tensor *const tensors[] = {attend->q_descale, attend->k_descale, attend->v_descale};
    const size_t heads = self->shape.heads, kv_heads = self->shape.kv_heads;
    const size_t kv_head = pcast_attend_kv_head(self, head);
    if (which == 0)
        return pcast_head_scalar(tensors[0], heads, batch, head, kv_head, kv_heads);
    return pcast_head_scalar(tensors[which], kv_heads, batch, kv_head, kv_head, kv_heads);
}

float pcast_attend_token_descale(const pcast_attend_runner *self, int which, size_t batch,
                                 size_t head, size_t token)
{
    const pcast_input *input = &self->inputs[which];
    const pcast_view *view = &input->view;
    const size_t *starts = input->starts;
    const size_t own = which == 0 ? head : pcast_attend_kv_head(self, head);
    if (input->descale == NULL)
        return pcast_attend_given_descale(self, which, batch, head);
    if (pcast_sequence_of(view, starts, batch).count == 0)
        return 1.0f;
    const float descale =
        input->descale[pcast_token_index(view, starts, batch, token) * view->heads + own];
    return descale != 0 ? descale : 1.0f; /* 0: a token beyond the length, never quantised */
}

/* One descale for the head's scores, where there is one. */
static float head_qk_descale(const pcast_attend_runner *self, size_t batch, size_t head)
{
    if (self->by_key)
        return 1.0f;
    const float q = pcast_attend_token_descale(self, 0, batch, head, 0);
    return q * pcast_attend_token_descale(self, 1, batch, head, 0);
}

static float head_v_descale(const pcast_attend_runner *self, size_t batch, size_t head)
{
    if (self->inputs[2].descale != NULL && self->kernel->v_scale == PCAST_SCALE_BLOCK)
        return 1.0f;
    return pcast_attend_token_descale(self, 2, batch, head, 0);
}

pcast_status pcast_attend_plan(const pcast_attend_runner *self, size_t batch, size_t head,
                               pcast_plan *plan, pcast_error *err)
{
    const pcast_attend *attend = self->attend;
    const pcast_kernel *kernel = self->kernel;
    const size_t heads = self->shape.heads;
    pcast_head_scales scales = {.softmax_scale = self->softmax_scale,
                                .qk_descale = head_qk_descale(self, batch, head),
                                .v_descale = head_v_descale(self, batch, head),
                                .sink_given = kernel->sink_given,
                                .sink_logit = kernel->sink_logit};
    if (attend->learned_sink != NULL) {
        scales.sink_given = 1;
        scales.sink_logit = pcast_head_scalar(attend->learned_sink, heads, 0, head, head, heads);
    }
    pcast_kernel of_row = *kernel;
    if (self->inputs[2].channel != NULL)
        of_row.out_format = PCAST_OUTPUT_F32; /* finish_outputs rounds (step 9.4) */
    return pcast_plan_init(plan, &of_row, self->run->cpu, &scales, self->shape.dim, err);
}

pcast_status pcast_attend_check_plans(const pcast_attend_runner *self, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    pcast_plan plan;
    for (size_t i = 0; status == PCAST_OK && i < self->shape.batch * self->shape.heads; i++)
        status = pcast_attend_plan(self, i / self->shape.heads, i % self->shape.heads, &plan, err);
    return status;
}
