/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A probe's files: its inputs as safetensors and as NPY, and what the presets answer. */
#include "golden.h"

#include "base/bits.h"
#include "pcast/golden_simulate.h"
#include "pcast/tensor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A text of the manifest, which must be there. */
#define KEEP(suite, ...) must_be(pcast_manifest_text(&(suite)->manifest, __VA_ARGS__))

static const void *must_be(const void *memory)
{
    if (memory == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    return memory;
}

static void *keep_array(golden_suite *suite, size_t count, size_t size)
{
    return (void *)must_be(pcast_manifest_alloc(&suite->manifest, count, size));
}

/* Ends a file that was written with a status. */
static pcast_status close_file(cli_output *output, pcast_status status, const char *path,
                               pcast_error *err)
{
    if (status == PCAST_OK)
        return cli_output_commit(output, err);
    snprintf(err->text, sizeof err->text, "%s: %s", path,
             status == PCAST_ERR_OUTPUT ? strerror(errno) : "cannot be written");
    cli_output_abandon(output);
    return status;
}

static pcast_status write_npy(const golden_suite *suite, const char *path, size_t rank,
                              const size_t *shape, const float *data, pcast_error *err)
{
    cli_output output;
    pcast_status status = golden_folder_open(suite->folder, path, &output, err);
    if (status != PCAST_OK)
        return status;
    status = pcast_npy_write(output.stream, PCAST_F32, rank, shape, data);
    return close_file(&output, status, path, err);
}

/* Every NaN as the same bits. */
static void plain(float *data, size_t count)
{
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = pcast_plain_nan(data[i]);
}

/* The arrays that a problem has, in the order of pcast_input from Q on. */
typedef struct inputs {
    size_t q_shape[4], kv_shape[4], kv_heads, heads, batch;
    size_t count;
    pcast_entry entries[PCAST_INPUT_COUNT];
    pcast_input names[PCAST_INPUT_COUNT];
} inputs;

static void add_input(inputs *all, pcast_input input, pcast_format format, size_t rank,
                      const size_t *shape, float *data)
{
    if (data == NULL)
        return;
    const pcast_entry entry = {pcast_input_name(input), format, rank, shape, data, NULL};
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    plain(data, count);
    all->names[all->count] = input;
    all->entries[all->count++] = entry;
}

static void collect_inputs(const pcast_problem *p, inputs *all)
{
    *all = (inputs){.q_shape = {p->batch, p->heads, p->queries, p->dim},
                    .kv_shape = {p->batch, p->kv_heads, p->keys, p->dim},
                    .kv_heads = p->kv_heads,
                    .heads = p->heads,
                    .batch = p->batch};
    add_input(all, PCAST_INPUT_Q, PCAST_E4M3, 4, all->q_shape, p->q);
    add_input(all, PCAST_INPUT_K, PCAST_E4M3, 4, all->kv_shape, p->k);
    add_input(all, PCAST_INPUT_V, PCAST_E4M3, 4, all->kv_shape, p->v);
    add_input(all, PCAST_INPUT_Q_DESCALE, PCAST_F32, 1, &all->kv_heads, p->q_descale);
    add_input(all, PCAST_INPUT_K_DESCALE, PCAST_F32, 1, &all->kv_heads, p->k_descale);
    add_input(all, PCAST_INPUT_V_DESCALE, PCAST_F32, 1, &all->kv_heads, p->v_descale);
    add_input(all, PCAST_INPUT_SINK, PCAST_F32, 1, &all->heads, p->sink);
}

static pcast_status write_lengths(golden_suite *suite, const pcast_problem *problem,
                                  pcast_manifest_probe *entry, pcast_error *err)
{
    cli_output output;
    if (problem->kv_lengths == NULL)
        return PCAST_OK;
    const char *path = KEEP(suite, "probes/%s/kv_lengths.npy", entry->id);
    entry->inputs[PCAST_INPUT_KV_LENGTHS] = path;
    pcast_status status = golden_folder_open(suite->folder, path, &output, err);
    if (status != PCAST_OK)
        return status;
    status = pcast_npy_write_counts(output.stream, problem->kv_lengths, problem->batch);
    return close_file(&output, status, path, err);
}

/* All inputs in one file, the lengths among them. */
static pcast_status write_safetensors(golden_suite *suite, const pcast_problem *problem,
                                      const inputs *all, pcast_manifest_probe *entry,
                                      pcast_error *err)
{
    cli_output output;
    pcast_entry entries[PCAST_INPUT_COUNT];
    size_t count = all->count;
    const char *path = KEEP(suite, "probes/%s.safetensors", entry->id);
    entry->inputs[PCAST_INPUT_SAFETENSORS] = path;
    memcpy(entries, all->entries, count * sizeof *entries);
    if (problem->kv_lengths != NULL)
        entries[count++] = (pcast_entry){.name = pcast_input_name(PCAST_INPUT_KV_LENGTHS),
                                         .rank = 1,
                                         .shape = &all->batch,
                                         .counts = problem->kv_lengths};
    pcast_status status = golden_folder_open(suite->folder, path, &output, err);
    if (status != PCAST_OK)
        return status;
    status = pcast_safetensors_write(output.stream, entries, count);
    return close_file(&output, status, path, err);
}

static pcast_status write_inputs(golden_suite *suite, const pcast_problem *problem,
                                 pcast_manifest_probe *entry, pcast_error *err)
{
    inputs all;
    collect_inputs(problem, &all);
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/probes/%s", suite->folder, entry->id);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        snprintf(err->text, sizeof err->text, "%.800s: %s", folder, strerror(errno));
        return PCAST_ERR_OUTPUT;
    }
    pcast_status status = write_safetensors(suite, problem, &all, entry, err);
    for (size_t i = 0; status == PCAST_OK && i < all.count; i++) {
        const pcast_entry *input = &all.entries[i];
        const char *path = KEEP(suite, "probes/%s/%s.npy", entry->id, input->name);
        entry->inputs[all.names[i]] = path;
        status = write_npy(suite, path, input->rank, input->shape, input->data, err);
    }
    return status == PCAST_OK ? write_lengths(suite, problem, entry, err) : status;
}

