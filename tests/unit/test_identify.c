/* SPDX-License-Identifier: GPL-3.0-or-later */
/* identify on a run of the golden probes: every preset's order, S, staleness and row sum are found,
 * settings of no preset too, and what cannot be told apart is said. */
#include "pcast/golden_simulate.h"
#include "pcast/identify.h"

#include "settings.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { DIM = 64, ROWS = 12, PROBES_MOST = 64 };

/* Random settings that are judged; the program's argument. */
static int settings = 3;

typedef struct probe_run {
    size_t count;
    pcast_problem problems[PROBES_MOST];
    pcast_problem_tensors tensors[PROBES_MOST];
    pcast_sighting sightings[PROBES_MOST];
    float *o[PROBES_MOST], *lse[PROBES_MOST];
} probe_run;

/* What the kernel answers to all probes that it can do; `only`, if not NULL, names the one. */
static void probe_run_init(probe_run *run, const pcast_kernel *kernel, const char *only)
{
    *run = (probe_run){0};
    for (size_t i = 0; i < pcast_probe_count(); i++) {
        const pcast_probe *probe = pcast_probe_at(i);
        const size_t n = run->count;
        pcast_error err = {""};
        if (probe->large || (only != NULL && strcmp(only, probe->id) != 0))
            continue;
        assert_int_equal(probe->build(&run->problems[n], DIM, &err), PCAST_OK);
        const size_t rows = pcast_problem_rows(&run->problems[n]);
        run->o[n] = calloc(rows, DIM * sizeof(float));
        run->lse[n] = calloc(rows, sizeof(float));
        if (pcast_golden_simulate(&run->problems[n], kernel, pcast_cpu_detect(), run->o[n],
                                  run->lse[n], &err) != PCAST_OK) {
            pcast_problem_free(&run->problems[n]);
            free(run->o[n]);
            free(run->lse[n]);
            continue;
        }
        run->sightings[n] = pcast_sighting_of(&run->problems[n], &run->tensors[n]);
        run->sightings[n].id = probe->id;
        run->sightings[n].o = run->o[n];
        run->sightings[n].lse = kernel->lse != PCAST_LSE_NONE ? run->lse[n] : NULL;
        run->count++;
    }
}

static void probe_run_free(probe_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        pcast_problem_free(&run->problems[i]);
        free(run->o[i]);
        free(run->lse[i]);
    }
}

static const pcast_evidence *find(const pcast_identity *identity, const char *aspect)
{
    for (size_t i = 0; i < identity->evidence_count; i++)
        if (strcmp(identity->evidence[i].aspect, aspect) == 0)
            return &identity->evidence[i];
    fail_msg("no evidence for %s", aspect);
    return NULL;
}

/* The kernel's own value is the best one's, or is said not to be told apart from it. */
static void expect(const pcast_identity *identity, const pcast_kernel *kernel, const char *aspect,
                   pcast_field field, const char *name)
{
    const pcast_evidence *evidence = find(identity, aspect);
    char own[64], wanted[128];
    pcast_kernel_get(kernel, field, own, sizeof own);
    snprintf(wanted, sizeof wanted, "%s=%s", pcast_field_name(field), own);
    int found = strncmp(evidence->value, wanted, strlen(wanted)) == 0;
    for (size_t i = 0; i < evidence->same_count; i++)
        found |= strncmp(evidence->same[i].value, wanted, strlen(wanted)) == 0;
    if (!found)
        fail_msg("%s: %s, found %s (best %s)", name, wanted, evidence->value, identity->best.spec);
}

static void identify(const probe_run *run, pcast_identity *identity)
{
    pcast_error err = {""};
    if (pcast_identify(run->sightings, run->count, ROWS, 0, pcast_cpu_detect(), identity, &err) !=
        PCAST_OK)
        fail_msg("%s", err.text);
}

