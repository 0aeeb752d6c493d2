/* SPDX-License-Identifier: MIT */
/* Reading a manifest. */
#include "golden/manifest.h"
#include "golden/manifest_json.h"

#include "base/error.h"
#include "tensor/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a problem's sizes, and of the elements of Q, K and V each. */
enum { SIZE_MOST = 1 << 24, ELEMENTS_MOST = 1 << 28 };
#define ALLOCATED_MOST ((size_t)1 << 40)

static void parse_faults(pcast_json_reader *reader, const json_t *object,
                         pcast_manifest_probe *probe)
{
    static const char *const keys[] = {"id", "fault_class", "title", "look", NULL};
    const json_t *array = pcast_json_array(reader, object, "faults", 100), *value;
    size_t i;
    probe->faults = pcast_json_alloc(reader, json_array_size(array), sizeof *probe->faults);
    reader->part = "faults: ";
    json_array_foreach(array, i, value)
    {
        if (reader->status != PCAST_OK || !pcast_json_object(reader, value, "fault", keys))
            return;
        pcast_manifest_fault *fault = &probe->faults[i];
        *fault = (pcast_manifest_fault){
            .id = pcast_json_id(reader, value, "id"),
            .fault_class = pcast_json_id(reader, value, "fault_class"),
            .title = pcast_json_text(reader, value, "title"),
            .look = pcast_json_text(reader, value, "look"),
        };
        if (reader->status != PCAST_OK)
            return;
        size_t c = 0;
        while (c < probe->fault_class_count &&
               strcmp(probe->fault_classes[c], fault->fault_class) != 0)
            c++;
        if (c == probe->fault_class_count)
            pcast_json_fail(reader, "'%s' is of class '%s', which is not among fault_classes",
                            fault->id, fault->fault_class);
        for (size_t other = 0; other < i; other++)
            if (strcmp(probe->faults[other].id, fault->id) == 0)
                pcast_json_fail(reader, "'%s' occurs twice", fault->id);
        probe->fault_count = i + 1;
    }
    reader->part = "";
}

static void parse_shape(pcast_json_reader *reader, const json_t *object,
                        pcast_manifest_probe *probe)
{
    static const char *const keys[] = {"batch", "heads", "kv_heads",       "queries",
                                       "keys",  "dim",   "allocated_keys", NULL};
    const json_t *shape = pcast_json_get(reader, object, "shape");
    if (!pcast_json_object(reader, shape, "shape", keys))
        return;
    reader->part = "shape: ";
    probe->batch = pcast_json_count(reader, shape, "batch", 1, SIZE_MOST);
    probe->heads = pcast_json_count(reader, shape, "heads", 1, SIZE_MOST);
    probe->kv_heads = pcast_json_count(reader, shape, "kv_heads", 1, SIZE_MOST);
    probe->queries = pcast_json_count(reader, shape, "queries", 1, SIZE_MOST);
    probe->keys = pcast_json_count(reader, shape, "keys", 1, SIZE_MOST);
    probe->allocated_keys = pcast_json_count(reader, shape, "allocated_keys", 1, ALLOCATED_MOST);
    probe->dim = pcast_json_count(reader, shape, "dim", 1, PCAST_MANIFEST_DIM_MAX);
    if (reader->status != PCAST_OK)
        return;
    const double sequences = (double)probe->batch * (double)probe->dim;
    if (probe->heads % probe->kv_heads != 0)
        pcast_json_fail(reader, "%zu kv_heads do not divide %zu heads", probe->kv_heads,
                        probe->heads);
    if (probe->allocated_keys < probe->keys)
        pcast_json_fail(reader, "%zu allocated_keys for %zu keys", probe->allocated_keys,
                        probe->keys);
    if (sequences * (double)probe->heads * (double)probe->queries > ELEMENTS_MOST ||
        sequences * (double)probe->kv_heads * (double)probe->keys > ELEMENTS_MOST)
        pcast_json_fail(reader, "more than 2^28 elements");
    reader->part = "";
}

static void parse_mask(pcast_json_reader *reader, const json_t *object, pcast_manifest_probe *probe)
{
    const char *word = pcast_json_text(reader, object, "mask");
    pcast_kernel kernel = {0};
    if (word != NULL && pcast_kernel_set(&kernel, PCAST_FIELD_MASK, word, NULL) != PCAST_OK)
        pcast_json_fail(reader, "mask: '%.64s' is none of none, causal, causal_top_left", word);
    probe->mask = kernel.mask;
    probe->window_left = pcast_json_count(reader, object, "window_left", 0, SIZE_MOST);
    probe->window_right = pcast_json_count(reader, object, "window_right", 0, SIZE_MOST);
    if (probe->window_right > 0 && probe->mask != PCAST_MASK_NONE)
        pcast_json_fail(reader, "window_right: a causal mask already hides every later key");
}

