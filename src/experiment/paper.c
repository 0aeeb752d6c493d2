/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims A to H of the paper: what each one asks of its runs. */
#include "base/error.h"
#include "experiment/paper_sample.h"
#include "experiment/paper_verdict.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

/* A: collapse at Delta about 6 to 7, non-sink keys hold about half of the mass there. */
static pcast_status claim_a(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    pcast_paper_sample all;
    const pcast_status status = pcast_paper_run(paper, index, 0, &all, err);
    if (status != PCAST_OK)
        return status;
    claim->trials = all.trials;
    const size_t at[3] = {0, 4, 8}; /* Delta = 5, 6, 7 */
    for (int i = 0; i < 3; i++) {
        const pcast_theory_row row = pcast_paper_theory_row(&all, 0, at[i]);
        pcast_paper_add_mean(claim, &all, at[i], pcast_lost_share, pcast_theory_underflow(&row).all,
                             "keys lost");
        pcast_paper_add_mean(claim, &all, at[i], pcast_mass_of,
                             pcast_theory_expected_loss(&row).mass, "mass of the other keys");
    }
    free(all.losses);
    pcast_paper_judge_a(claim);
    return PCAST_OK;
}

/* Adds the MSE ratio of every run at every Delta. */
static pcast_status add_mse_ratios(const pcast_paper *paper, int index, pcast_claim *claim,
                                   pcast_error *err)
{
    for (size_t r = 0; r < pcast_paper_plans[index].run_count; r++) {
        pcast_paper_sample all;
        const pcast_status status = pcast_paper_run(paper, index, r, &all, err);
        if (status != PCAST_OK)
            return status;
        claim->trials = GSL_MAX(claim->trials, all.trials);
        for (size_t d = 0; d < all.plan->delta_count; d++)
            pcast_paper_add_mse_ratio(claim, &all, d);
        free(all.losses);
    }
    return PCAST_OK;
}

/* B: MSE of S = 1 is 3 to 10 times that of S = 256 at moderate Delta. */
static pcast_status claim_b(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    const pcast_status status = add_mse_ratios(paper, index, claim, err);
    if (status == PCAST_OK)
        pcast_paper_judge_b(claim);
    return status;
}

/* C: S = 256 has 10 to 15 % less MSE than S = 448, forward. */
static pcast_status claim_c(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    const pcast_status status = add_mse_ratios(paper, index, claim, err);
    if (status == PCAST_OK)
        pcast_paper_judge_c(claim);
    return status;
}

/* D: reverse + 256 cannot be told from forward + 256 in the collapse regime. */
static pcast_status claim_d(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    pcast_paper_sample all;
    const pcast_status status = pcast_paper_run(paper, index, 0, &all, err);
    if (status != PCAST_OK)
        return status;
    claim->trials = all.trials;
    double p_equivalence[PCAST_PAPER_DELTAS];
    for (size_t d = all.plan->delta_count, i = 0; d-- > 0; i++)
        p_equivalence[i] = pcast_paper_add_mse_ratio(claim, &all, d).p_equivalence;
    free(all.losses);
    pcast_paper_judge_d(claim, p_equivalence);
    return PCAST_OK;
}

/* E: the improvement grows with N. */
static pcast_status claim_e(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    const pcast_status status = add_mse_ratios(paper, index, claim, err);
    if (status == PCAST_OK)
        pcast_paper_judge_e(claim);
    return status;
}

/* F: reverse + 256 has no underflow at all. */
static pcast_status claim_f(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    pcast_paper_sample all;
    const pcast_status status = pcast_paper_run(paper, index, 0, &all, err);
    if (status != PCAST_OK)
        return status;
    claim->trials = all.trials;
    const size_t deltas = all.plan->delta_count;
    size_t inside = 0, outside = 0;
    for (size_t d = 0; d < deltas; d++) {
        size_t out = 0, out_keys = 0;
        for (size_t t = 0; t < all.trials; t++) {
            const pcast_loss *loss = &all.losses[t * deltas + d];
            out += loss->outside_flushed;
            out_keys += loss->outside;
            inside += loss->flushed - loss->outside_flushed;
        }
        outside += out;
        const pcast_theory_row row = pcast_paper_theory_row(&all, 0, d);
        const pcast_theory_fractions theory = pcast_theory_underflow(&row);
        pcast_paper_add_mean(claim, &all, d, pcast_lost_inside, theory.inside,
                             "share lost inside the sinks' block");
        /* So rare that the count is Poisson: its upper 95 % limit. */
        const double count = (double)out, keys = (double)out_keys;
        pcast_paper_add(claim, count / keys, 0,
                        gsl_cdf_chisq_Pinv(0.95, 2 * (count + 1)) / 2 / keys, theory.outside,
                        "share lost outside it (upper limit) at Delta = %g", all.plan->deltas[d]);
    }
    free(all.losses);
    pcast_paper_judge_f(claim, inside, outside);
    return PCAST_OK;
}

