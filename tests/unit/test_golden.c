/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Golden probes and their judge. Healthy kernels (every preset, random settings) are never called
 * defective, whatever is declared of them; every fault, seeded into the simulator, is found and
 * named. The simulator and the bounds share no arithmetic but the walk over blocks. */
#include "pcast/golden.h"
#include "pcast/golden_simulate.h"

#include "faulty.h"
#include "settings.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 64, SEEDS = 1000 };

/* Probes that each random setting is tried on; the program's argument. */
static int probes_a_setting = 3;

typedef struct answered {
    pcast_problem problem;
    float *o, *lse;
} answered;

static void answered_init(answered *self, const pcast_probe *probe)
{
    pcast_error err = {""};
    *self = (answered){0};
    if (probe->build(&self->problem, DIM, &err) != PCAST_OK)
        fail_msg("%s: %s", probe->id, err.text);
    self->o = calloc(pcast_problem_rows(&self->problem), DIM * sizeof *self->o);
    self->lse = calloc(pcast_problem_rows(&self->problem), sizeof *self->lse);
}

static void answered_free(answered *self)
{
    pcast_problem_free(&self->problem);
    free(self->o);
    free(self->lse);
}

/* Runs the kernel; 0 where it cannot do the problem. */
static int run(answered *self, const pcast_problem *problem, const pcast_kernel *kernel)
{
    pcast_error err;
    const pcast_status status =
        pcast_golden_simulate(problem, kernel, pcast_cpu_detect(), self->o, self->lse, &err);
    if (status != PCAST_OK && status != PCAST_ERR_VALUE && status != PCAST_ERR_UNAVAILABLE)
        fail_msg("%s", err.text);
    return status == PCAST_OK;
}

/* returns_lse: does the kernel that answered return one? */
static pcast_judgement judge(const answered *self, const pcast_probe *probe,
                             const pcast_declaration *declaration, int returns_lse)
{
    pcast_judgement found;
    pcast_error err = {""};
    const pcast_answer answer = {self->o, returns_lse ? self->lse : NULL};
    if (pcast_judge(&self->problem, probe, declaration, &answer, &found, &err) != PCAST_OK)
        fail_msg("%s: %s", probe != NULL ? probe->id : "problem", err.text);
    return found;
}

static void expect_healthy(const answered *self, const pcast_probe *probe, const char *kernel,
                           const pcast_declaration *declaration, int returns_lse)
{
    const pcast_judgement found = judge(self, probe, declaration, returns_lse);
    if (found.verdict != PCAST_VERDICT_DEFECTIVE)
        return;
    fail_msg("%s on %s (unknown %llx): %s, row %zu, channel %zu: %.9g is outside %.9g to %.9g",
             kernel, probe != NULL ? probe->id : "a random problem",
             (unsigned long long)declaration->unknown, found.in_lse ? "lse" : "o", found.row,
             found.channel, found.got, found.expected.low, found.expected.high);
}

static void test_presets_are_healthy(void **state)
{
    (void)state;
    size_t judged = 0;
    for (size_t p = 0; p < pcast_probe_count(); p++) {
        const pcast_probe *probe = pcast_probe_at(p);
        answered answer;
        answered_init(&answer, probe);
        for (size_t i = 0; i < 2 * pcast_preset_count(); i++) {
            const pcast_preset *preset = pcast_preset_at(i / 2);
            pcast_declaration declaration = {preset->kernel, 0};
            declaration.kernel.semantics = (pcast_semantics)(i % 2);
            const int returns_lse = preset->kernel.lse != PCAST_LSE_NONE;
            if (!run(&answer, &answer.problem, &declaration.kernel))
                continue;
            judged++;
            expect_healthy(&answer, probe, preset->name, &declaration, returns_lse);
            declaration.kernel.semantics = PCAST_SEMANTICS_FP32; /* as a user may declare it */
            expect_healthy(&answer, probe, preset->name, &declaration, returns_lse);
            const pcast_declaration nothing = pcast_declaration_of_nothing();
            expect_healthy(&answer, probe, preset->name, &nothing, returns_lse);
        }
        answered_free(&answer);
    }
    assert_true(judged > 800);
}

/* Under its own declaration, under one with fields left open, whose values are then any preset's,
 * and with nothing known. */
