/* SPDX-License-Identifier: MIT */
/* The catalogue of faults. */
#include "golden/fault.h"

#include "math/constants.h"

#include <string.h>

static void choose_scale(pcast_kernel *kernel, float scale)
{
    kernel->scale = scale;
    kernel->scale_log2 = 0;
}

static void choose_scale_1(pcast_kernel *kernel)
{
    choose_scale(kernel, 1);
}

static void choose_scale_16(pcast_kernel *kernel)
{
    choose_scale(kernel, 16);
}

static void choose_scale_4(pcast_kernel *kernel)
{
    choose_scale(kernel, 4);
}

static void choose_scale_512(pcast_kernel *kernel)
{
    choose_scale(kernel, 512);
}

static void choose_threshold(pcast_kernel *kernel, float tau)
{
    kernel->rescale_threshold = tau;
    kernel->threshold_unit = PCAST_THRESHOLD_LOG2;
}

static void choose_threshold_4(pcast_kernel *kernel)
{
    choose_threshold(kernel, 4);
}

static void choose_threshold_8(pcast_kernel *kernel)
{
    choose_threshold(kernel, 8);
}

static void choose_sum_of_cast(pcast_kernel *kernel)
{
    kernel->row_sum = PCAST_ROW_SUM_CAST;
    kernel->sum_scale = PCAST_SUM_SCALE_IN;
}

static void choose_sum_of_precast(pcast_kernel *kernel)
{
    kernel->row_sum = PCAST_ROW_SUM_PRECAST;
}

static void choose_no_cast(pcast_kernel *kernel)
{
    kernel->p_format = PCAST_F32;
    kernel->accumulator = PCAST_ACCUMULATOR_FP32_FMA;
    kernel->promotion = PCAST_PROMOTION_NEVER;
}

static void choose_sentinel_1e5(pcast_kernel *kernel)
{
    kernel->mask_value = PCAST_MASK_VALUE_1E5;
}

static void choose_mean_of_masked(pcast_kernel *kernel)
{
    kernel->mask_value = PCAST_MASK_VALUE_1E5;
    kernel->masked_rows = PCAST_MASKED_ROWS_MEAN_V;
}

static void choose_nan_of_masked(pcast_kernel *kernel)
{
    kernel->masked_rows = PCAST_MASKED_ROWS_NAN;
}

static void choose_stored_zero(pcast_kernel *kernel)
{
    kernel->mask_value = PCAST_MASK_VALUE_INF;
    kernel->empty_max = PCAST_EMPTY_MAX_STORE_ZERO;
}

static void choose_unguarded(pcast_kernel *kernel)
{
    kernel->mask_value = PCAST_MASK_VALUE_INF;
    kernel->empty_max = PCAST_EMPTY_MAX_UNGUARDED;
    kernel->masked_rows = PCAST_MASKED_ROWS_UNGUARDED;
}

static void choose_no_promotion(pcast_kernel *kernel)
{
    kernel->semantics = PCAST_SEMANTICS_HARDWARE;
    kernel->promotion = PCAST_PROMOTION_NEVER;
}

static void choose_narrow_accumulator(pcast_kernel *kernel)
{
    kernel->semantics = PCAST_SEMANTICS_HARDWARE;
    kernel->accumulator = PCAST_ACCUMULATOR_TENSOR_CORE;
    kernel->machine = PCAST_MACHINE_HOPPER_WGMMA;
    kernel->promotion = PCAST_PROMOTION_NEVER;
}

static void choose_f16_accumulator(pcast_kernel *kernel)
{
    kernel->accumulator = PCAST_ACCUMULATOR_FP16;
    kernel->promotion = PCAST_PROMOTION_NEVER;
}

