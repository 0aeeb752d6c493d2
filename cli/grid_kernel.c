/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel of the grid as text: its name in a CSV, and the SPEC that leaves nothing to a preset. */
#include "grid.h"

#include <stdlib.h>
#include <string.h>

void grid_name_kernel(grid_kernel *one, const char *spec)
{
    pcast_kernel preset = {0};
    const int length = (int)strcspn(spec, ":");
    snprintf(one->name, sizeof one->name, "%.*s", length, spec);
    pcast_kernel_parse(one->name, &preset, NULL, NULL);
    char separator = ':';
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        const pcast_field field = (pcast_field)i;
        char own[64], other[64];
        if (field == PCAST_FIELD_ORDER || field == PCAST_FIELD_BLOCK ||
            field == PCAST_FIELD_SCALE ||
            (field == PCAST_FIELD_SCALE_LOG2 && one->kernel.scale_log2 == 0))
            continue;
        pcast_kernel_get(&one->kernel, field, own, sizeof own);
        pcast_kernel_get(&preset, field, other, sizeof other);
        if (strcmp(own, other) == 0)
            continue;
        const size_t used = strlen(one->name);
        snprintf(one->name + used, sizeof one->name - used, "%c%s=%s", separator,
                 pcast_field_name(field), own);
        separator = ';';
    }
}

char *grid_kernel_spec(const grid_kernel *one)
{
    /* scale and scale_log2 are one quantity, and a SPEC gives one of them. */
    const pcast_field not_given =
        one->kernel.scale_log2 == 0 ? PCAST_FIELD_SCALE_LOG2 : PCAST_FIELD_SCALE;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    fprintf(stream, "%.*s", (int)strcspn(one->name, ":"), one->name);
    char separator = ':';
    for (int i = 0; i < PCAST_FIELD_COUNT; i++) {
        char value[64];
        if ((pcast_field)i == not_given)
            continue;
        pcast_kernel_get(&one->kernel, (pcast_field)i, value, sizeof value);
        fprintf(stream, "%c%s=%s", separator, pcast_field_name((pcast_field)i), value);
        separator = ';';
    }
    if (fclose(stream) != 0)
        exit(cli_fail(EXIT_OUTPUT, "pcast", "out of memory"));
    return text;
}