static void expect_all_healthy(const answered *self, const pcast_probe *probe, const char *spec,
                               const pcast_kernel *kernel, uint64_t *random)
{
    const int returns_lse = kernel->lse != PCAST_LSE_NONE;
    pcast_declaration declaration = {*kernel, 0};
    expect_healthy(self, probe, spec, &declaration, returns_lse);
    if (is_rash(kernel))
        return;
    declaration.unknown =
        test_random(random) & test_random(random) & ((UINT64_C(1) << PCAST_FIELD_COUNT) - 1);
    for (int field = 0; field < PCAST_FIELD_COUNT; field++) {
        char text[128];
        pcast_error err;
        if ((declaration.unknown & UINT64_C(1) << field) == 0 || field == PCAST_FIELD_SOFTCAP ||
            field == PCAST_FIELD_SCALE_LOG2) /* which sets the scale */
            continue;
        pcast_kernel_get(&pcast_preset_at(test_random(random) % pcast_preset_count())->kernel,
                         (pcast_field)field, text, sizeof text);
        pcast_kernel_set(&declaration.kernel, (pcast_field)field, text, &err);
    }
    expect_healthy(self, probe, spec, &declaration, returns_lse);
    declaration = pcast_declaration_of_nothing();
    expect_healthy(self, probe, spec, &declaration, returns_lse);
}

static void test_settings_are_healthy(void **state)
{
    (void)state;
    uint64_t random = 11;
    size_t judged = 0;
    answered answers[64];
    assert_true(pcast_probe_count() <= 64);
    for (size_t p = 0; p < pcast_probe_count(); p++)
        answered_init(&answers[p], pcast_probe_at(p));
    for (int seed = 0; seed < SEEDS; seed++) {
        char spec[PCAST_SPEC_MAX];
        const pcast_kernel kernel = draw_kernel(&random, spec);
        for (int probe = 0; probe < probes_a_setting; probe++) {
            const size_t p = test_random(&random) % pcast_probe_count();
            if (!run(&answers[p], &answers[p].problem, &kernel))
                continue;
            judged++;
            expect_all_healthy(&answers[p], pcast_probe_at(p), spec, &kernel, &random);
        }
    }
    for (size_t p = 0; p < pcast_probe_count(); p++)
        answered_free(&answers[p]);
    assert_true(judged > SEEDS * (size_t)probes_a_setting / 2);
}

static float draw_e4m3(uint64_t *random)
{
    const uint32_t code = (uint32_t)(test_random(random) % 256);
    return (code & 0x7F) == 0x7F ? 0 : pcast_decode_f32(PCAST_E4M3, code);
}

/* Problems that are no probes: scores on a few levels, any V, masks, lengths, sinks, descales. */
static void draw_problem(answered *self, uint64_t *random)
{
    static const double spreads[] = {0, 1, 4, 12, 40};
    const size_t kv_heads = 1 + test_random(random) % 2, group = 1 + test_random(random) % 2;
    const size_t batch = 1 + test_random(random) % 2, keys = 1 + test_random(random) % 300;
    const size_t queries = test_random(random) % 2 != 0 ? 1 : 1 + test_random(random) % 40;
    const double spread = spreads[test_random(random) % 5];
    pcast_problem *problem = &self->problem;
    pcast_error err = {""};
    *self = (answered){0};
    assert_int_equal(
        pcast_problem_init(problem, batch, kv_heads * group, kv_heads, queries, keys, DIM, &err),
        PCAST_OK);
    problem->softmax_scale = 1;
    const int values = (int)(test_random(random) % 3);
    for (size_t i = 0; i < pcast_problem_rows(problem); i++)
        problem->q[i * DIM] = 1;
    for (size_t j = 0; j < batch * kv_heads * keys; j++) { /* two numbers of E4M3 */
        const double level = floor((test_uniform(random) - 0.5) * spread * 16) / 16;
        problem->k[j * DIM] = (float)(level < 0 ? ceil(level) : floor(level));
        problem->k[j * DIM + 1] = 0;
        if (fabsf(problem->k[j * DIM]) > 16)
            problem->k[j * DIM] = (float)(2 * floor((double)problem->k[j * DIM] / 2));
        for (size_t c = 0; c < DIM; c++)
            problem->v[j * DIM + c] = values == 0   ? draw_e4m3(random)
                                      : values == 1 ? (float)(test_random(random) % 9) - 4
                                                    : 0x1p-9f * (float)(test_random(random) % 8);
    }
    problem->mask = (pcast_mask)(test_random(random) % 3);
    if (test_random(random) % 3 == 0)
        problem->window_left = 1 + test_random(random) % keys;
    if (test_random(random) % 4 == 0 && pcast_problem_descale(&problem->sink, kv_heads * group))
        for (size_t h = 0; h < kv_heads * group; h++)
            problem->sink[h] = (float)(40 * test_uniform(random) - 20);
    if (test_random(random) % 4 == 0 && pcast_problem_descale(&problem->v_descale, kv_heads))
        for (size_t h = 0; h < kv_heads; h++)
            problem->v_descale[h] = (float)pow(10, 6 * test_uniform(random) - 3);
    if (test_random(random) % 4 == 0) {
        problem->kv_lengths = malloc(batch * sizeof *problem->kv_lengths);
        for (size_t b = 0; b < batch; b++)
            problem->kv_lengths[b] = 1 + test_random(random) % keys;
    }
    self->o = calloc(pcast_problem_rows(problem), DIM * sizeof *self->o);
    self->lse = calloc(pcast_problem_rows(problem), sizeof *self->lse);
}

