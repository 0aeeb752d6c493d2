/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a diagnosis finds over all heads: settings compared, stages, the advice. */
#include "diagnose.h"
#include "grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int diagnose_is_predicted(const diagnose_options *options)
{
    return options->kernel.order == PCAST_ORDER_FORWARD &&
           grid_beyond_theory(&options->kernel) == PCAST_FIELD_COUNT;
}

pcast_regret diagnose_regret(const diagnosed *all, size_t candidate)
{
    return pcast_regret_of(all->errors, all->candidate_count, all->count, candidate);
}

size_t diagnose_own(const diagnose_options *options, const diagnosed *all)
{
    return pcast_candidate_own(&options->kernel, all->candidates, all->candidate_count);
}

double diagnose_error_now(const diagnose_options *options, const diagnosed *all, size_t head)
{
    return all->errors[head * all->candidate_count + diagnose_own(options, all)];
}

void diagnose_setting(const diagnose_options *options, const pcast_candidate *candidate, char *text,
                      size_t size)
{
    const pcast_kernel changed = pcast_candidate_kernel(&options->kernel, candidate);
    static const pcast_field fields[] = {PCAST_FIELD_ORDER, PCAST_FIELD_SCALE,
                                         PCAST_FIELD_RESCALE_THRESHOLD};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char value[64];
        pcast_kernel_get(&changed, fields[i], value, sizeof value);
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", i > 0 ? ", " : "",
                                   pcast_field_name(fields[i]), value);
        if (length >= size)
            return;
    }
}

const char *diagnose_keys(const diagnosed *all, char text[48])
{
    if (all->fewest_keys == all->most_keys)
        snprintf(text, 48, "%zu", all->most_keys);
    else
        snprintf(text, 48, "%zu to %zu", all->fewest_keys, all->most_keys);
    return text;
}

const pcast_budget_stage diagnose_stages[DIAGNOSE_STAGES] = {
    PCAST_BUDGET_Q, PCAST_BUDGET_K, PCAST_BUDGET_V, PCAST_BUDGET_P_CAST, PCAST_BUDGET_OUTPUT};

const char *diagnose_stage_name(size_t stage)
{
    static const char *const names[DIAGNOSE_STAGES] = {"Q", "K", "V", "P cast", "output"};
    return names[stage];
}

void diagnose_stage_errors(const pcast_budget *budget, double parts[DIAGNOSE_STAGES])
{
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
        parts[s] = budget->stages[diagnose_stages[s]];
}

void diagnose_stage_shares(const pcast_budget *budget, double shares[DIAGNOSE_STAGES])
{
    double sum = 0;
    diagnose_stage_errors(budget, shares);
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++) {
        shares[s] = shares[s] > 0 ? shares[s] : 0;
        sum += shares[s];
    }
    for (size_t s = 0; sum > 0 && s < DIAGNOSE_STAGES; s++)
        shares[s] /= sum;
}

/* "now it is ...", or nothing where nothing changes. */
static void describe_now(const diagnosed *all, size_t own, char text[96])
{
    const double now = diagnose_regret(all, own).error;
    text[0] = '\0';
    if (isnan(now))
        snprintf(text, 96, ", now outputs are NaN");
    else if (own != all->overall.best)
        snprintf(text, 96, ", now it is %.3g %%", 100 * now);
}

void diagnose_advice(const diagnose_options *options, const diagnosed *all, char *text, size_t size)
{
    const pcast_choice *choice = &all->overall;
    const size_t own = diagnose_own(options, all), others = choice->ties - 1;
    char setting[128], heads[48], now[96], ties[128] = "";
    if (!isfinite(choice->error)) {
        snprintf(text, size, "No setting that was tried has a finite error in every head.");
        return;
    }
    diagnose_setting(options, &all->candidates[choice->best], setting, sizeof setting);
    describe_now(all, own, now);
    snprintf(heads, sizeof heads, all->count == 1 ? "this head" : "all %zu heads", all->count);
    if (others > 0)
        snprintf(ties, sizeof ties, " %zu other setting%s within %g %% of the least%s.", others,
                 others == 1 ? " is" : "s are", 100 * PCAST_CHOICE_TIE,
                 own != choice->best && choice->own_ties ? ", the kernel's own among them" : "");
    snprintf(
        text, size,
        "One setting for %s: %s%s. With it the mean relative error is %.3g %%%s. In no head is "
        "it more than %.2f times the least that order, S and threshold allow.%s Headroom %.2f "
        "powers of two.",
        heads, setting, own == choice->best ? ", as the kernel has it" : "", 100 * choice->error,
        now, diagnose_regret(all, choice->best).largest, ties, choice->headroom);
}
