/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What identify looks at: answers to a golden suite, or tensors. */
#include "identify.h"

#include "pcast/tensor.h"

#include <stdlib.h>
#include <string.h>

static void make_room(identify_sightings *all, size_t count)
{
    *all = (identify_sightings){.room = count,
                                .sighting = cli_alloc(count, sizeof *all->sighting),
                                .problems = cli_alloc(count, sizeof *all->problems),
                                .tensors = cli_alloc(count, sizeof *all->tensors),
                                .o = cli_alloc(count, sizeof *all->o),
                                .lse = cli_alloc(count, sizeof *all->lse)};
}

pcast_status identify_read_suite(const char *suite, const char *outputs, identify_sightings *all,
                                 pcast_error *err)
{
    pcast_manifest read = {0};
    pcast_status status = pcast_manifest_read(suite, &read, err);
    const pcast_manifest *manifest = &all->manifest;
    make_room(all, read.count + 1);
    all->manifest = read;
    for (size_t i = 0; status == PCAST_OK && i < manifest->count; i++) {
        const pcast_manifest_probe *probe = &manifest->probes[i];
        const size_t n = all->count;
        status = golden_read_answer(outputs, probe, &all->o[n], &all->lse[n], err);
        if (status != PCAST_OK || all->o[n] == NULL)
            continue;
        status = pcast_manifest_load_problem(suite, probe, &all->problems[n], err);
        all->sighting[n] = pcast_sighting_of(&all->problems[n], &all->tensors[n]);
        all->sighting[n].id = probe->id;
        all->sighting[n].o = all->o[n];
        all->sighting[n].lse = all->lse[n];
        all->count++;
    }
    if (status == PCAST_OK && all->count == 0) {
        snprintf(err->text, sizeof err->text, "%.800s: no output of any of the suite's problems",
                 outputs);
        status = PCAST_ERR_INPUT;
    }
    return status;
}

/* All numbers of a file that must hold `count` of them. */
static pcast_status read_numbers(const char *path, const char *name, size_t count, float **numbers,
                                 pcast_error *err)
{
    pcast_tensor tensor;
    pcast_status status = pcast_tensor_read(path, name, PCAST_E4M3, &tensor, err);
    if (status != PCAST_OK)
        return status;
    if (pcast_tensor_size(&tensor) == count) {
        *numbers = cli_alloc(count + 1, sizeof **numbers);
        pcast_tensor_get(&tensor, 0, count, *numbers);
    } else {
        snprintf(err->text, sizeof err->text, "%.800s: %zu numbers, expected %zu", path,
                 pcast_tensor_size(&tensor), count);
        status = PCAST_ERR_INPUT;
    }
    pcast_tensor_free(&tensor);
    return status;
}

pcast_status identify_read_tensors(const attend_options *options, const char *o, const char *lse,
                                   identify_sightings *all, pcast_error *err)
{
    pcast_attend_shape shape;
    const pcast_kernel any = {
        .block = 1, .scale = 1, .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR};
    make_room(all, 1);
    pcast_status status = attend_read(options, &all->inputs, err);
    if (status == PCAST_OK)
        status = pcast_attend_check(&all->inputs.attend, &any, &shape, err);
    if (status != PCAST_OK)
        return status;
    const size_t rows = shape.heads * shape.rows;
    status = read_numbers(o, "o", rows * shape.value_dim, &all->o[0], err);
    if (status == PCAST_OK && lse != NULL)
        status = read_numbers(lse, "lse", rows, &all->lse[0], err);
    all->count = 1;
    all->sighting[0] = (pcast_sighting){.attend = all->inputs.attend,
                                        .mask = options->kernel.mask,
                                        .window_left = options->kernel.window_left,
                                        .window_right = options->kernel.window_right,
                                        .o = all->o[0],
                                        .lse = all->lse[0]};
    return status;
}

void identify_sightings_free(identify_sightings *all)
{
    for (size_t i = 0; i < all->room; i++) {
        free(all->o[i]);
        free(all->lse[i]);
        pcast_problem_free(&all->problems[i]);
    }
    free(all->sighting);
    free(all->problems);
    free(all->tensors);
    free(all->o);
    free(all->lse);
    pcast_manifest_free(&all->manifest);
    attend_inputs_free(&all->inputs);
}