/* What presets answer, each answer once. */
typedef struct answers {
    size_t rows, dim, count;
    float **o, **lse;
    int *has_lse;
} answers;

/* The group of an answer, whose arrays are handed over; a new one where no other is the same. */
static size_t file_answer(answers *all, float *o, float *lse, int has_lse)
{
    const size_t o_size = all->rows * all->dim * sizeof *o, lse_size = all->rows * sizeof *lse;
    size_t i = 0;
    while (i < all->count && (memcmp(all->o[i], o, o_size) != 0 || all->has_lse[i] != has_lse ||
                              (has_lse && memcmp(all->lse[i], lse, lse_size) != 0)))
        i++;
    if (i < all->count) {
        free(o);
        free(lse);
        return i;
    }
    all->o[i] = o;
    all->lse[i] = lse;
    all->has_lse[i] = has_lse;
    all->count++;
    return i;
}

/* Runs every preset that can do the problem; entry->expected gets their names. */
static pcast_status ask_presets(golden_suite *suite, const pcast_problem *problem, answers *all,
                                pcast_manifest_probe *entry, pcast_error *err)
{
    const size_t presets = pcast_preset_count();
    entry->expected = keep_array(suite, presets, sizeof *entry->expected);
    for (size_t i = 0; i < presets; i++) {
        const pcast_preset *preset = pcast_preset_at(i);
        pcast_kernel kernel = preset->kernel;
        kernel.semantics = PCAST_SEMANTICS_FP32;
        float *o = cli_alloc(all->rows * all->dim, sizeof *o);
        float *lse = cli_alloc(all->rows, sizeof *lse);
        const pcast_status status =
            pcast_golden_simulate(problem, &kernel, suite->cpu, o, lse, err);
        if (status != PCAST_OK) {
            free(o);
            free(lse);
            if (status == PCAST_ERR_VALUE || status == PCAST_ERR_UNAVAILABLE)
                continue; /* not for this kernel */
            return status;
        }
        plain(o, all->rows * all->dim);
        plain(lse, all->rows);
        pcast_manifest_expected *expected =
            &entry->expected[file_answer(all, o, lse, kernel.lse != PCAST_LSE_NONE)];
        if (expected->kernels == NULL)
            expected->kernels = keep_array(suite, presets, sizeof *expected->kernels);
        expected->kernels[expected->kernel_count++] = preset->name;
    }
    entry->expected_count = all->count;
    return PCAST_OK;
}

