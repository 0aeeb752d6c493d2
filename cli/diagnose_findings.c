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
                                         PCAST_FIELD_RESCALE_THRESHOLD, PCAST_FIELD_THRESHOLD_UNIT};
    const int unit = options->kernel.threshold_unit != PCAST_THRESHOLD_LOG2 && candidate->tau > 0;
    const size_t count = unit ? 4 : 3;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char value[64];
        pcast_kernel_get(&changed, fields[i], value, sizeof value);
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", i > 0 ? ", " : "",
                                   pcast_field_name(fields[i]), value);
        if (length >= size)
            return;
    }
}

const char *diagnose_span(diagnosed_span span, char text[48])
{
    if (span.fewest == span.most)
        snprintf(text, 48, "%zu", span.most);
    else
        snprintf(text, 48, "%zu to %zu", span.fewest, span.most);
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

double diagnose_stage_means(const diagnosed *all, double parts[DIAGNOSE_STAGES])
{
    double sum = 0;
    for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
        parts[s] = 0;
    for (size_t h = 0; h < all->count; h++) {
        double own[DIAGNOSE_STAGES];
        diagnose_stage_errors(&all->heads[h].budget, own);
        for (size_t s = 0; s < DIAGNOSE_STAGES; s++)
            parts[s] += own[s] / (double)all->count;
        sum += all->heads[h].budget.all;
    }
    return sum / (double)all->count;
}

int diagnose_casts_inputs(const diagnose_options *options)
{
    return options->kernel.qkv != PCAST_QKV_F32 && options->kernel.qkv != PCAST_QKV_BF16 &&
           options->kernel.qkv != PCAST_QKV_F16;
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

/* What the choice rests on: the mean and the largest ratio to each head's least error. */
static void describe_regret(const diagnosed *all, size_t own, char text[192])
{
    const pcast_regret best = diagnose_regret(all, all->overall.best);
    const pcast_regret now = diagnose_regret(all, own);
    const int changes = own != all->overall.best && isfinite(now.mean);
    const int one = all->count - all->overall.left_out == 1;
    char mean[32] = "", both[64] = "";
    if (changes) {
        snprintf(mean, sizeof mean, " (now %.2f)", now.mean);
        snprintf(both, sizeof both, " (now %.3f and %.3f)", now.mean, now.largest);
    }
    if (one)
        snprintf(text, 192, " It is %.2f times the least that order, S and threshold allow%s.",
                 best.mean, mean);
    else
        snprintf(text, 192,
                 " It is on average %.3f times the least that order, S and threshold allow in a "
                 "head, in no head more than %.3f times%s.",
                 best.mean, best.largest, both);
}

/* How much the advice rests on. */
static void describe_basis(const diagnosed *all, char text[160])
{
    size_t queries = 0, counted = 0;
    const size_t out = all->overall.left_out;
    for (size_t h = 0; h < all->count; h++)
        if (pcast_row_counts(all->errors + h * all->candidate_count, all->candidate_count)) {
            queries += all->heads[h].diagnosis.head.queries;
            counted++;
        }
    const int length = snprintf(text, 160, " From %zu quer%s of %zu head%s.", queries,
                                queries == 1 ? "y" : "ies", counted, counted == 1 ? "" : "s");
    if (out > 0)
        snprintf(text + length, 160 - (size_t)length,
                 " %zu head%s left out: no setting has a finite error there.", out,
                 out == 1 ? " is" : "s are");
}

/* With --quantize: what no other S can bring. */
static void describe_cast(const diagnose_options *options, const diagnosed *all, char text[256])
{
    double parts[DIAGNOSE_STAGES];
    char format[16];
    text[0] = '\0';
    if (!options->quantize)
        return;
    const double error = diagnose_stage_means(all, parts), cast = parts[DIAGNOSE_P_CAST];
    pcast_kernel_get(&options->kernel, PCAST_FIELD_QKV, format, sizeof format);
    if (!diagnose_casts_inputs(options))
        snprintf(text, 256, " The kernel has qkv=%s: --quantize casts none of Q, K and V.", format);
    else if (cast < DIAGNOSE_SMALL_PART * error)
        snprintf(text, 256,
                 " With Q, K and V quantised the cast of P is a small part: another S changes at "
                 "most %.2g %% of the squared error.",
                 cast > 0 ? 100 * cast / error : 0);
}

void diagnose_advice(const diagnose_options *options, const diagnosed *all, char *text, size_t size)
{
    const pcast_choice *choice = &all->overall;
    const size_t own = diagnose_own(options, all), others = choice->ties - 1;
    char setting[128], heads[48], now[96], regret[192], ties[128] = "", basis[160], cast[256];
    if (!isfinite(choice->error)) {
        snprintf(text, size, "No setting that was tried has a finite error in every head.");
        return;
    }
    diagnose_setting(options, &all->candidates[choice->best], setting, sizeof setting);
    describe_now(all, own, now);
    describe_regret(all, own, regret);
    describe_basis(all, basis);
    describe_cast(options, all, cast);
    if (choice->left_out > 0)
        snprintf(heads, sizeof heads, "%zu of %zu heads", all->count - choice->left_out,
                 all->count);
    else
        snprintf(heads, sizeof heads, all->count == 1 ? "this head" : "all %zu heads", all->count);
    if (others > 0)
        snprintf(ties, sizeof ties, " %zu other setting%s within %g %% of the least%s.", others,
                 others == 1 ? " is" : "s are", 100 * PCAST_CHOICE_TIE,
                 own != choice->best && choice->own_ties ? ", the kernel's own among them" : "");
    snprintf(
        text, size,
        "One setting for %s: %s%s. With it the mean relative error is %.3g %%%s.%s%s Headroom %.2f "
        "powers of two.%s%s",
        heads, setting, own == choice->best ? ", as the kernel has it" : "", 100 * choice->error,
        now, regret, ties, choice->headroom, basis, cast);
}
