/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast golden check: a kernel's answers to a suite, judged. */
#include "golden_check.h"

#include "pcast/golden_simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_options {
    const char *name, *folder, *outputs, *spec, *csv, *junit;
    golden_declared declared;
    cli_list probes; /* none: all */
} check_options;

enum { KEY_OUTPUTS = 0x100, KEY_KERNEL, KEY_UNKNOWN, KEY_PROBE, KEY_CSV, KEY_JUNIT };

static const struct argp_option check_argp_options[] = {
    {"outputs", KEY_OUTPUTS, "DIR", 0,
     "what the kernel gave: ID_o.npy and ID_lse.npy, or ID.safetensors with o and lse", 0},
    {"kernel", KEY_KERNEL, "SPEC", 0,
     "what is known of the kernel: NAME[:field=value;...] (the suite's declaration, else nothing)",
     0},
    {"unknown", KEY_UNKNOWN, "FIELD,...", 0, "fields of --kernel that are not known after all", 0},
    {"probe", KEY_PROBE, "ID,...", 0, "only these problems (all)", 0},
    {"csv", KEY_CSV, "FILE", 0, "one row a problem; - is stdout, in place of the summary", 0},
    {"junit", KEY_JUNIT, "FILE", 0, "JUnit XML, one test case a problem", 0},
    {"help", 'h', NULL, 0, "print this help", -1},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    check_options *options = state->input;
    switch (key) {
    case KEY_OUTPUTS:
        options->outputs = arg;
        return 0;
    case KEY_KERNEL:
        options->spec = arg;
        return 0;
    case KEY_UNKNOWN:
        return golden_take_unknown(arg, &options->declared.unknown, state);
    case KEY_PROBE:
        return golden_take_probes(arg, &options->probes, state);
    case KEY_CSV:
        options->csv = arg;
        return 0;
    case KEY_JUNIT:
        options->junit = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->folder != NULL)
            return ARGP_ERR_UNKNOWN;
        options->folder = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->folder == NULL)
            return cli_bad(state, "a suite's folder is needed");
        if (options->outputs == NULL)
            return cli_bad(state, "--outputs: needed, the folder of the kernel's answers");
        if (options->outputs[0] == '\0')
            return cli_bad(state, "--outputs: '': is no folder name");
        if (options->csv != NULL && options->junit != NULL && strcmp(options->csv, "-") == 0 &&
            strcmp(options->junit, "-") == 0)
            return cli_bad(state, "--csv and --junit: standard output can take one of them");
        if (options->declared.unknown != 0 && options->spec == NULL)
            return cli_bad(state, "--unknown: names fields of --kernel, which is not given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp check_argp = {
    .options = check_argp_options,
    .parser = parse_option,
    .args_doc = "DIR",
    .doc = "Judges what a kernel answered to the suite in DIR: exact (the one answer there is, to "
           "the bit), "
           "admissible (within bounds that follow from what is known of the kernel), or defective, "
           "with the fault that explains it. Exits with 1 if anything is defective or malformed."
           "\vExamples:\n"
           "  pcast golden check suite --outputs out\n"
           "  pcast golden check suite --outputs out --kernel fa3 --unknown block --junit fa3.xml",
};

/* ---- One problem ---- */

/* Are they the very bits that the declared kernel writes, with either semantics? */
static int is_simulated(const pcast_problem *problem, const golden_declared *declared,
                        const float *o, const float *lse)
{
    const size_t rows = pcast_problem_rows(problem), size = rows * problem->dim;
    float *simulated = cli_alloc(size, sizeof *simulated);
    float *simulated_lse = cli_alloc(rows, sizeof *simulated_lse);
    int same = 0;
    for (int semantics = 0; !same && !declared->nothing && semantics < 2; semantics++) {
        pcast_kernel kernel = declared->kernel;
        pcast_error err;
        kernel.semantics = (pcast_semantics)semantics;
        if (pcast_golden_simulate(problem, &kernel, pcast_cpu_detect(), simulated, simulated_lse,
                                  &err) != PCAST_OK)
            continue;
        same = memcmp(simulated, o, size * sizeof *o) == 0 &&
               (lse == NULL || memcmp(simulated_lse, lse, rows * sizeof *lse) == 0);
    }
    free(simulated);
    free(simulated_lse);
    return same;
}

/* A problem and its answer, as far as they can be read. */
typedef struct task {
    pcast_problem problem;
    float *o, *lse;
    golden_outcome *outcome;
} task;

static void fail_task(task *self, const pcast_error *err)
{
    self->outcome->verdict = GOLDEN_MALFORMED;
    snprintf(self->outcome->message, sizeof self->outcome->message, "%s", err->text);
}