static pcast_status write_answers(golden_suite *suite, const answers *all,
                                  pcast_manifest_probe *entry, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    const size_t shape[] = {entry->batch, entry->heads, entry->queries, entry->dim};
    for (size_t i = 0; status == PCAST_OK && i < all->count; i++) {
        pcast_manifest_expected *expected = &entry->expected[i];
        expected->o = KEEP(suite, "expected/%s_%02zu_o.npy", entry->id, i);
        status = write_npy(suite, expected->o, 4, shape, all->o[i], err);
        if (status != PCAST_OK || !all->has_lse[i])
            continue;
        expected->lse = KEEP(suite, "expected/%s_%02zu_lse.npy", entry->id, i);
        status = write_npy(suite, expected->lse, 3, shape, all->lse[i], err);
    }
    return status;
}

static pcast_status write_expected(golden_suite *suite, const pcast_problem *problem,
                                   pcast_manifest_probe *entry, pcast_error *err)
{
    const size_t presets = pcast_preset_count();
    answers all = {.rows = pcast_problem_rows(problem),
                   .dim = problem->dim,
                   .o = cli_alloc(presets, sizeof *all.o),
                   .lse = cli_alloc(presets, sizeof *all.lse),
                   .has_lse = cli_alloc(presets, sizeof *all.has_lse)};
    pcast_status status = ask_presets(suite, problem, &all, entry, err);
    if (status == PCAST_OK)
        status = write_answers(suite, &all, entry, err);
    for (size_t i = 0; i < all.count; i++) {
        free(all.o[i]);
        free(all.lse[i]);
    }
    free(all.o);
    free(all.lse);
    free(all.has_lse);
    return status;
}

/* What the manifest says of a probe's faults, each of which the problem must separate. */
static pcast_status describe_faults(golden_suite *suite, const pcast_probe *probe,
                                    const pcast_problem *problem, pcast_manifest_probe *entry,
                                    pcast_error *err)
{
    pcast_status status = PCAST_OK;
    entry->fault_classes = keep_array(suite, PCAST_PROBE_FAULTS, sizeof *entry->fault_classes);
    entry->fault_class_count = golden_fault_classes(probe, entry->fault_classes);
    entry->faults = keep_array(suite, PCAST_PROBE_FAULTS, sizeof *entry->faults);
    for (int i = 0; status == PCAST_OK && i < PCAST_PROBE_FAULTS && probe->faults[i] != NULL; i++) {
        const pcast_fault *fault = pcast_fault_find(probe->faults[i]);
        double margin;
        status = golden_margin(probe, problem, fault, &margin, err);
        entry->faults[entry->fault_count++] =
            (pcast_manifest_fault){fault->id, fault->fault_class, fault->title, fault->look};
    }
    return status;
}

pcast_status golden_write_probe(golden_suite *suite, const pcast_probe *probe, size_t dim,
                                pcast_manifest_probe *entry, pcast_error *err)
{
    pcast_problem problem = {0};
    pcast_status status = probe->build(&problem, dim, err);
    *entry = (pcast_manifest_probe){.id = probe->id,
                                    .title = probe->title,
                                    .why = probe->why,
                                    .signature = probe->signature,
                                    .batch = problem.batch,
                                    .heads = problem.heads,
                                    .kv_heads = problem.kv_heads,
                                    .queries = problem.queries,
                                    .keys = problem.keys,
                                    .dim = problem.dim,
                                    .allocated_keys = problem.allocated_keys,
                                    .softmax_scale = problem.softmax_scale,
                                    .mask = problem.mask,
                                    .window_left = problem.window_left,
                                    .window_right = problem.window_right};
    if (status == PCAST_OK)
        status = describe_faults(suite, probe, &problem, entry, err);
    if (status == PCAST_OK)
        status = write_inputs(suite, &problem, entry, err);
    if (status == PCAST_OK)
        status = write_expected(suite, &problem, entry, err);
    pcast_problem_free(&problem);
    return status;
}
