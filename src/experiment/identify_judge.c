/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judging as the kernel that answers look like. */
#include "pcast/identify.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Of a run's problems that a kernel must explain to be taken for the one that answered. */
#define SHARE 0.6

/* Does the probe isolate the fault? */
static int isolates(const pcast_probe *probe, const pcast_fault *fault)
{
    for (size_t f = 0; probe != NULL && f < PCAST_PROBE_FAULTS && probe->faults[f] != NULL; f++)
        if (strcmp(probe->faults[f], fault->id) == 0)
            return 1;
    return 0;
}

/* Is the fault seen where it must show: on one of the run's probes that isolate it, if there is
 * any? */
static int is_seen(const pcast_fault *fault, const pcast_answered *answers, size_t count,
                   const pcast_judgement *judgements)
{
    int asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isolates(answers[i].probe, fault))
            continue;
        if (judgements[i].verdict == PCAST_VERDICT_DEFECTIVE)
            return 1;
        asked = 1;
    }
    return !asked;
}

pcast_status pcast_judge_identified(const pcast_answered *answers, size_t count,
                                    const pcast_candidate *best, pcast_judgement *judgements,
                                    int *as, pcast_error *err)
{
    const pcast_declaration known = {best->kernel, 0}, nothing = pcast_declaration_of_nothing();
    pcast_status status = PCAST_OK;
    size_t explained = 0;
    int *sure = calloc(count + 1, sizeof *sure); /* judged as the identified kernel for good */
    if (sure == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu answers", count);
    for (size_t i = 0; status == PCAST_OK && i < count; i++) {
        status = pcast_judge(answers[i].problem, answers[i].probe, &known, &answers[i].answer,
                             &judgements[i], err);
        explained += judgements[i].verdict != PCAST_VERDICT_DEFECTIVE;
    }
    *as = (double)explained >= SHARE * (double)count;
    for (size_t i = 0; status == PCAST_OK && *as && i < count; i++) {
        const pcast_judgement *here = &judgements[i];
        sure[i] = here->verdict != PCAST_VERDICT_DEFECTIVE ||
                  (here->fault_count > 0 && here->faults[0]->choose == NULL &&
                   is_seen(here->faults[0], answers, count, judgements));
    }
    for (size_t i = 0; status == PCAST_OK && i < count; i++) {
        if (sure[i])
            continue;
        status = pcast_judge(answers[i].problem, answers[i].probe, &nothing, &answers[i].answer,
                             &judgements[i], err);
    }
    free(sure);
    return status;
}
