/* SPDX-License-Identifier: GPL-3.0-or-later */
/* V divided by its descale once a head and v_range (docs/numerics.md, step 9.6). */
#include "experiment/heads_values.h"

#include "base/error.h"
#include "pcast/quantize.h"

#include <stdlib.h>

pcast_status pcast_head_values_init(pcast_head_values *values, const pcast_run *run, size_t size,
                                    pcast_error *err)
{
    for (size_t n = 0; n < run->kernel_count; n++) {
        pcast_head_values *one = &values[n];
        one->range = run->kernels[n].v_range;
        for (one->first = 0; values[one->first].range != one->range; one->first++)
            ;
        if (one->first != n || one->range == 0)
            continue;
        one->own = malloc(size * sizeof *one->own);
        if (one->own == NULL)
            return pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %zu numbers of V", size);
    }
    return PCAST_OK;
}

void pcast_head_values_free(pcast_head_values *values, size_t kernels)
{
    for (size_t n = 0; values != NULL && n < kernels; n++)
        free(values[n].own);
}

void pcast_head_values_load(pcast_head_values *values, size_t kernels, const float *v, size_t size)
{
    for (size_t n = 0; n < kernels; n++) {
        pcast_head_values *one = &values[n];
        one->data = v;
        one->descale = 1.0f;
        if (one->range == 0)
            continue;
        if (one->own == NULL) { /* the first of its range is loaded already */
            one->data = values[one->first].data;
            one->descale = values[one->first].descale;
            continue;
        }
        one->descale = pcast_descale(pcast_amax(v, 1, size, size), one->range);
        for (size_t i = 0; i < size; i++)
            one->own[i] = v[i] / one->descale;
        one->data = one->own;
    }
}
