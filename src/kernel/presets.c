/* SPDX-License-Identifier: MIT */
/* One row a kernel: its fields as its source has them, where that was read, and what is not known.
 * A field that is not written has the paper's choice (zero). unit_low and unit_high bound what
 * equal scores and V = 1 give. */
#include "pcast/kernel.h"

#include "base/bits.h"

/* What families share. */
#define S_IN_EXPONENT .scale_at = PCAST_SCALE_AT_EXPONENT, .sum_scale = PCAST_SUM_SCALE_IN
#define RAW_FMA       .exponent = PCAST_EXPONENT_EXP2_FMA, .max_over = PCAST_MAX_OVER_RAW
#define TENSOR_CORE   .accumulator = PCAST_ACCUMULATOR_TENSOR_CORE, .qkv = PCAST_QKV_E4M3
#define SCALES(q, k, v)                                                                            \
    .q_scale = PCAST_SCALE_##q, .k_scale = PCAST_SCALE_##k, .v_scale = PCAST_SCALE_##v
/* Hardware semantics: exponential unit, reciprocal, order of the row sum, machine. */
#define UNITS(exp, rcp, sum, of)                                                                   \
    .exp_unit = PCAST_EXP_UNIT_##exp, .reciprocal = PCAST_RECIPROCAL_##rcp,                        \
    .sum_order = PCAST_SUM_ORDER_##sum, .machine = PCAST_MACHINE_##of
#define GUARDED   .masked_rows = PCAST_MASKED_ROWS_ZERO
#define ONE_SPLIT .splits = 1, .query_block = 1
#define FA4                                                                                        \
    SCALES(KV_HEAD, HEAD, HEAD), S_IN_EXPONENT, GUARDED, RAW_FMA, TENSOR_CORE,                     \
        .splits = 1, .query_block = 128, .order = PCAST_ORDER_REVERSE, .block = 128,               \
        .epilogue = PCAST_EPILOGUE_RECIPROCAL, .out_format = PCAST_OUTPUT_BF16,                    \
        .lse = PCAST_LSE_BASE_E, .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR
#define CUTE_DSL                                                                                   \
    S_IN_EXPONENT, GUARDED, RAW_FMA, TENSOR_CORE, ONE_SPLIT,                                       \
        .block = 128, .epilogue = PCAST_EPILOGUE_RECIPROCAL, .out_format = PCAST_OUTPUT_BF16,      \
        .lse = PCAST_LSE_BASE_2
#define SAGE2                                                                                      \
    SCALES(BLOCK, BLOCK, CHANNEL), UNITS(EX2, RCP_APPROX, SAGE, ADA_MMA),                          \
        .scale_rows = 32, .k_mean = 1, S_IN_EXPONENT, RAW_FMA, .splits = 1, .query_block = 128,    \
        .block = 64, .scale = SAGE_SCALE, .scale_log2 = 8.807f, .bias = PCAST_BIAS_FMA,            \
        .correction = PCAST_CORRECTION_BIAS, .epilogue = PCAST_EPILOGUE_TWO_STEP,                  \
        .out_format = PCAST_OUTPUT_BF16, .lse = PCAST_LSE_BASE_E, .qkv = PCAST_QKV_INT8,           \
        .mask_value = PCAST_MASK_VALUE_5E6, .masked_rows = PCAST_MASKED_ROWS_MEAN_V,               \
        .initial_sum = 1
#define SAGE_SCALE 447.889862f /* 2^8.807f */
#define HPC_OPS                                                                                    \
    SCALES(TOKEN, TENSOR, TENSOR), RAW_FMA, TENSOR_CORE,                                           \
        UNITS(EX2, RCP_APPROX, HPC_OPS, HOPPER_WGMMA),                                             \
        .splits = 1, .correction = PCAST_CORRECTION_BIAS, .epilogue = PCAST_EPILOGUE_TWO_STEP,     \
        .out_format = PCAST_OUTPUT_BF16
