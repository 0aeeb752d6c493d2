/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each stage of a quantised kernel contributes to its error, and inputs to try it on. */
#include "pcast/attend.h"

#include "base/bits.h"
#include "base/fpenv.h"
#include "random/draws.h"

/* One run with some stages exact; its mean squared errors into out[heads], `step` doubles apart. */
static pcast_status run_without(const pcast_attend *attend, const pcast_run *run,
                                const pcast_kernel *kernel, unsigned quantised,
                                const pcast_attend_result *result, double *out, size_t step,
                                pcast_error *err)
{
    pcast_attend inputs = *attend;
    pcast_attend_shape shape;
    pcast_run one = *run;
    inputs.prepare = 1;
    inputs.quantised = quantised;
    one.kernels = kernel;
    pcast_status status = pcast_attend_check(&inputs, kernel, &shape, err);
    if (status == PCAST_OK)
        status = pcast_attend_run(&inputs, &one, result, err);
    for (size_t h = 0; status == PCAST_OK && h < shape.batch * shape.heads; h++)
        out[h * step] = result->heads[h].summary.mse;
    return status;
}

pcast_status pcast_attend_stages(const pcast_attend *attend, const pcast_run *run,
                                 const pcast_attend_result *result, pcast_stage_errors *errors,
                                 pcast_error *err)
{
    const size_t step = sizeof *errors / sizeof(double);
    const pcast_kernel kernel = run->kernels[0];
    pcast_kernel exact_p = kernel, exact_output = kernel;
    exact_p.p_format = PCAST_F32;
    if (exact_p.accumulator == PCAST_ACCUMULATOR_TENSOR_CORE) /* the same in FP32 semantics */
        exact_p.accumulator = PCAST_ACCUMULATOR_FP32_FMA;
    exact_output.out_format = PCAST_OUTPUT_F32;
    const struct {
        const pcast_kernel *kernel;
        unsigned quantised;
        double *out;
    } runs[] = {
        {&kernel, PCAST_STAGE_QKV & ~(unsigned)PCAST_STAGE_Q, &errors->without_q},
        {&kernel, PCAST_STAGE_QKV & ~(unsigned)PCAST_STAGE_K, &errors->without_k},
        {&kernel, PCAST_STAGE_QKV & ~(unsigned)PCAST_STAGE_V, &errors->without_v},
        {&exact_p, PCAST_STAGE_QKV, &errors->without_p},
        {&exact_output, PCAST_STAGE_QKV, &errors->without_output},
        {&kernel, PCAST_STAGE_QKV, &errors->all},
    };
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < sizeof runs / sizeof runs[0]; i++)
        status = run_without(attend, run, runs[i].kernel, runs[i].quantised, result, runs[i].out,
                             step, err);
    return status;
}

void pcast_draw_inputs(uint64_t seed, uint32_t which, int outliers, size_t count, float *out)
{
    enum { CHUNK = 256 };
    const pcast_stream body = {seed, which, PCAST_STREAM_INPUTS};
    const pcast_stream rare = {seed, which, PCAST_STREAM_OUTLIERS};
    const pcast_stream choice = {seed, which, PCAST_STREAM_OUTLIER_CHOICE};
    double normals[CHUNK], large[CHUNK];
    uint32_t words[CHUNK];
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t n = count - first < CHUNK ? count - first : CHUNK;
        pcast_draw_normals(body, first, n, normals);
        if (outliers) {
            pcast_draw_normals(rare, first, n, large);
            pcast_draw_words(choice, first, n, words);
        }
        for (size_t i = 0; i < n; i++) {
            const int is_rare = outliers && (double)words[i] * 0x1p-32 < 0.001;
            out[first + i] = (float)(normals[i] + (is_rare ? 10 * large[i] : 0));
        }
    }
    pcast_fpenv_leave(&env);
}