static void parse_inputs(pcast_json_reader *reader, const json_t *object,
                         pcast_manifest_probe *probe)
{
    const char *keys[PCAST_INPUT_COUNT + 1] = {NULL};
    for (int i = 0; i < PCAST_INPUT_COUNT; i++)
        keys[i] = pcast_input_name((pcast_input)i);
    const json_t *inputs = pcast_json_get(reader, object, "inputs");
    if (!pcast_json_object(reader, inputs, "inputs", keys))
        return;
    reader->part = "inputs: ";
    for (int i = 0; i < PCAST_INPUT_COUNT; i++)
        if (i <= PCAST_INPUT_V || json_object_get(inputs, keys[i]) != NULL)
            probe->inputs[i] = pcast_json_path(reader, inputs, keys[i]);
    reader->part = "";
}

static void parse_expected(pcast_json_reader *reader, const json_t *object,
                           pcast_manifest_probe *probe)
{
    static const char *const keys[] = {"kernels", "o", "lse", NULL};
    const json_t *array = pcast_json_array(reader, object, "expected", 1000), *value;
    size_t i;
    probe->expected = pcast_json_alloc(reader, json_array_size(array), sizeof *probe->expected);
    reader->part = "expected: ";
    json_array_foreach(array, i, value)
    {
        if (reader->status != PCAST_OK || !pcast_json_object(reader, value, "element", keys))
            return;
        pcast_manifest_expected *expected = &probe->expected[i];
        expected->kernels = pcast_json_texts(reader, value, "kernels", 0, &expected->kernel_count);
        if (expected->kernel_count == 0)
            pcast_json_fail(reader, "kernels: holds none");
        expected->o = pcast_json_path(reader, value, "o");
        if (!json_is_null(pcast_json_get(reader, value, "lse")))
            expected->lse = pcast_json_path(reader, value, "lse");
        probe->expected_count = i + 1;
    }
    reader->part = "";
}

static void parse_probe(pcast_json_reader *reader, const json_t *object,
                        pcast_manifest_probe *probe)
{
    static const char *const keys[] = {
        "id",           "title",  "why",           "signature", "fault_classes",
        "faults",       "shape",  "softmax_scale", "mask",      "window_left",
        "window_right", "inputs", "expected",      NULL};
    if (!pcast_json_object(reader, object, "probe", keys))
        return;
    probe->id = pcast_json_id(reader, object, "id");
    reader->probe = probe->id;
    probe->title = pcast_json_text(reader, object, "title");
    probe->why = pcast_json_text(reader, object, "why");
    probe->signature = pcast_json_text(reader, object, "signature");
    probe->fault_classes =
        pcast_json_texts(reader, object, "fault_classes", 1, &probe->fault_class_count);
    if (reader->status == PCAST_OK)
        parse_faults(reader, object, probe);
    if (reader->status == PCAST_OK)
        parse_shape(reader, object, probe);
    probe->softmax_scale = (float)pcast_json_number(reader, object, "softmax_scale");
    if (!(probe->softmax_scale > 0) || isinf(probe->softmax_scale))
        pcast_json_fail(reader, "softmax_scale: is not positive and finite in float32");
    parse_mask(reader, object, probe);
    if (reader->status == PCAST_OK)
        parse_inputs(reader, object, probe);
    if (reader->status == PCAST_OK)
        parse_expected(reader, object, probe);
    reader->probe = NULL;
}

static void parse_probes(pcast_json_reader *reader, const json_t *root)
{
    pcast_manifest *manifest = reader->manifest;
    const json_t *array = pcast_json_array(reader, root, "probes", PCAST_MANIFEST_PROBES_MAX);
    manifest->probes = pcast_json_alloc(reader, json_array_size(array), sizeof *manifest->probes);
    for (size_t i = 0; reader->status == PCAST_OK && i < json_array_size(array); i++) {
        parse_probe(reader, json_array_get(array, i), &manifest->probes[i]);
        if (reader->status == PCAST_OK &&
            pcast_manifest_find(manifest, manifest->probes[i].id) != NULL)
            pcast_json_fail(reader, "probe '%s': occurs twice", manifest->probes[i].id);
        manifest->count = i + 1;
    }
    if (manifest->count == 0)
        pcast_json_fail(reader, "probes: holds none");
}