#define CUDNN                                                                                      \
    GUARDED, TENSOR_CORE, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), ONE_SPLIT,            \
        .block = 128, .rescale_threshold = 4, .threshold_unit = PCAST_THRESHOLD_NATS,              \
        .out_format = PCAST_OUTPUT_BF16, .lse = PCAST_LSE_BASE_E,                                  \
        .learned_sink = PCAST_LEARNED_SINK_INITIAL

/* Versions read. */
#define FLASH_ATTENTION      "Dao-AILab/flash-attention 0251105a, "
#define FLASH_ATTENTION_VLLM "vllm-project/flash-attention 617264c1, "
#define FLASHINFER           "flashinfer-ai/flashinfer fb28d724, "
#define SAGE_ATTENTION       "thu-ml/SageAttention d1a57a54, csrc/qattn, "
#define CUDNN_FRONTEND       "NVIDIA/cudnn-frontend 3929da2e, test/python/sdpa/"

/* What equal scores and V = 1 give. */
#define UNIT_EXACT(why) .unit_row = "exact: " why, .unit_low = 1, .unit_high = 1
#define UNIT_POWER                                                                                 \
    UNIT_EXACT("P is a power of two; 1/l rounds by less than the output format shows")
#define UNIT_448                                                                                   \
    UNIT_EXACT("448 cancels to a few FP32 roundings, fewer than the output format shows")

