/* SPDX-License-Identifier: MIT */
/* The table of probes. */
#include "golden/probes.h"

#include <string.h>

static const pcast_probe_theme *const themes[] = {
    &pcast_probes_tail, &pcast_probes_cast,  &pcast_probes_sum,   &pcast_probes_product,
    &pcast_probes_mask, &pcast_probes_guard, &pcast_probes_scale,
};

enum { THEMES = sizeof themes / sizeof themes[0] };

size_t pcast_probe_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < THEMES; i++)
        count += themes[i]->count;
    return count;
}

const pcast_probe *pcast_probe_at(size_t index)
{
    size_t theme = 0;
    while (index >= themes[theme]->count)
        index -= themes[theme++]->count;
    return &themes[theme]->probes[index];
}

const pcast_probe *pcast_probe_find(const char *id)
{
    for (size_t i = 0; i < pcast_probe_count(); i++)
        if (strcmp(pcast_probe_at(i)->id, id) == 0)
            return pcast_probe_at(i);
    return NULL;
}