static void read_task(const check_options *options, task *self)
{
    const pcast_manifest_probe *probe = self->outcome->probe;
    pcast_error err = {""};
    pcast_status status = pcast_manifest_load_problem(options->folder, probe, &self->problem, &err);
    if (status == PCAST_OK)
        status = pcast_problem_check(&self->problem, &err);
    if (status == PCAST_OK)
        status = golden_read_answer(options->outputs, probe, &self->o, &self->lse, &err);
    if (status != PCAST_OK)
        fail_task(self, &err);
    else if (self->o == NULL)
        self->outcome->verdict = GOLDEN_MISSING;
    else
        self->outcome->verdict = GOLDEN_VERDICTS; /* to be judged */
}

static void free_task(task *self)
{
    free(self->o);
    free(self->lse);
    pcast_problem_free(&self->problem);
}

static void take_judgement(task *self, const golden_declared *declared,
                           const pcast_judgement *judgement)
{
    golden_outcome *outcome = self->outcome;
    outcome->judgement = *judgement;
    outcome->verdict = judgement->verdict == PCAST_VERDICT_DEFECTIVE ? GOLDEN_DEFECTIVE
                       : judgement->verdict == PCAST_VERDICT_EXACT   ? GOLDEN_EXACT
                                                                     : GOLDEN_ADMISSIBLE;
    if (outcome->verdict == GOLDEN_ADMISSIBLE &&
        is_simulated(&self->problem, declared, self->o, self->lse))
        outcome->verdict = GOLDEN_EXACT;
}

static void judge_declared(const check_options *options, task *tasks, size_t count)
{
    const pcast_declaration declaration = golden_declaration(&options->declared);
    for (size_t i = 0; i < count; i++) {
        pcast_judgement judgement;
        pcast_error err = {""};
        const pcast_answer answer = {tasks[i].o, tasks[i].lse};
        if (tasks[i].outcome->verdict != GOLDEN_VERDICTS)
            continue;
        if (pcast_judge(&tasks[i].problem, pcast_probe_find(tasks[i].outcome->probe->id),
                        &declaration, &answer, &judgement, &err) == PCAST_OK)
            take_judgement(&tasks[i], &options->declared, &judgement);
        else
            fail_task(&tasks[i], &err);
    }
}

/* Rows of each head that are looked at to identify the kernel. */
enum { IDENTIFY_ROWS = 24 };

/* Nothing is declared: says which kernel the answers look like, and judges them as its. */
static int judge_identified(check_options *options, task *tasks, size_t count)
{
    pcast_sighting *sightings = cli_alloc(count + 1, sizeof *sightings);
    pcast_problem_tensors *tensors = cli_alloc(count + 1, sizeof *tensors);
    pcast_answered *answers = cli_alloc(count + 1, sizeof *answers);
    pcast_judgement *judgements = cli_alloc(count + 1, sizeof *judgements);
    size_t *from = cli_alloc(count + 1, sizeof *from), n = 0;
    golden_declared *declared = &options->declared;
    pcast_identity identity = {0};
    pcast_error err = {""};
    int as = 0, code = EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].outcome->verdict != GOLDEN_VERDICTS)
            continue;
        sightings[n] = pcast_sighting_of(&tasks[i].problem, &tensors[n]);
        sightings[n].id = tasks[i].outcome->probe->id;
        sightings[n].o = tasks[i].o;
        sightings[n].lse = tasks[i].lse;
        answers[n] = (pcast_answered){&tasks[i].problem,
                                      pcast_probe_find(tasks[i].outcome->probe->id),
                                      {tasks[i].o, tasks[i].lse}};
        from[n++] = i;
    }
    pcast_status status = n == 0 ? PCAST_OK
                                 : pcast_identify(sightings, n, IDENTIFY_ROWS, 0,
                                                  pcast_cpu_detect(), &identity, &err);
    if (n > 0 && status == PCAST_OK)
        status = pcast_judge_identified(answers, n, &identity.best, judgements, &as, &err);
    if (status != PCAST_OK)
        code = cli_fail(cli_exit_code(status), options->name, "%s", err.text);
    if (as) {
        declared->identified = 1;
        declared->nothing = 0;
        declared->kernel = identity.best.kernel;
        declared->match = identity.best.match;
        snprintf(declared->identity, sizeof declared->identity, "%s", identity.best.spec);
        declared->spec = declared->identity;
    }
    for (size_t i = 0; code == EXIT_OK && i < n; i++)
        take_judgement(&tasks[from[i]], declared, &judgements[i]);
    pcast_identity_free(&identity);
    free(sightings);
    free(tensors);
    free(answers);
    free(judgements);
    free(from);
    return code;
}

/* ---- The whole suite ---- */

static int is_chosen(const cli_list *probes, const char *id)
{
    for (size_t i = 0; i < probes->count; i++)
        if (strcmp(probes->items[i], id) == 0)
            return 1;
    return probes->count == 0;
}

