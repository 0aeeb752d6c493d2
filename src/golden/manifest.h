/* SPDX-License-Identifier: MIT */
/* The manifest of a golden suite (docs/golden.md): what its files are and what each probe asks of a
 * kernel. JSON; all paths are relative to its folder. */
#ifndef PCAST_GOLDEN_MANIFEST_H
#define PCAST_GOLDEN_MANIFEST_H

#include "pcast/golden.h"
#include "pcast/kernel.h"
#include "pcast/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PCAST_MANIFEST_VERSION = 1,
    PCAST_MANIFEST_PROBES_MAX = 1000,
    PCAST_MANIFEST_DIM_MAX = 1024,
};

/* Files of a probe's inputs, named in this order; the first four are always there. */
typedef enum pcast_input {
    PCAST_INPUT_SAFETENSORS, /* all of them in one */
    PCAST_INPUT_Q,
    PCAST_INPUT_K,
    PCAST_INPUT_V,
    PCAST_INPUT_Q_DESCALE,
    PCAST_INPUT_K_DESCALE,
    PCAST_INPUT_V_DESCALE,
    PCAST_INPUT_SINK,
    PCAST_INPUT_KV_LENGTHS,
    PCAST_INPUT_COUNT,
} pcast_input;

typedef struct pcast_manifest_fault {
    const char *id, *fault_class, *title, *look;
} pcast_manifest_fault;

/* What kernels write, where they write the same. */
typedef struct pcast_manifest_expected {
    const char **kernels; /* names of presets, under semantics=fp32 */
    size_t kernel_count;
    const char *o, *lse; /* paths; lse is NULL where these kernels return none */
} pcast_manifest_expected;

typedef struct pcast_manifest_probe {
    const char *id, *title, *why, *signature;
    const char **fault_classes;
    size_t fault_class_count;
    pcast_manifest_fault *faults;
    size_t fault_count;
    size_t batch, heads, kv_heads, queries, keys, dim;
    size_t allocated_keys; /* that K and V have room for when the kernel runs */
    float softmax_scale;
    pcast_mask mask;
    size_t window_left, window_right;
    const char *inputs[PCAST_INPUT_COUNT]; /* paths; NULL: the probe has none */
    pcast_manifest_expected *expected;
    size_t expected_count;
} pcast_manifest_probe;

typedef struct pcast_manifest {
    size_t dim;
    pcast_manifest_probe *probes;
    size_t count;
    /* What the kernel under test declares: its SPEC, NULL where nothing is known; that SPEC's
     * fields; the set of those left open, bits UINT64_C(1) << field. */
    const char *spec;
    pcast_kernel kernel;
    uint64_t unknown;
    struct pcast_manifest_block *memory; /* everything that the manifest points to */
} pcast_manifest;

/* Zeroed memory that lives as long as the manifest. NULL when memory runs out. */
void *pcast_manifest_alloc(pcast_manifest *manifest, size_t count, size_t size);
/* A formatted text, likewise. */
const char *pcast_manifest_text(pcast_manifest *manifest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pcast_manifest_free(pcast_manifest *manifest);

/* Reads a manifest from memory; label goes into messages. PCAST_ERR_INPUT names it, the probe and
 * what is wrong: not JSON, a key that is missing, unknown or repeated, a wrong type, a number out
 * of range, an id that occurs twice or is not of [a-z0-9-], a path that leaves the folder, a SPEC
 * that is not valid. PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_manifest_parse(const char *text, size_t size, const char *label,
                                  pcast_manifest *manifest, pcast_error *err);

/* FOLDER/manifest.json. */
pcast_status pcast_manifest_read(const char *folder, pcast_manifest *manifest, pcast_error *err);

/* The same bytes for the same manifest. PCAST_ERR_OUTPUT, PCAST_ERR_MEMORY; PCAST_ERR_VALUE: a text
 * is no UTF-8. */
pcast_status pcast_manifest_write(FILE *stream, const pcast_manifest *manifest);

/* Does the text hold a manifest of some version, valid or not? */
int pcast_manifest_recognise(const char *text, size_t size);

/* The probe of that id, NULL: none. */
const pcast_manifest_probe *pcast_manifest_find(const pcast_manifest *manifest, const char *id);

/* Reads a probe's inputs from its NPY files in the suite's folder. PCAST_ERR_INPUT names the file:
 * not readable, another shape than the probe's, a number that is none of E4M3's (beyond a
 * sequence's length NaN is allowed), a descale that is not positive and finite, a sink that is not
 * finite, a length above the number of keys. PCAST_ERR_MEMORY. To be freed in any case. */
pcast_status pcast_manifest_load_problem(const char *folder, const pcast_manifest_probe *probe,
                                         pcast_problem *problem, pcast_error *err);

/* Names as the manifest writes them. */
const char *pcast_input_name(pcast_input input);

#ifdef __cplusplus
}
#endif

#endif
