/* SPDX-License-Identifier: MIT */
/* Writing a manifest: keys in a fixed order, two blanks a level, numbers with 17 digits. */
#include "golden/manifest.h"

#include <jansson.h>
#include <stdlib.h>

/* json_pack and the setters return NULL or -1 for lack of memory and for what is no UTF-8, and take
 * NULL for a failure before; so only the whole is looked at. */

static json_t *texts_of(const char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_string(texts[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *faults_of(const pcast_manifest_probe *probe)
{
    json_t *array = json_array();
    for (size_t i = 0; i < probe->fault_count; i++) {
        const pcast_manifest_fault *fault = &probe->faults[i];
        json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "id", fault->id, "fault_class",
                                   fault->fault_class, "title", fault->title, "look", fault->look);
        if (json_array_append_new(array, object) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *inputs_of(const pcast_manifest_probe *probe)
{
    json_t *object = json_object();
    for (int i = 0; i < PCAST_INPUT_COUNT; i++)
        if (probe->inputs[i] != NULL &&
            json_object_set_new(object, pcast_input_name((pcast_input)i),
                                json_string(probe->inputs[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *expected_of(const pcast_manifest_probe *probe)
{
    json_t *array = json_array();
    for (size_t i = 0; i < probe->expected_count; i++) {
        const pcast_manifest_expected *expected = &probe->expected[i];
        json_t *object = json_pack("{s:o, s:s, s:s?}", "kernels",
                                   texts_of(expected->kernels, expected->kernel_count), "o",
                                   expected->o, "lse", expected->lse);
        if (json_array_append_new(array, object) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *shape_of(const pcast_manifest_probe *probe)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "batch", (json_int_t)probe->batch,
                     "heads", (json_int_t)probe->heads, "kv_heads", (json_int_t)probe->kv_heads,
                     "queries", (json_int_t)probe->queries, "keys", (json_int_t)probe->keys, "dim",
                     (json_int_t)probe->dim, "allocated_keys", (json_int_t)probe->allocated_keys);
}

static json_t *probe_of(const pcast_manifest_probe *probe)
{
    char mask[32];
    pcast_kernel_get(&(pcast_kernel){.mask = probe->mask}, PCAST_FIELD_MASK, mask, sizeof mask);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:f, s:s, s:I, s:I, s:o, s:o}", "id", probe->id,
        "title", probe->title, "why", probe->why, "signature", probe->signature, "fault_classes",
        texts_of(probe->fault_classes, probe->fault_class_count), "faults", faults_of(probe),
        "shape", shape_of(probe), "softmax_scale", (double)probe->softmax_scale, "mask", mask,
        "window_left", (json_int_t)probe->window_left, "window_right",
        (json_int_t)probe->window_right, "inputs", inputs_of(probe), "expected",
        expected_of(probe));
}

static json_t *probes_of(const pcast_manifest *manifest)
{
    json_t *array = json_array();
    for (size_t i = 0; i < manifest->count; i++)
        if (json_array_append_new(array, probe_of(&manifest->probes[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *declaration_of(const pcast_manifest *manifest)
{
    const char *unknown[PCAST_FIELD_COUNT];
    size_t count = 0;
    for (int i = 0; i < PCAST_FIELD_COUNT; i++)
        if (manifest->unknown >> i & 1)
            unknown[count++] = pcast_field_name((pcast_field)i);
    return json_pack("{s:s?, s:o}", "kernel", manifest->spec, "unknown", texts_of(unknown, count));
}

pcast_status pcast_manifest_write(FILE *stream, const pcast_manifest *manifest)
{
    json_t *root = json_pack("{s:s, s:i, s:I, s:o, s:o}", "schema", "pcast-golden", "version",
                             PCAST_MANIFEST_VERSION, "dim", (json_int_t)manifest->dim, "probes",
                             probes_of(manifest), "declaration", declaration_of(manifest));
    if (root == NULL)
        return PCAST_ERR_VALUE;
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (text == NULL)
        return PCAST_ERR_MEMORY;
    fputs(text, stream);
    fputc('\n', stream);
    free(text);
    return ferror(stream) ? PCAST_ERR_OUTPUT : PCAST_OK;
}