static void parse_declaration(pcast_json_reader *reader, const json_t *root)
{
    static const char *const keys[] = {"kernel", "unknown", NULL};
    pcast_manifest *manifest = reader->manifest;
    const json_t *object = pcast_json_get(reader, root, "declaration");
    pcast_error err;
    size_t count;
    if (!pcast_json_object(reader, object, "declaration", keys))
        return;
    reader->part = "declaration: ";
    if (!json_is_null(pcast_json_get(reader, object, "kernel")))
        manifest->spec = pcast_json_text(reader, object, "kernel");
    if (manifest->spec != NULL &&
        (pcast_kernel_parse(manifest->spec, &manifest->kernel, NULL, &err) != PCAST_OK ||
         pcast_kernel_validate(&manifest->kernel, &err) != PCAST_OK))
        pcast_json_fail(reader, "kernel: %.100s: %s", manifest->spec, err.text);
    const char **names = pcast_json_texts(reader, object, "unknown", 0, &count);
    for (size_t i = 0; i < count; i++) {
        int field = 0;
        while (field < PCAST_FIELD_COUNT &&
               strcmp(pcast_field_name((pcast_field)field), names[i]) != 0)
            field++;
        if (field == PCAST_FIELD_COUNT)
            pcast_json_fail(reader, "unknown: '%.64s' is no field", names[i]);
        else
            manifest->unknown |= UINT64_C(1) << field;
    }
    if (manifest->unknown != 0 && manifest->spec == NULL)
        pcast_json_fail(reader, "unknown: names fields, but there is no kernel");
    reader->part = "";
}

static void parse_root(pcast_json_reader *reader, const json_t *root)
{
    static const char *const keys[] = {"schema", "version", "dim", "probes", "declaration", NULL};
    const char *schema = pcast_json_text(reader, root, "schema");
    if (schema != NULL && strcmp(schema, "pcast-golden") != 0)
        pcast_json_fail(reader, "schema: '%.64s' is not pcast-golden", schema);
    const json_t *version = pcast_json_get(reader, root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != PCAST_MANIFEST_VERSION)
        pcast_json_fail(reader, "version: is not %d, the one that is read here",
                        PCAST_MANIFEST_VERSION);
    if (reader->status != PCAST_OK || !pcast_json_object(reader, root, "manifest", keys))
        return;
    reader->manifest->dim = pcast_json_count(reader, root, "dim", 1, PCAST_MANIFEST_DIM_MAX);
    parse_probes(reader, root);
    if (reader->status == PCAST_OK)
        parse_declaration(reader, root);
}

pcast_status pcast_manifest_parse(const char *text, size_t size, const char *label,
                                  pcast_manifest *manifest, pcast_error *err)
{
    json_error_t error;
    pcast_json_reader reader = {.label = label, .part = "", .manifest = manifest, .err = err};
    *manifest = (pcast_manifest){0};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && json_error_code(&error) == json_error_out_of_memory)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory", label);
    if (root == NULL)
        pcast_json_fail(&reader, "line %d: %s", error.line,
                        json_error_code(&error) == json_error_duplicate_key ? "a repeated key"
                                                                            : "not JSON");
    else if (!json_is_object(root))
        pcast_json_fail(&reader, "no object");
    else
        parse_root(&reader, root);
    json_decref(root);
    return reader.status;
}

pcast_status pcast_manifest_read(const char *folder, pcast_manifest *manifest, pcast_error *err)
{
    pcast_file *file = NULL;
    *manifest = (pcast_manifest){0};
    const char *path = pcast_manifest_text(manifest, "%s/manifest.json", folder);
    if (path == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "%s: out of memory", folder);
    pcast_manifest read = {0};
    pcast_status status = pcast_file_open(path, &file, err);
    if (status == PCAST_OK)
        status = pcast_manifest_parse((const char *)file->bytes, file->size, path, &read, err);
    pcast_file_close(file);
    pcast_manifest_free(manifest);
    *manifest = read;
    return status;
}

int pcast_manifest_recognise(const char *text, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const int recognised = schema != NULL && strcmp(schema, "pcast-golden") == 0;
    json_decref(root);
    return recognised;
}