static void test_presets(void **state)
{
    (void)state;
    for (size_t i = 0; i < pcast_preset_count(); i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        probe_run run;
        pcast_identity identity;
        probe_run_init(&run, &preset->kernel, NULL);
        identify(&run, &identity);
        assert_int_equal(identity.best.match.exact, identity.best.match.elements);
        expect(&identity, &preset->kernel, "order", PCAST_FIELD_ORDER, preset->name);
        expect(&identity, &preset->kernel, "S", PCAST_FIELD_SCALE, preset->name);
        expect(&identity, &preset->kernel, "staleness", PCAST_FIELD_RESCALE_THRESHOLD,
               preset->name);
        expect(&identity, &preset->kernel, "row sum", PCAST_FIELD_ROW_SUM, preset->name);
        /* Where P is normalised before the cast order changes nothing; else it is settled. */
        if (preset->kernel.normalise == PCAST_NORMALISE_END) {
            assert_int_equal(find(&identity, "order")->same_count, 0);
            assert_int_equal(find(&identity, "S")->same_count, 0);
        }
        /* The preset itself is among those that reproduce everything. */
        int listed = 0;
        for (size_t p = 0; p < identity.preset_count; p++)
            listed |= strcmp(identity.presets[p].spec, preset->name) == 0 &&
                      identity.presets[p].match.exact == identity.best.match.exact;
        assert_true(listed);
        pcast_identity_free(&identity);
        probe_run_free(&run);
    }
}

static void test_settings(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "fa3:scale=1;order=forward;block=96", "hpc-ops:order=reverse;scale=16;block=112",
        "flashinfer-fa3:row_sum=cast;sum_scale=in;block=80", "fa4:rescale_threshold=2;scale=64",
        "fa3-vllm:row_sum=cast;sum_scale=in;out_format=f32;splits=4;block=96"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        probe_run run;
        pcast_identity identity;
        pcast_kernel kernel;
        assert_int_equal(pcast_kernel_parse(specs[i], &kernel, NULL, NULL), PCAST_OK);
        probe_run_init(&run, &kernel, NULL);
        identify(&run, &identity);
        assert_int_equal(identity.best.match.exact, identity.best.match.elements);
        expect(&identity, &kernel, "order", PCAST_FIELD_ORDER, specs[i]);
        expect(&identity, &kernel, "S", PCAST_FIELD_SCALE, specs[i]);
        expect(&identity, &kernel, "block", PCAST_FIELD_BLOCK, specs[i]);
        expect(&identity, &kernel, "staleness", PCAST_FIELD_RESCALE_THRESHOLD, specs[i]);
        expect(&identity, &kernel, "row sum", PCAST_FIELD_ROW_SUM, specs[i]);
        expect(&identity, &kernel, "splits", PCAST_FIELD_SPLITS, specs[i]);
        expect(&identity, &kernel, "output type", PCAST_FIELD_OUT_FORMAT, specs[i]);
        pcast_identity_free(&identity);
        probe_run_free(&run);
    }
}

/* One probe alone leaves much open, and says so; threads change nothing. */
static void test_ambiguity(void **state)
{
    (void)state;
    probe_run run;
    pcast_identity one, two;
    pcast_error err;
    const pcast_kernel *fa3 = &pcast_preset_at(1)->kernel;
    probe_run_init(&run, fa3, "cast-table");
    assert_int_equal(run.count, 1);
    assert_int_equal(pcast_identify(run.sightings, 1, 0, 1, pcast_cpu_detect(), &one, &err),
                     PCAST_OK);
    assert_int_equal(pcast_identify(run.sightings, 1, 0, 2, PCAST_CPU_SCALAR, &two, &err),
                     PCAST_OK);
    assert_true(find(&one, "order")->same_count > 0);
    assert_string_equal(find(&one, "order")->probe, "walk");
    assert_int_equal(find(&one, "S")->same_count, 0);
    assert_string_equal(one.best.spec, two.best.spec);
    assert_int_equal(one.evidence_count, two.evidence_count);
    for (size_t i = 0; i < one.evidence_count; i++)
        assert_int_equal(one.evidence[i].same_count, two.evidence[i].same_count);
    pcast_identity_free(&one);
    pcast_identity_free(&two);
    /* Numbers that no kernel wrote. */
    for (size_t c = 0; c < DIM; c++)
        run.o[0][c] = -7;
    run.sightings[0].lse = NULL;
    assert_int_equal(pcast_identify(run.sightings, 1, 0, 1, pcast_cpu_detect(), &one, &err),
                     PCAST_OK);
    assert_int_equal(one.best.match.exact, 0);
    pcast_identity_free(&one);
    probe_run_free(&run);
}