static const pcast_preset presets[] = {
    {.name = "paper",
     .kernel = {ONE_SPLIT, .block = 128, .scale = 1},
     .source = "R. Lau, P-cast precision in FP8 attention, Algorithm 1",
     .date = "2026",
     .caveats = "the definition; a row without a visible key is 0/0",
     UNIT_EXACT("every p and its cast are 1; O and S*l are the same number")},
    {.name = "fa3",
     .kernel = {SCALES(KV_HEAD, HEAD, HEAD), GUARDED, S_IN_EXPONENT, RAW_FMA, TENSOR_CORE,
                UNITS(EX2, RCP_APPROX, FA3, HOPPER_WGMMA), .splits = 1,
                .order = PCAST_ORDER_REVERSE, .block_table = PCAST_BLOCKS_FA3, .scale = 256,
                .epilogue = PCAST_EPILOGUE_RECIPROCAL, .out_format = PCAST_OUTPUT_BF16,
                .lse = PCAST_LSE_BASE_E},
     .source = FLASH_ATTENTION "hopper/softmax.h, mainloop_fwd_sm90_tma_gmma_ws.hpp, tile_size.h",
     .date = "2026-08-15",
     .caveats = "max*c - 8 may be one fma in the compiled code (bias=fma); no learned sink",
     UNIT_POWER},
    {.name = "fa3-vllm",
     .kernel = {SCALES(KV_HEAD, HEAD, HEAD), GUARDED, S_IN_EXPONENT, RAW_FMA, TENSOR_CORE,
                UNITS(EX2, RCP_APPROX, FA3, HOPPER_WGMMA), .splits = 1,
                .order = PCAST_ORDER_REVERSE, .block_table = PCAST_BLOCKS_FA3_VLLM, .scale = 256,
                .promotion = PCAST_PROMOTION_TILE, .epilogue = PCAST_EPILOGUE_RECIPROCAL,
                .out_format = PCAST_OUTPUT_BF16, .lse = PCAST_LSE_BASE_E,
                .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR},
     .source = FLASH_ATTENTION_VLLM "hopper/softmax.h, utils.h, tile_size.h",
     .date = "2026-08-06",
     .caveats = "prefill tiles: decode with one MMA warpgroup has block=128 up to head dim 96, "
                "else 96; query tiles were not extracted; a learned sink of a row without visible "
                "keys enters without S, here as a key",
     UNIT_POWER},
    {.name = "fa4-offset8-tau4",
     .kernel = {FA4, UNITS(UNSETTLED, RCP_APPROX, FA4, BLACKWELL_TCGEN05), .scale = 256,
                .rescale_threshold = 4},
     .source = "Dao-AILab/flash-attention b65ae6b1 (#2109), flash_attn/cute/flash_fwd_sm100.py",
     .date = "2026-04-17",
     .caveats = "the first FP8 release: P reaches 2^12 and saturates at 448; some columns take a "
                "degree-3 polynomial for exp2",
     UNIT_POWER},
    {.name = "fa4-offset4-tau4",
     .kernel = {FA4, UNITS(UNSETTLED, RCP_APPROX, FA4, BLACKWELL_TCGEN05), .scale = 16,
                .rescale_threshold = 4},
     .source = "Dao-AILab/flash-attention 2409214a (#2717), flash_attn/cute/flash_fwd_sm100.py",
     .date = "2026-07-19",
     .caveats = "offset 4 is for E4M3, with p_format=e5m2 it is 8 (scale=256); polynomial as fa4",
     UNIT_POWER},
    {.name = "fa4",
     .kernel = {FA4, UNITS(UNSETTLED, RCP_APPROX, FA4, BLACKWELL_TCGEN05), .poly_start = 1,
                .scale = 256},
     .source = FLASH_ATTENTION "flash_attn/cute/softmax.py, flash_fwd_sm100.py (#2731)",
     .date = "2026-08-15",
     .caveats =
         "some columns take a degree-3 polynomial for exp2, which ones depends on head dimension, "
         "mask and launch: exp_unit=fa4_mix;poly_freq=10 (head dim 128, not causal, two CTAs), 8 "
         "(causal), 16 (others); masked blocks and SM103 take ex2 throughout; max*c - 8 may be one "
         "fma (bias=fma)",
     UNIT_POWER},
    {.name = "fa4-vllm",
     .kernel = {FA4, UNITS(UNSETTLED, RCP_APPROX, FA4, BLACKWELL_TCGEN05), .poly_start = 1,
                .scale = 256, .rescale_threshold = 0.75f},
     .source = FLASH_ATTENTION_VLLM "flash_attn/cute/flash_fwd_sm100.py (#166)",
     .date = "2026-08-06",
     .caveats = "a stale maximum lets P reach 2^8.75 = 430.5, which still fits; polynomial as fa4",
     UNIT_POWER},
    {.name = "flashinfer-fa3",
     .kernel = {SCALES(HEAD, HEAD, HEAD), GUARDED, RAW_FMA, TENSOR_CORE,
                UNITS(EX2, RCP_APPROX, FA3, HOPPER_WGMMA), .splits = 1,
                .order = PCAST_ORDER_REVERSE, .block_table = PCAST_BLOCKS_FLASHINFER_FA3,
                .scale = 448, .epilogue = PCAST_EPILOGUE_QUOTIENT, .out_format = PCAST_OUTPUT_BF16,
                .lse = PCAST_LSE_BASE_2},
     .source = FLASHINFER "include/flashinfer/attention/hopper",
     .date = "2026-08-22",
     .caveats = "the last division is approximate in the kernel; E5M2 KV has "
                "p_format=e5m2;scale=57344; a fully masked row gave NaN before #4401",
     UNIT_448},
    {.name = "flashinfer-cutedsl",
     .kernel = {CUTE_DSL, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, BLACKWELL_TCGEN05), .scale = 256},
     .source = FLASHINFER "flashinfer/cute_dsl/attention/fmha/fmha.py",
     .date = "2026-08-22",
     .caveats = "query tiles and the order of the last products were not extracted; up to 20 "
                "elements take a polynomial",
     UNIT_POWER},
    {.name = "flashinfer-cutedsl-skip",
     .kernel = {CUTE_DSL, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, BLACKWELL_TCGEN05), .scale = 1,
                .rescale_threshold = 8},
     .source = FLASHINFER "flashinfer/cute_dsl/attention/fmha/fmha.py, enable_skip_correction",
     .date = "2026-08-22",
     .caveats = "as flashinfer-cutedsl",
     UNIT_POWER},
    {.name = "trtllm-gen",
     .kernel = {GUARDED, S_IN_EXPONENT, RAW_FMA, TENSOR_CORE,
                UNITS(UNSETTLED, UNSETTLED, UNSETTLED, BLACKWELL_TCGEN05), ONE_SPLIT, .block = 128,
                .scale = 448, .epilogue = PCAST_EPILOGUE_QUOTIENT, .out_format = PCAST_OUTPUT_BF16,
                .lse = PCAST_LSE_BASE_2, .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR},
     .source = FLASHINFER "prims_ts fmha_context/fmha_resources.py, csrc/fmhaReduction.cu",
     .date = "2026-08-22",
     .caveats = "order of KV blocks not extracted (forward here), nor masked rows and output "
                "format; tiles of 256 too; the generated kernels are "
                "closed; MLA decode has scale_log2=8.8073549",
     UNIT_448},
    {.name = "xqa-sm90",
     .kernel = {TENSOR_CORE, UNITS(UNSETTLED, DIV, UNSETTLED, HOPPER_WGMMA), ONE_SPLIT, .block = 64,
                .traversal = PCAST_TRAVERSAL_STRIDED, .partials = PCAST_OUTPUT_BF16, .scale = 448,
                .exponent = PCAST_EXPONENT_EXP2_FMA, .correction = PCAST_CORRECTION_NATURAL,
                .epilogue = PCAST_EPILOGUE_RECIPROCAL, .out_format = PCAST_OUTPUT_BF16,
                .mask_value = PCAST_MASK_VALUE_1E5, .masked_rows = PCAST_MASKED_ROWS_MEAN_V,
                .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR},
     .source = FLASHINFER "csrc/xqa/mha_sm90.cu, utils.cuh",
     .date = "2026-08-22",
     .caveats = "decode; the number of splits is the launch's; scores all below -1e5 leave a row "
                "sum of 0 and then 1/0; the speculative-decode epilogue takes no sink",
     UNIT_448},
    {.name = "xqa-mla",
     .kernel = {RAW_FMA, TENSOR_CORE, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), ONE_SPLIT,
                .block = 64, .scale = 448, .correction = PCAST_CORRECTION_BIAS,
                .row_sum = PCAST_ROW_SUM_CAST, .sum_scale = PCAST_SUM_SCALE_IN,
                .epilogue = PCAST_EPILOGUE_RECIPROCAL, .out_format = PCAST_OUTPUT_BF16,
                .mask_value = PCAST_MASK_VALUE_1E5, .masked_rows = PCAST_MASKED_ROWS_MEAN_V},
     .source = FLASHINFER "csrc/xqa/mla_sm120.cu, mha_components.cuh",
     .date = "2026-08-22",
     .caveats = "two producers interleave tiles; masks taken to be those of xqa-sm90",
     UNIT_EXACT("numerator and denominator are sums of the same casts")},
    {.name = "fmha-v2",
     .kernel = {GUARDED, S_IN_EXPONENT, TENSOR_CORE, UNITS(EX2, UNSETTLED, FMHA_V2, HOPPER_WGMMA),
                .splits = 1, .block_table = PCAST_BLOCKS_FMHA_V2, .scale = 256,
                .exponent = PCAST_EXPONENT_EXP2_FMA_RZ, .max_over = PCAST_MAX_OVER_RAW,
                .epilogue = PCAST_EPILOGUE_QUOTIENT, .out_format = PCAST_OUTPUT_BF16,
                .lse = PCAST_LSE_BASE_E, .mask_value = PCAST_MASK_VALUE_FLT_MAX,
                .learned_sink = PCAST_LEARNED_SINK_DENOMINATOR},
     .source = FLASHINFER "csrc/fmha_v2/fmha/warpspec",
     .date = "2026-08-22",
     .caveats = "with ALiBi or softcap exponent=natural, where a learned sink weighs e^8/256 too "
                "much; the guard of masked tiles is compiled for sliding and custom masks only; "
                "query tiles not extracted; max*c - 8 may be one fma; skip-softmax not modelled",
     UNIT_POWER},
    {.name = "sage2-fp32",
     .kernel = {SAGE2, .accumulator = PCAST_ACCUMULATOR_TENSOR_CORE},
     .source = SAGE_ATTENTION "qk_int_sv_f8_cuda_sm89.cuh",
     .date = "2026-01-17",
     .caveats = "causal is mask=causal_top_left; scores of the last two tiles are scaled before "
                "the fma; sm_90 has block=128;machine=hopper-wgmma",
     UNIT_EXACT("2^8.807 is cast to 448: 1.000246, which the output format does not show")},
    {.name = "sage2-fp32x2",
     .kernel = {SAGE2, .accumulator = PCAST_ACCUMULATOR_TENSOR_CORE,
                .promotion = PCAST_PROMOTION_TILE},
     .source = SAGE_ATTENTION "attn_utils.cuh, inst_buf",
     .date = "2026-01-17",
     .caveats =
         "as sage2-fp32; sm_90 (block=128;machine=hopper-wgmma) always accumulates like this",
     UNIT_EXACT("2^8.807 is cast to 448: 1.000246, which the output format does not show")},
    {.name = "sage2pp",
     .kernel = {SAGE2, .accumulator = PCAST_ACCUMULATOR_FP16, .promotion = PCAST_PROMOTION_TILE,
                .v_range = 2.25f},
     .source = SAGE_ATTENTION "attn_utils.cuh, fp32+fp16",
     .date = "2026-01-17",
     .caveats =
         "as sage2-fp32; V is scaled to at most 2.25 so that a tile of 64 keys stays below "
         "65504; FP16 rounds once per instruction of 32 keys: so under hardware semantics, else "
         "per key",
     UNIT_EXACT("2^8.807 is cast to 448: 1.000246, which the output format does not show")},
    {.name = "hpc-ops-2026-01",
     .kernel = {HPC_OPS, .block = 64, .query_block = 1, .scale = 1, .lse = PCAST_LSE_BASE_E},
     .source = "Tencent/hpc-ops f968a8f, src/attention",
     .date = "2026-01-20",
     .caveats = "decode; S = 1 until 2026-06-09, and until 2026-05-25 in prefill (block=128); "
                "causal tail tiles come first in the kernel",
     UNIT_POWER},
    {.name = "hpc-ops",
     .kernel = {HPC_OPS, .block = 128, .query_block = 128, .scale = 256,
                .promotion = PCAST_PROMOTION_TILE, .empty_max = PCAST_EMPTY_MAX_UNGUARDED},
     .source = "Tencent/hpc-ops 6e2ecede, src/attention",
     .date = "2026-07-24",
     .caveats = "prefill; decode has block=64, causal tail tiles first, guards masked tiles, and "
                "returns an LSE",
     UNIT_POWER},
    {.name = "vllm-triton",
     .kernel = {TENSOR_CORE, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), ONE_SPLIT,
                .block = 32, .scale = 1, .out_format = PCAST_OUTPUT_BF16,
                .empty_max = PCAST_EMPTY_MAX_STORE_ZERO, .initial_sum = 1,
                .learned_sink = PCAST_LEARNED_SINK_INITIAL},
     .source = "vllm-project/vllm 00139433, vllm/v1/attention/ops/triton_unified_attention.py",
     .date = "2026",
     .caveats = "FP8 Q only (else P stays 16-bit); whether the dot product starts from the "
                "accumulator is the compiler's; the 3D path guards an empty row sum",
     UNIT_EXACT("every p is 1")},
    {.name = "cudnn",
     .kernel = {CUDNN, .scale = 4},
     .source = CUDNN_FRONTEND "fp8_ref.py",
     .date = "2026-05-08",
     .caveats = "closed kernels: this is the Python reference; Scale_S is the caller's: give scale "
                "= Scale_S * 2^-4 (the reference's test: 64); the threshold is in nats although S "
                "shrinks by a power of two",
     UNIT_EXACT("every p is 1 and S a power of two")},
    {.name = "cudnn-mxfp8",
     .kernel = {CUDNN, .scale = 16},
     .source = CUDNN_FRONTEND "mxfp8_ref.py",
     .date = "2026-05-08",
     .caveats = "closed kernels: this is the Python reference; 16 * e^4 = 873 may saturate",
     UNIT_EXACT("every p is 1 and S a power of two")},
    {.name = "torch-ref",
     .kernel = {ONE_SPLIT, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), .block = 128,
                .scale = 1, .normalise = PCAST_NORMALISE_PARTITION, GUARDED},
     .source = FLASH_ATTENTION "hopper/test_util.py: P normalised, then cast",
     .date = "2026-08-15",
     .caveats =
         "the baseline of kernel tests; PyTorch saturates a float to E4M3 conversion since "
         "2026-04 only, which P <= 1 does not meet; scores and P pass through BF16 there, not here",
     .unit_row = "neither: N times the E4M3 of 1/N, which is 1 for a power of two up to 512, "
                 "nearly 2 just below N = 1024, and 0 from there on",
     .unit_low = 0,
     .unit_high = 2},
    {.name = "aiter-pa-ragged",
     .kernel = {ONE_SPLIT, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), .block = 256,
                .partition = 256, .scale = 1, .normalise = PCAST_NORMALISE_PARTITION,
                .qkv = PCAST_QKV_E4M3, .out_format = PCAST_OUTPUT_BF16},
     .source = "public issue threads of ROCm/aiter: paged attention, ragged",
     .date = "2026",
     .caveats = "only S = 1 and the normalised 256-key partitions are known; the other fields are "
                "the paper's; MI300 has p_format=e4m3fnuz",
     .unit_row = "neither: in a last partition of r keys r times the E4M3 of 1/r, off by up to "
                 "1/5; exact where 256 divides N",
     .unit_low = 0.8,
     .unit_high = 1.2},
    {.name = "aiter-mla",
     .kernel = {ONE_SPLIT, UNITS(UNSETTLED, UNSETTLED, UNSETTLED, UNSETTLED), .block = 128,
                .scale = 1, .qkv = PCAST_QKV_E4M3, .out_format = PCAST_OUTPUT_BF16},
     .source = "public issue threads of ROCm/aiter: MLA decode",
     .date = "2026",
     .caveats =
         "only S = 1 is known; the other fields are the paper's; MI300 has p_format=e4m3fnuz",
     UNIT_EXACT("every p is 1")},
    {.name = "pcast-wgmma",
     .kernel = {SCALES(KV_HEAD, HEAD, HEAD), GUARDED, S_IN_EXPONENT, RAW_FMA, TENSOR_CORE,
                UNITS(EX2, DIV, FA3, HOPPER_WGMMA), .splits = 1, .query_block = 64, .block = 64,
                .order = PCAST_ORDER_REVERSE, .scale = 256, .epilogue = PCAST_EPILOGUE_QUOTIENT,
                .out_format = PCAST_OUTPUT_BF16, .lse = PCAST_LSE_BASE_E},
     .source = "this project, src/cuda/attention_kernel.h",
     .date = "2026-11",
     .caveats =
         "every choice is settled; order, S, promotion (never, tile), causal mask and output "
         "format (bf16, f32) are the caller's",
     UNIT_POWER},
};

size_t pcast_preset_count(void)
{
    return sizeof presets / sizeof presets[0];
}

const pcast_preset *pcast_preset_at(size_t index)
{
    return &presets[index];
}