static void test_other_problems(void **state)
{
    (void)state;
    uint64_t random = 12;
    size_t judged = 0;
    for (int seed = 0; seed < SEEDS * probes_a_setting / 4; seed++) {
        answered answer;
        char spec[PCAST_SPEC_MAX];
        draw_problem(&answer, &random);
        const pcast_kernel kernel = draw_kernel(&random, spec);
        if (run(&answer, &answer.problem, &kernel)) {
            judged++;
            expect_all_healthy(&answer, NULL, spec, &kernel, &random);
        }
        answered_free(&answer);
    }
    assert_true(judged > (size_t)(SEEDS * probes_a_setting / 16));
}

static void test_faults_are_found(void **state)
{
    (void)state;
    size_t found_faults = 0;
    for (size_t p = 0; p < pcast_probe_count(); p++) {
        const pcast_probe *probe = pcast_probe_at(p);
        pcast_declaration declaration = {.unknown = 0};
        answered answer;
        answered_init(&answer, probe);
        assert_int_equal(pcast_kernel_parse(probe->reference, &declaration.kernel, NULL, NULL),
                         PCAST_OK);
        for (int f = 0; f < PCAST_PROBE_FAULTS && probe->faults[f] != NULL; f++) {
            const pcast_fault *fault = pcast_fault_find(probe->faults[f]);
            int named = 0;
            assert_non_null(fault);
            if (!faulty_answer(&answer.problem, &declaration.kernel, fault, answer.o, answer.lse))
                fail_msg("%s on %s cannot run", fault->id, probe->id);
            const pcast_judgement found =
                judge(&answer, probe, &declaration, declaration.kernel.lse != PCAST_LSE_NONE);
            for (size_t i = 0; i < found.fault_count; i++)
                named |= found.faults[i] == fault;
            if (found.verdict != PCAST_VERDICT_DEFECTIVE || !named)
                fail_msg("%s on %s: %s; %zu of %zu outside, %s row %zu channel %zu: %.9g against "
                         "%.9g to %.9g; named %s",
                         fault->id, probe->id,
                         found.verdict != PCAST_VERDICT_DEFECTIVE ? "not found" : "not named",
                         found.outside, found.elements, found.in_lse ? "lse" : "o", found.row,
                         found.channel, found.got, found.expected.low, found.expected.high,
                         found.fault_count > 0 ? found.faults[0]->id : "none");
            found_faults++;
        }
        answered_free(&answer);
    }
    assert_true(found_faults >= 50);
}

/* Every fault of the catalogue has a probe, and every probe tells its faults from what is
 * legitimate by twice the width of what is. */
static void test_margins(void **state)
{
    (void)state;
    for (size_t i = 0; i < pcast_fault_count(); i++) {
        int probed = 0;
        for (size_t p = 0; p < pcast_probe_count(); p++)
            for (int f = 0; f < PCAST_PROBE_FAULTS && pcast_probe_at(p)->faults[f] != NULL; f++)
                probed |= strcmp(pcast_probe_at(p)->faults[f], pcast_fault_at(i)->id) == 0;
        if (!probed)
            fail_msg("%s has no probe", pcast_fault_at(i)->id);
    }
    for (size_t dim = 64; dim <= 256; dim *= 2)
        for (size_t p = 0; p < pcast_probe_count(); p++) {
            const pcast_probe *probe = pcast_probe_at(p);
            pcast_declaration declaration = {.unknown = 0};
            pcast_problem problem = {0};
            pcast_error err = {""};
            assert_int_equal(probe->build(&problem, dim, &err), PCAST_OK);
            assert_int_equal(pcast_kernel_parse(probe->reference, &declaration.kernel, NULL, NULL),
                             PCAST_OK);
            for (int f = 0; f < PCAST_PROBE_FAULTS && probe->faults[f] != NULL; f++) {
                double margin;
                const pcast_fault *fault = pcast_fault_find(probe->faults[f]);
                assert_int_equal(pcast_separation(&problem, &declaration, fault, &margin, &err),
                                 PCAST_OK);
                if (!(margin >= 2))
                    fail_msg("%s of %s at dim %zu: margin %g", fault->id, probe->id, dim, margin);
            }
            pcast_problem_free(&problem);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        probes_a_setting = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margins),
        cmocka_unit_test(test_faults_are_found),
        cmocka_unit_test(test_presets_are_healthy),
        cmocka_unit_test(test_settings_are_healthy),
        cmocka_unit_test(test_other_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
