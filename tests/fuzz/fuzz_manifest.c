/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as the manifest of a golden suite. One that is taken is written as one
 * that is taken and written the same, and its files, which are not there, are asked for by one
 * line. */
#include "golden/manifest.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void load_problems(const pcast_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++) {
        pcast_problem problem;
        pcast_error err = {""};
        if (pcast_manifest_load_problem("/dev/null", &manifest->probes[i], &problem, &err) ==
                PCAST_OK ||
            err.text[0] == '\0')
            abort();
        pcast_problem_free(&problem);
    }
}

static char *write_text(const pcast_manifest *manifest, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    if (pcast_manifest_write(stream, manifest) != PCAST_OK)
        abort();
    fclose(stream);
    return text;
}

static void check_written(const pcast_manifest *manifest)
{
    pcast_manifest read;
    pcast_error err = {""};
    size_t size, again_size;
    char *text = write_text(manifest, &size);
    if (pcast_manifest_parse(text, size, "fuzz", &read, &err) != PCAST_OK ||
        !pcast_manifest_recognise(text, size))
        abort();
    char *again = write_text(&read, &again_size);
    if (size != again_size || memcmp(text, again, size) != 0)
        abort();
    pcast_manifest_free(&read);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pcast_manifest manifest;
    pcast_error err = {""};
    const char *text = (const char *)data;
    pcast_manifest_recognise(text, size);
    if (pcast_manifest_parse(text, size, "fuzz", &manifest, &err) == PCAST_OK) {
        check_written(&manifest);
        load_problems(&manifest);
    } else if (strncmp(err.text, "fuzz: ", 6) != 0) {
        abort();
    }
    pcast_manifest_free(&manifest);
    return 0;
}