/* G: dp(S) is least at powers of two. */
static pcast_status claim_g(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    (void)paper;
    (void)index;
    (void)err;
    double least_other = INFINITY, worst_at_power = 0, least_point = INFINITY, least_point_at = 0;
    double least_power = INFINITY, most_power = 0;
    for (int k = -5; k <= 8; k++) {
        least_power = GSL_MIN(least_power, pcast_theory_dp(ldexp(1, k)));
        most_power = GSL_MAX(most_power, pcast_theory_dp(ldexp(1, k)));
        worst_at_power = GSL_MAX(worst_at_power, pcast_theory_worst_point(ldexp(1, k)));
    }
    for (int i = 1; i <= 448 * 64; i++) { /* every 64th, up to 448 */
        const double scale = i / 64.0;
        if (!pcast_theory_scale_is_exact(scale))
            least_other = GSL_MIN(least_other, pcast_theory_dp(scale));
        if (scale >= 1 && pcast_theory_worst_point(scale) < least_point) {
            least_point = pcast_theory_worst_point(scale);
            least_point_at = scale;
        }
    }
    pcast_paper_add(claim, most_power, least_power, most_power, 0x1p-4,
                    "dp at powers of two from 2^-5 to 2^8");
    pcast_paper_add(claim, least_other, least_other, least_other, GSL_NAN,
                    "least dp at any other multiple of 1/64 up to 448");
    pcast_paper_add(claim, pcast_theory_dp(448), pcast_theory_dp(448), pcast_theory_dp(448),
                    1.0 / 14, "dp at 448");
    pcast_paper_add(claim, worst_at_power, worst_at_power, worst_at_power, GSL_NAN,
                    "worst point error at powers of two");
    pcast_paper_add(claim, least_point, least_point, least_point, GSL_NAN,
                    "least worst point error, at S = %g", least_point_at);
    pcast_paper_judge_g(claim, least_point_at);
    return PCAST_OK;
}

/* H: at Delta about 7, forward S = 1 loses 30 to 40 % of the information: of the other keys' mass.
 */
static pcast_status claim_h(const pcast_paper *paper, int index, pcast_claim *claim,
                            pcast_error *err)
{
    pcast_paper_sample all;
    const pcast_status status = pcast_paper_run(paper, index, 0, &all, err);
    if (status != PCAST_OK)
        return status;
    claim->trials = all.trials;
    const pcast_paired paired =
        pcast_paper_compare(&all, 0, pcast_mass_of, 0, pcast_kept_of, 0, 0.01);
    const pcast_theory_row row = pcast_paper_theory_row(&all, 0, 0);
    free(all.losses);
    pcast_paper_add(claim, 1 - paired.ratio, 1 - paired.ratio_high, 1 - paired.ratio_low,
                    1 - pcast_theory_expected_loss(&row).mass_kept,
                    "share of the other keys' mass lost at Delta = 7");
    pcast_paper_judge_h(claim);
    return PCAST_OK;
}

typedef pcast_status claim_function(const pcast_paper *, int, pcast_claim *, pcast_error *);

static const struct {
    const char *text;
    claim_function *compute;
} claims[PCAST_CLAIMS] = {
    {"With S = 1 collapse sets in at Delta about 6 to 7, when the other keys still hold about half "
     "the mass",
     claim_a},
    {"Forward order: the MSE of S = 1 is 3 to 10 times that of S = 256 at moderate Delta", claim_b},
    {"Forward order: S = 256 has 10 to 15 % lower MSE than S = 448", claim_c},
    {"Reverse + 256 is statistically indistinguishable from forward + 256 in the collapse regime",
     claim_d},
    {"The improvement grows with N", claim_e},
    {"Reverse + 256 has zero underflow", claim_f},
    {"dp(S) is least at powers of two", claim_g},
    {"At Delta about 7 forward order with S = 1 loses 30 to 40 % of the information", claim_h},
};

pcast_status pcast_paper_claim(const pcast_paper *paper, int index, pcast_claim *claim,
                               pcast_error *err)
{
    if (index < 0 || index >= PCAST_CLAIMS)
        return pcast_fail(err, PCAST_ERR_VALUE, "claim number %d is not from 0 to %d", index,
                          PCAST_CLAIMS - 1);
    *claim = (pcast_claim){.id = (char)('A' + index), .text = claims[index].text};
    const pcast_status status = claims[index].compute(paper, index, claim, err);
    for (size_t i = 0; status == PCAST_OK && i < claim->count; i++)
        if (isnan(claim->findings[i].value))
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory");
    return status;
}

const char *pcast_verdict_name(pcast_verdict verdict)
{
    static const char *const names[] = {"holds", "holds under a condition", "refuted",
                                        "not decidable"};
    return names[verdict];
}