static const pcast_fault faults[] = {
    {.id = "tail-flush",
     .fault_class = "tail-flush",
     .title = "S = 1 on P: what lies 6.9 nats below the running maximum becomes zero",
     .look = "S, where P is scaled before the cast",
     .choose = choose_scale_1},
    {.id = "tail-flush-16",
     .fault_class = "tail-flush",
     .title = "S = 16 on P: what lies 9.7 nats below the running maximum becomes zero",
     .look = "S, where P is scaled before the cast",
     .choose = choose_scale_16},
    {.id = "tail-flush-4",
     .fault_class = "tail-flush",
     .title = "S = 4 on P: what lies 8.3 nats below the running maximum becomes zero",
     .look = "S, where P is scaled before the cast",
     .choose = choose_scale_4},
    {.id = "scale-in-both",
     .fault_class = "scale-placement",
     .title = "S stays in the output and in the log-sum-exp",
     .look = "the factor 1/S of the epilogue, and the row sum that the logarithm reads",
     .o_power = 1,
     .lse_offset = 1},
    {.id = "scale-beyond-448",
     .fault_class = "saturation",
     .title = "S = 512 on P: the largest P saturate",
     .look = "S, against E4M3's largest number, 448",
     .choose = choose_scale_512},
    {.id = "scale-not-removed",
     .fault_class = "scale-placement",
     .title = "S stays in the output",
     .look = "the factor 1/S of the epilogue",
     .o_power = 1},
    {.id = "scale-removed-twice",
     .fault_class = "scale-placement",
     .title = "the output is divided by S twice",
     .look = "the factor 1/S of the epilogue: does the row sum hold S already?",
     .o_power = -1},
    {.id = "lse-keeps-scale",
     .fault_class = "lse",
     .title = "the log-sum-exp holds ln S",
     .look = "the row sum that the logarithm reads: S is inside it",
     .lse_offset = 1},
    {.id = "lse-misses-scale",
     .fault_class = "lse",
     .title = "ln S is taken from a log-sum-exp that does not hold it",
     .look = "the row sum that the logarithm reads: S is not inside it",
     .lse_offset = -1},
    {.id = "lse-base-2",
     .fault_class = "lse",
     .title = "the log-sum-exp is in base 2 where it should be in nats",
     .look = "the factor ln 2 after the logarithm",
     .lse_factor = PCAST_LOG2_E},
    {.id = "lse-base-e",
     .fault_class = "lse",
     .title = "the log-sum-exp is in nats where it should be in base 2",
     .look = "the factor ln 2 after the logarithm",
     .lse_factor = PCAST_LN2},
    {.id = "stale-maximum",
     .fault_class = "saturation",
     .title = "the running maximum may lag by 4 (log2): P reaches 16 S and saturates",
     .look = "the threshold of the rescaling, against log2(448/S)",
     .choose = choose_threshold_4},
    {.id = "stale-maximum-8",
     .fault_class = "saturation",
     .title = "the running maximum may lag by 8 (log2): P reaches 256 S and saturates",
     .look = "the threshold of the rescaling, against log2(448/S)",
     .choose = choose_threshold_8},
    {.id = "sum-of-cast",
     .fault_class = "mixed-sums",
     .title = "the row sum adds the cast P",
     .look = "what the row sum adds: P before the cast, or after it",
     .choose = choose_sum_of_cast},
    {.id = "sum-of-precast",
     .fault_class = "mixed-sums",
     .title = "the row sum adds P before the cast",
     .look = "what the row sum adds: P before the cast, or after it",
     .choose = choose_sum_of_precast},
    {.id = "sum-not-rescaled",
     .fault_class = "mixed-sums",
     .title = "the row sum misses the factor of a new maximum, which the output has",
     .look = "alpha on the row sum",
     .slip = PCAST_SLIP_SUM_NOT_RESCALED},
    {.id = "output-not-rescaled",
     .fault_class = "mixed-sums",
     .title = "the output misses the factor of a new maximum, which the row sum has",
     .look = "alpha on the accumulator",
     .slip = PCAST_SLIP_OUTPUT_NOT_RESCALED},
    {.id = "sentinel-1e5",
     .fault_class = "sentinel",
     .title = "the running maximum starts at -1e5, above the scores",
     .look = "the initial maximum and the value of masked scores",
     .choose = choose_sentinel_1e5},
    {.id = "maximum-starts-at-zero",
     .fault_class = "sentinel",
     .title = "the running maximum starts at 0, above the scores",
     .look = "the initial maximum",
     .slip = PCAST_SLIP_MAX_STARTS_AT_ZERO},
    {.id = "maximum-starts-at-one",
     .fault_class = "sentinel",
     .title = "the running maximum starts at 1, above the scores",
     .look = "the initial maximum",
     .slip = PCAST_SLIP_MAX_STARTS_AT_ONE},
    {.id = "masked-rows-lse",
     .fault_class = "masked-rows",
     .title = "the log-sum-exp of a row that sees no key is 0",
     .look = "the logarithm of a row sum of 0",
     .slip = PCAST_SLIP_MASKED_LSE_ZERO},
    {.id = "masked-rows-mean",
     .fault_class = "masked-rows",
     .title = "a row that sees no key gives the mean of V",
     .look = "the value of masked scores: a finite one makes them all equal",
     .choose = choose_mean_of_masked},
    {.id = "masked-rows-nan",
     .fault_class = "masked-rows",
     .title = "a row that sees no key gives NaN",
     .look = "the division by a row sum of 0",
     .choose = choose_nan_of_masked},
    {.id = "maximum-stores-zero",
     .fault_class = "masked-tile",
     .title = "a tile without a visible key sets the running maximum to 0",
     .look = "the guard against a maximum of -Inf: is its 0 stored?",
     .choose = choose_stored_zero},
    {.id = "maximum-unguarded",
     .fault_class = "masked-tile",
     .title = "a tile without a visible key makes -Inf - -Inf",
     .look = "the guard against a maximum of -Inf",
     .choose = choose_unguarded},
    {.id = "masked-tile-ends",
     .fault_class = "masked-tile",
     .title = "the loop over tiles ends at one without a visible key",
     .look = "break against continue where a tile is skipped",
     .slip = PCAST_SLIP_TILE_ENDS_ROW},
    {.id = "mask-late",
     .fault_class = "mask",
     .title = "the mask lies one key too far to the right",
     .look = "< against <= in the comparison with the diagonal",
     .mask_shift = 1},
    {.id = "mask-early",
     .fault_class = "mask",
     .title = "the mask lies one key too far to the left",
     .look = "< against <= in the comparison with the diagonal",
     .mask_shift = -1},
    {.id = "mask-top-left",
     .fault_class = "mask-alignment",
     .title = "the causal mask is aligned top-left",
     .look = "the offset keys - queries of the diagonal",
     .misread = pcast_misread_top_left},
    {.id = "mask-bottom-right",
     .fault_class = "mask-alignment",
     .title = "the causal mask is aligned bottom-right",
     .look = "the offset keys - queries of the diagonal",
     .misread = pcast_misread_bottom_right},
    {.id = "mask-end-of-cache",
     .fault_class = "mask-alignment",
     .title = "the causal mask is aligned with the end of the cache, not of the sequence",
     .look = "the offset keys - queries of the diagonal: does it count the valid keys?",
     .misread = pcast_misread_end_of_cache},
    {.id = "mask-draft-open",
     .fault_class = "mask",
     .title = "draft queries see each other and all keys",
     .look = "the mask of a short run of queries after the cached keys",
     .misread = pcast_misread_no_mask},
    {.id = "window-left-late",
     .fault_class = "window",
     .title = "the window begins one key late",
     .look = "the left edge of the window: does it count the aligned key?",
     .misread = pcast_misread_window_late},
    {.id = "window-left-early",
     .fault_class = "window",
     .title = "the window begins one key early",
     .look = "the left edge of the window: does it count the aligned key?",
     .misread = pcast_misread_window_early},
    {.id = "window-ignored",
     .fault_class = "window",
     .title = "the window is ignored",
     .look = "the window arguments",
     .misread = pcast_misread_no_window},
    {.id = "length-ignored",
     .fault_class = "length",
     .title = "keys beyond the length are read",
     .look = "the bound of the last tile",
     .misread = pcast_misread_no_lengths},
    {.id = "length-short",
     .fault_class = "length",
     .title = "the last key is left out",
     .look = "the bound of the last tile",
     .misread = pcast_misread_short_lengths},
    {.id = "length-long",
     .fault_class = "length",
     .title = "one key beyond the length is read",
     .look = "the bound of the last tile",
     .misread = pcast_misread_long_lengths},
    {.id = "sink-ignored",
     .fault_class = "learned-sink",
     .title = "the learned sink is ignored",
     .look = "the term of the sink in the row sum",
     .misread = pcast_misread_no_sink},
    {.id = "sink-in-log2",
     .fault_class = "learned-sink",
     .title = "the sink is taken as a power of two",
     .look = "the factor log2 e on the sink",
     .misread = pcast_misread_sink_in_log2},
    {.id = "sink-softmax-scaled",
     .fault_class = "learned-sink",
     .title = "the sink is multiplied by the softmax scale",
     .look = "the unit of the sink: a logit, not a product of q and k",
     .misread = pcast_misread_scaled_sink},
    {.id = "sink-without-scale",
     .fault_class = "learned-sink",
     .title = "the sink misses S, which the row sum holds",
     .look = "the term log2 S in the exponent of the sink",
     .misread = pcast_misread_sink_without_scale},
    {.id = "sink-next-head",
     .fault_class = "learned-sink",
     .title = "a head reads the sink of the next, the last one beyond the array",
     .look = "the index of the sink",
     .misread = pcast_misread_next_sink},
    {.id = "descale-ignored",
     .fault_class = "descale",
     .title = "no descale is used",
     .look = "the descales of q, k and v",
     .misread = pcast_misread_no_descale},
    {.id = "qk-descale-ignored",
     .fault_class = "descale",
     .title = "the descales of q and k are not used",
     .look = "the factor on q.k",
     .misread = pcast_misread_no_qk_descale},
    {.id = "q-descale-ignored",
     .fault_class = "descale",
     .title = "the descale of q is not used",
     .look = "the factor on q.k",
     .misread = pcast_misread_no_q_descale},
    {.id = "k-descale-ignored",
     .fault_class = "descale",
     .title = "the descale of k is not used",
     .look = "the factor on q.k",
     .misread = pcast_misread_no_k_descale},
    {.id = "v-descale-ignored",
     .fault_class = "descale",
     .title = "the descale of v is not used",
     .look = "the factor on the output",
     .misread = pcast_misread_no_v_descale},
    {.id = "descale-squared",
     .fault_class = "descale",
     .title = "descales are applied twice",
     .look = "are they applied to the inputs and again in the kernel?",
     .misread = pcast_misread_squared_descale},
    {.id = "v-descale-squared",
     .fault_class = "descale",
     .title = "the descale of v is applied twice",
     .look = "the factor on the output",
     .misread = pcast_misread_squared_v_descale},
    {.id = "descale-of-first-head",
     .fault_class = "descale",
     .title = "the descales of the first head are used for all",
     .look = "the stride of the descales",
     .misread = pcast_misread_first_descale},
    {.id = "descale-swapped",
     .fault_class = "descale",
     .title = "the descales of k and v are exchanged",
     .look = "the order of the arguments",
     .misread = pcast_misread_swapped_descale},
    {.id = "softmax-scale-default",
     .fault_class = "softmax-scale",
     .title = "the softmax scale is 1/sqrt(d), whatever is given",
     .look = "the argument softmax_scale",
     .misread = pcast_misread_default_scale},
    {.id = "softmax-scale-missing",
     .fault_class = "softmax-scale",
     .title = "the softmax scale is 1",
     .look = "the factor on q.k",
     .misread = pcast_misread_no_scale},
    {.id = "softmax-scale-dim",
     .fault_class = "softmax-scale",
     .title = "the softmax scale is 1/d",
     .look = "the square root of d",
     .misread = pcast_misread_scale_of_dim},
    {.id = "softmax-scale-log2e-twice",
     .fault_class = "softmax-scale",
     .title = "log2 e is in the softmax scale twice",
     .look = "the factor log2 e: on the host, and again on the device?",
     .misread = pcast_misread_scale_in_log2},
    {.id = "accumulator-not-promoted",
     .fault_class = "accumulator",
     .title = "P.V stays in one accumulator of the tensor core for the whole row",
     .look = "promotion to FP32 after each tile",
     .choose = choose_no_promotion},
    {.id = "accumulator-narrow",
     .fault_class = "accumulator",
     .title = "P.V is summed with 14 bits, as Hopper's tensor core does",
     .look = "promotion to FP32 after each tile",
     .choose = choose_narrow_accumulator},
    {.id = "accumulator-fp16",
     .fault_class = "accumulator",
     .title = "P.V is summed in FP16",
     .look = "the accumulator's type, and the range of V that it can hold",
     .choose = choose_f16_accumulator},
    {.id = "cast-truncates",
     .fault_class = "cast",
     .title = "the cast rounds toward zero",
     .look = "the rounding mode of the conversion",
     .slip = PCAST_SLIP_CAST_TRUNCATES},
    {.id = "cast-twice",
     .fault_class = "cast",
     .title = "the cast rounds twice, to bfloat16 first",
     .look = "the type of P before the cast",
     .slip = PCAST_SLIP_CAST_TWICE},
    {.id = "cast-loses-top",
     .fault_class = "cast",
     .title = "the cast saturates at 240",
     .look = "the largest code: FNUZ's, or a conversion that keeps one exponent back",
     .slip = PCAST_SLIP_CAST_LOSES_TOP},
    {.id = "cast-flushes-subnormals",
     .fault_class = "cast",
     .title = "subnormal codes become zero",
     .look = "the conversion, or the tensor core, flushes subnormals",
     .slip = PCAST_SLIP_CAST_FLUSHES},
    {.id = "v-permuted-16",
     .fault_class = "v-layout",
     .title = "keys of V are permuted in groups of 16 against P",
     .look = "the layout of V against the fragments of P",
     .misread = pcast_misread_v_by_16},
    {.id = "v-permuted-32",
     .fault_class = "v-layout",
     .title = "keys of V are permuted in groups of 32 against P",
     .look = "the layout of V against the fragments of P",
     .misread = pcast_misread_v_by_32},
    {.id = "v-reversed-8",
     .fault_class = "v-layout",
     .title = "keys of V are reversed in groups of 8 against P",
     .look = "the layout of V against the fragments of P",
     .misread = pcast_misread_v_reversed},
    {.id = "splits-unweighted",
     .fault_class = "split-merge",
     .title = "splits are averaged, whatever they hold",
     .look = "the weights of the merge",
     .slip = PCAST_SLIP_SPLITS_UNWEIGHTED},
    {.id = "splits-first",
     .fault_class = "split-merge",
     .title = "the first split is all that counts",
     .look = "the loop over splits of the merge",
     .slip = PCAST_SLIP_SPLITS_FIRST},
    {.id = "splits-by-sum",
     .fault_class = "split-merge",
     .title = "splits are weighted by their row sums, without their maxima",
     .look = "the weights of the merge: exp(lse - largest lse)",
     .slip = PCAST_SLIP_SPLITS_BY_SUM},
    {.id = "index-wraps",
     .fault_class = "index-overflow",
     .title = "numbers of K and V are counted with 32 bits",
     .look = "the types of strides and offsets",
     .misread = pcast_misread_wrapped},
    {.id = "index-wraps-31",
     .fault_class = "index-overflow",
     .title = "numbers of K and V are counted with 31 bits",
     .look = "the types of strides and offsets, in bytes where a number takes two",
     .misread = pcast_misread_wrapped_31},
    {.id = "index-negative",
     .fault_class = "index-overflow",
     .title = "places of K and V have a sign and 32 bits, and a copy fills negative ones with 0",
     .look = "the types of the coordinates of a bulk copy",
     .misread = pcast_misread_negative},
    {.id = "p-not-cast",
     .fault_class = "cast",
     .title = "P is not cast to 8 bits",
     .look = "the type of P in the product with V: 16 bits or more?",
     .choose = choose_no_cast},
    {.id = "heads-first",
     .fault_class = "head-map",
     .title = "all query heads read the first head of K and V",
     .look = "the stride of the heads of K and V",
     .misread = pcast_misread_first_head},
    {.id = "heads-shifted",
     .fault_class = "head-map",
     .title = "query heads read the head of K and V after their own",
     .look = "h / (heads / kv_heads)",
     .misread = pcast_misread_shifted_heads},
    {.id = "heads-interleaved",
     .fault_class = "head-map",
     .title = "query head h reads head h mod kv_heads of K and V",
     .look = "h / (heads / kv_heads)",
     .misread = pcast_misread_interleaved_heads},
};

size_t pcast_fault_count(void)
{
    return sizeof faults / sizeof faults[0];
}

const pcast_fault *pcast_fault_at(size_t index)
{
    return &faults[index];
}

const pcast_fault *pcast_fault_find(const char *id)
{
    for (size_t i = 0; i < pcast_fault_count(); i++)
        if (strcmp(faults[i].id, id) == 0)
            return &faults[i];
    return NULL;
}