/* Judges a run whose kernel nobody declares; returns how many answers are defective, the first of
 * them in *found. */
static size_t judge(const probe_run *run, const char *name, pcast_judgement *found,
                    const char **probe)
{
    pcast_answered answers[PROBES_MOST];
    pcast_judgement judgements[PROBES_MOST];
    pcast_identity identity;
    pcast_error err = {""};
    size_t defective = 0;
    int as;
    identify(run, &identity);
    for (size_t i = 0; i < run->count; i++)
        answers[i] = (pcast_answered){&run->problems[i],
                                      pcast_probe_find(run->sightings[i].id),
                                      {run->o[i], run->sightings[i].lse}};
    if (pcast_judge_identified(answers, run->count, &identity.best, judgements, &as, &err) !=
        PCAST_OK)
        fail_msg("%s: %s", name, err.text);
    for (size_t i = 0; i < run->count; i++) {
        if (judgements[i].verdict != PCAST_VERDICT_DEFECTIVE)
            continue;
        if (defective++ == 0) {
            *found = judgements[i];
            *probe = run->sightings[i].id;
        }
    }
    pcast_identity_free(&identity);
    return defective;
}

/* Healthy kernels are healthy also where they are identified first. */
static void test_no_false_alarm(void **state)
{
    (void)state;
    uint64_t random = 31;
    for (size_t i = 0; i < pcast_preset_count() + (size_t)settings; i++) {
        const int preset = i < pcast_preset_count();
        if (preset && settings < 100 && i % 6 != 1)
            continue;
        char spec[PCAST_SPEC_MAX];
        probe_run run;
        pcast_judgement found = {0};
        const char *probe = "";
        pcast_kernel kernel = preset ? pcast_preset_at(i)->kernel : draw_kernel(&random, spec);
        if (!preset && is_rash(&kernel))
            continue;
        if (preset)
            snprintf(spec, sizeof spec, "%s", pcast_preset_at(i)->name);
        probe_run_init(&run, &kernel, NULL);
        if (run.count > 0 && judge(&run, spec, &found, &probe) > 0)
            fail_msg("%s on %s: %.9g is outside %.9g to %.9g; named %s", spec, probe, found.got,
                     found.expected.low, found.expected.high,
                     found.fault_count > 0 ? found.faults[0]->id : "none");
        probe_run_free(&run);
    }
}

/* Kernels that misread a problem are found out and named, though nobody says which they are. */
static void test_faults(void **state)
{
    (void)state;
    static const char *const faults[] = {"descale-squared", "sink-ignored", "mask-top-left",
                                         "v-permuted-16"};
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
        const pcast_fault *fault = pcast_fault_find(faults[f]);
        const pcast_kernel *kernel = &pcast_preset_at(2)->kernel; /* fa3-vllm, which knows sinks */
        probe_run run;
        pcast_judgement found = {0};
        const char *probe = "";
        probe_run_init(&run, kernel, NULL);
        for (size_t i = 0; i < run.count; i++) {
            pcast_problem misread;
            pcast_error err = {""};
            assert_int_equal(pcast_problem_copy(&run.problems[i], &misread, &err), PCAST_OK);
            assert_true(fault->misread(&misread, kernel));
            if (pcast_golden_simulate(&misread, kernel, pcast_cpu_detect(), run.o[i], run.lse[i],
                                      &err) != PCAST_OK)
                fail_msg("%s on %s: %s", faults[f], run.sightings[i].id, err.text);
            pcast_problem_free(&misread);
        }
        assert_true(judge(&run, faults[f], &found, &probe) > 0);
        if (found.fault_count == 0 || strcmp(found.faults[0]->fault_class, fault->fault_class) != 0)
            fail_msg("%s on %s: named %s", faults[f], probe,
                     found.fault_count > 0 ? found.faults[0]->id : "none");
        probe_run_free(&run);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        settings = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),   cmocka_unit_test(test_settings),
        cmocka_unit_test(test_ambiguity), cmocka_unit_test(test_no_false_alarm),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
