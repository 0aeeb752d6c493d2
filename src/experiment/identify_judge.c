/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judging as the kernel that answers look like. */
#include "pcast/identify.h"

/* Of a run's problems that a kernel must explain to be taken for the one that answered. */
#define SHARE 0.6

/* Is it explained by something that no kernel may choose to do? */
static int is_no_choice(const pcast_judgement *judgement)
{
    return judgement->fault_count > 0 && judgement->faults[0]->choose == NULL;
}

pcast_status pcast_judge_identified(const pcast_answered *answers, size_t count,
                                    const pcast_candidate *best, pcast_judgement *judgements,
                                    int *as, pcast_error *err)
{
    const pcast_declaration known = {best->kernel, 0}, nothing = pcast_declaration_of_nothing();
    pcast_status status = PCAST_OK;
    size_t explained = 0;
    for (size_t i = 0; status == PCAST_OK && i < count; i++) {
        status = pcast_judge(answers[i].problem, answers[i].probe, &known, &answers[i].answer,
                             &judgements[i], err);
        explained += judgements[i].verdict != PCAST_VERDICT_DEFECTIVE;
    }
    *as = (double)explained >= SHARE * (double)count;
    for (size_t i = 0; status == PCAST_OK && i < count; i++) {
        const int defective = judgements[i].verdict == PCAST_VERDICT_DEFECTIVE;
        if (*as && (!defective || is_no_choice(&judgements[i])))
            continue;
        status = pcast_judge(answers[i].problem, answers[i].probe, &nothing, &answers[i].answer,
                             &judgements[i], err);
    }
    return status;
}