/* The declaration: the options', else the suite's. */
static int resolve_declaration(check_options *options, const pcast_manifest *manifest)
{
    golden_declared *declared = &options->declared;
    uint64_t given;
    pcast_error err;
    declared->spec = options->spec != NULL ? options->spec : manifest->spec;
    if (options->spec == NULL)
        declared->unknown = manifest->unknown;
    declared->nothing = declared->spec == NULL;
    if (declared->nothing)
        return EXIT_OK;
    if (pcast_kernel_parse(declared->spec, &declared->kernel, &given, &err) != PCAST_OK)
        return cli_fail(EXIT_USAGE, options->name, "--kernel %s: %s", declared->spec, err.text);
    static const pcast_field given_by_probes[] = {PCAST_FIELD_MASK, PCAST_FIELD_WINDOW_LEFT,
                                                  PCAST_FIELD_WINDOW_RIGHT, PCAST_FIELD_SINK_LOGIT,
                                                  PCAST_FIELD_SOFTCAP};
    for (size_t i = 0; i < sizeof given_by_probes / sizeof given_by_probes[0]; i++)
        if ((given & UINT64_C(1) << given_by_probes[i]) != 0)
            return cli_fail(EXIT_USAGE, options->name,
                            "--kernel %s: %s: is the problems', not the kernel's", declared->spec,
                            pcast_field_name(given_by_probes[i]));
    return cli_check_kernel(options->name, "--kernel ", declared->spec, &declared->kernel);
}

static int is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static int write_reports(const check_options *options, const golden_report *report)
{
    const struct {
        const char *path;
        void (*write)(FILE *, const golden_report *);
    } files[] = {
        {options->csv, golden_report_csv},
        {options->junit, golden_report_junit},
        {is_stdout(options->csv) || is_stdout(options->junit) ? NULL : "-", golden_report_text},
    };
    cli_output outputs[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        pcast_error err;
        if (files[i].path == NULL)
            continue;
        if (cli_output_open(&outputs[count], files[i].path, &err) != PCAST_OK) {
            while (count > 0)
                cli_output_abandon(&outputs[--count]);
            return cli_fail(EXIT_OUTPUT, options->name, "%s", err.text);
        }
        files[i].write(outputs[count++].stream, report);
    }
    return cli_outputs_finish(outputs, count, EXIT_OK, options->name);
}

static int run(check_options *options, const pcast_manifest *manifest)
{
    int code = resolve_declaration(options, manifest);
    if (code != EXIT_OK)
        return code;
    for (size_t i = 0; i < options->probes.count; i++)
        if (pcast_manifest_find(manifest, options->probes.items[i]) == NULL)
            return cli_fail(EXIT_USAGE, options->name, "--probe: the suite has no '%s'",
                            options->probes.items[i]);
    golden_report report = {.declared = &options->declared,
                            .outcomes = cli_alloc(manifest->count, sizeof *report.outcomes)};
    task *tasks = cli_alloc(manifest->count + 1, sizeof *tasks);
    for (size_t i = 0; i < manifest->count; i++) {
        if (!is_chosen(&options->probes, manifest->probes[i].id))
            continue;
        golden_outcome *outcome = &report.outcomes[report.count];
        outcome->probe = &manifest->probes[i];
        tasks[report.count].outcome = outcome;
        read_task(options, &tasks[report.count++]);
    }
    if (options->declared.nothing)
        code = judge_identified(options, tasks, report.count);
    else
        judge_declared(options, tasks, report.count);
    for (size_t i = 0; i < report.count; i++)
        free_task(&tasks[i]);
    free(tasks);
    if (code != EXIT_OK) {
        free(report.outcomes);
        return code;
    }
    size_t counts[GOLDEN_VERDICTS];
    golden_report_count(&report, counts);
    if (counts[GOLDEN_MISSING] == report.count)
        code = cli_fail(EXIT_INPUT, options->name, "%s: no output of any of the suite's problems",
                        options->outputs);
    else
        code = write_reports(options, &report);
    if (code == EXIT_OK && counts[GOLDEN_DEFECTIVE] + counts[GOLDEN_MALFORMED] > 0)
        code = EXIT_DIFFERENT;
    free(report.outcomes);
    return code;
}

int golden_check(int argc, char **argv)
{
    check_options options = {.name = argv[0]};
    pcast_manifest manifest = {0};
    pcast_error err = {""};
    const int parsed = cli_parse(&check_argp, argc, argv, &options);
    int code = parsed < 0 ? EXIT_OK : parsed;
    if (parsed == EXIT_OK) {
        const pcast_status status = pcast_manifest_read(options.folder, &manifest, &err);
        code = status == PCAST_OK ? run(&options, &manifest)
                                  : cli_fail(cli_exit_code(status), options.name, "%s", err.text);
    }
    pcast_manifest_free(&manifest);
    cli_list_free(&options.probes);
    return code;
}
