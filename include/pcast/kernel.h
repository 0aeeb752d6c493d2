/* SPDX-License-Identifier: MIT */
/* The kernel model: an FP8 attention kernel as a struct of choices. A preset is a row of data, and
 * a configuration is written as a SPEC, `NAME[:field=value[;field=value...]]`. What each choice
 * does to the arithmetic is defined in docs/numerics.md; docs/kernels.md describes fields and
 * presets. */
#ifndef PCAST_KERNEL_H
#define PCAST_KERNEL_H

#include "pcast/format.h"
#include "pcast/status.h"
#include "pcast/tensor_core.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which arithmetic stands for the units below (docs/numerics.md, section 12). fp32: exponentials
 * are exact, division IEEE, accumulators FP32, sums in the reference order, whatever exp_unit,
 * reciprocal, accumulator (fp64 and fp16 stay), machine and sum_order (fp64 stays) say. hardware:
 * what they say.
 */
typedef enum pcast_semantics { PCAST_SEMANTICS_FP32, PCAST_SEMANTICS_HARDWARE } pcast_semantics;

/* What computes exponentials of scores. Factors for earlier blocks, weights of splits and learned
 * sinks take ex2 with any unit but exact (by way of log2 e where they are natural), or with expf
 * that; logarithms take lg2. Unsettled: the kernel's sources do not say. */
typedef enum pcast_exp_unit {
    PCAST_EXP_UNIT_EXACT, /* correctly rounded */
    PCAST_EXP_UNIT_EX2,
    PCAST_EXP_UNIT_FA4_POLY3,
    PCAST_EXP_UNIT_FA4_POLY5,
    PCAST_EXP_UNIT_FA4_MIX,   /* by column of the block: ex2 and fa4_poly3 */
    PCAST_EXP_UNIT_EXPF,      /* CUDA's expf, of a natural exponent */
    PCAST_EXP_UNIT_EXPF_FAST, /* CUDA's __expf */
    PCAST_EXP_UNIT_UNSETTLED,
} pcast_exp_unit;

/* Every division by a row sum or by a sum of weights. */
typedef enum pcast_reciprocal {
    PCAST_RECIPROCAL_DIV,        /* IEEE */
    PCAST_RECIPROCAL_RCP_APPROX, /* times rcp.approx of the divisor */
    PCAST_RECIPROCAL_UNSETTLED,
} pcast_reciprocal;

/* The order in which a block's P enter the row sum. */
typedef enum pcast_sum_order {
    PCAST_SUM_ORDER_REFERENCE, /* 16 lanes and a tree */
    PCAST_SUM_ORDER_FA3,       /* four threads, each through all blocks, added at the end */
    PCAST_SUM_ORDER_FA4,       /* four packed chains a block, the row sum in the first */
    PCAST_SUM_ORDER_FMHA_V2,   /* four threads of four chains each, added after every block */
    PCAST_SUM_ORDER_SAGE,      /* four threads by groups of four, added at the end */
    PCAST_SUM_ORDER_HPC_OPS,   /* four threads, each block from zero, added at the end */
    PCAST_SUM_ORDER_FP64,      /* one after another in binary64: no rounding to speak of */
    PCAST_SUM_ORDER_UNSETTLED,
} pcast_sum_order;

enum { PCAST_MACHINE_UNSETTLED = PCAST_MACHINE_COUNT };

/* The order in which KV blocks are visited. */
typedef enum pcast_order { PCAST_ORDER_FORWARD, PCAST_ORDER_REVERSE } pcast_order;

/* How KV blocks are dealt to splits: neighbours together, or block j to split j mod splits. */
typedef enum pcast_traversal {
    PCAST_TRAVERSAL_CONTIGUOUS,
    PCAST_TRAVERSAL_STRIDED
} pcast_traversal;

/* Keys per KV block by head dimension, as the kernel's own tile table has them. */
typedef enum pcast_block_table {
    PCAST_BLOCKS_CONSTANT, /* no table: `block` counts */
    PCAST_BLOCKS_FA3,
    PCAST_BLOCKS_FA3_VLLM,
    PCAST_BLOCKS_FLASHINFER_FA3,
    PCAST_BLOCKS_FMHA_V2,
} pcast_block_table;

/* Where S enters: a multiplication after the exponential, or a term of its argument. */
typedef enum pcast_scale_at { PCAST_SCALE_AT_MULTIPLY, PCAST_SCALE_AT_EXPONENT } pcast_scale_at;

/* The exponential of score z under running maximum m; c is the factor log2(e), times the softmax
 * scale where the maximum is over raw scores, and b the bias c*m less log2 S (if S is there). */
typedef enum pcast_exponent {
    PCAST_EXPONENT_NATURAL,     /* exp(z - m) */
    PCAST_EXPONENT_EXP2_FMA,    /* exp2(fma(z, c, -b)) */
    PCAST_EXPONENT_EXP2_MUL,    /* exp2(z*c - b), two roundings */
    PCAST_EXPONENT_EXP2_FMA_RZ, /* exp2(fma(z, c, -b)), the fma rounded toward zero */
} pcast_exponent;

/* b from the maximum: c*m and the subtraction rounded each, or one fma. */
typedef enum pcast_bias { PCAST_BIAS_TWO_ROUNDINGS, PCAST_BIAS_FMA } pcast_bias;

/* The factor for earlier blocks. */
typedef enum pcast_correction {
    PCAST_CORRECTION_DIFFERENCE, /* of (m_old - m_new), times c in base 2 */
    PCAST_CORRECTION_NATURAL,    /* exp(m_old - m_new), whatever the exponent */
    PCAST_CORRECTION_BIAS,       /* exp2(b_old - b_new) */
} pcast_correction;

/* What the running maximum is taken over: scores after the softmax scale, or Q.K as accumulated. */
typedef enum pcast_max_over { PCAST_MAX_OVER_SCALED, PCAST_MAX_OVER_RAW } pcast_max_over;

typedef enum pcast_threshold_unit {
    PCAST_THRESHOLD_LOG2,
    PCAST_THRESHOLD_NATS
} pcast_threshold_unit;
typedef enum pcast_threshold_test { PCAST_THRESHOLD_LE, PCAST_THRESHOLD_LT } pcast_threshold_test;

/* Row sum of P before the cast, or of the cast values; with S inside or without. */
typedef enum pcast_row_sum { PCAST_ROW_SUM_PRECAST, PCAST_ROW_SUM_CAST } pcast_row_sum;
typedef enum pcast_sum_scale { PCAST_SUM_SCALE_OUT, PCAST_SUM_SCALE_IN } pcast_sum_scale;

/* Division by the row sum: of the output at the end, or of each partition's P before the cast. */
typedef enum pcast_normalise { PCAST_NORMALISE_END, PCAST_NORMALISE_PARTITION } pcast_normalise;

/* How O, the row sum l and g = v_descale/S (or v_descale, where l contains S) become the output. */
typedef enum pcast_epilogue {
    PCAST_EPILOGUE_DIVIDE,     /* O / (S*l), then * v_descale */
    PCAST_EPILOGUE_RECIPROCAL, /* O * ((1/l) * g) */
    PCAST_EPILOGUE_QUOTIENT,   /* O * (g / l) */
    PCAST_EPILOGUE_TWO_STEP,   /* (O * (1/l)) * g */
} pcast_epilogue;

/* The accumulator of P.V. tensor_core is the machine's own, of Q.K too; FP32 semantics replaces it
 * by fp32_fma. fp16 is the machine's with FP16 output, or one rounding a product in FP32 semantics.
 */
typedef enum pcast_accumulator {
    PCAST_ACCUMULATOR_FP32_FMA,
    PCAST_ACCUMULATOR_FP64,
    PCAST_ACCUMULATOR_TENSOR_CORE,
    PCAST_ACCUMULATOR_FP16,
} pcast_accumulator;

typedef enum pcast_lse { PCAST_LSE_NONE, PCAST_LSE_BASE_E, PCAST_LSE_BASE_2 } pcast_lse;

/* The format of Q, K and V that the kernel reads; int8 is of Q and K, with V in E4M3. */
typedef enum pcast_qkv {
    PCAST_QKV_F32,
    PCAST_QKV_BF16,
    PCAST_QKV_F16,
    PCAST_QKV_E4M3,
    PCAST_QKV_E5M2,
    PCAST_QKV_E4M3FNUZ,
    PCAST_QKV_E5M2FNUZ,
    PCAST_QKV_INT8,
} pcast_qkv;

/* Which numbers share a scale when Q, K and V are quantised. */
typedef enum pcast_granularity {
    PCAST_SCALE_TENSOR,
    PCAST_SCALE_KV_HEAD, /* with the heads of Q that read it, in each sequence */
    PCAST_SCALE_HEAD,    /* of a sequence */
    PCAST_SCALE_BLOCK,   /* of a head: scale_rows tokens of Q, a KV block of K and V */
    PCAST_SCALE_TOKEN,   /* of a head */
    PCAST_SCALE_CHANNEL, /* of a head; V only, it does not factor out of Q.K */
} pcast_granularity;

/* Which keys a query sees. With T queries and N keys, causal aligned bottom-right lets query i see
 * keys 0 .. i + N - T, aligned top-left keys 0 .. i. */
typedef enum pcast_mask {
    PCAST_MASK_NONE,
    PCAST_MASK_CAUSAL,
    PCAST_MASK_CAUSAL_TOP_LEFT,
} pcast_mask;

/* What replaces a masked score, and where the running maximum starts. */
typedef enum pcast_mask_value {
    PCAST_MASK_VALUE_INF,     /* -Inf */
    PCAST_MASK_VALUE_FLT_MAX, /* -FLT_MAX */
    PCAST_MASK_VALUE_1E5,     /* -1e5 */
    PCAST_MASK_VALUE_5E6,     /* -5e6 */
} pcast_mask_value;

/* The output of a row without a visible key. */
typedef enum pcast_masked_rows {
    PCAST_MASKED_ROWS_UNGUARDED, /* whatever the arithmetic gives */
    PCAST_MASKED_ROWS_ZERO,      /* 0, LSE -Inf: guarded */
    PCAST_MASKED_ROWS_MEAN_V,    /* mean of V over the visited keys: all scores are one sentinel */
    PCAST_MASKED_ROWS_NAN,       /* NaN */
} pcast_masked_rows;

/* What stands for a running maximum that is still -Inf after a block. */
typedef enum pcast_empty_max {
    PCAST_EMPTY_MAX_GUARD,      /* 0 for this block's arithmetic, -Inf is kept */
    PCAST_EMPTY_MAX_STORE_ZERO, /* 0, from then on */
    PCAST_EMPTY_MAX_UNGUARDED,  /* -Inf: -Inf - -Inf is NaN */
} pcast_empty_max;

/* How a learned sink enters where one is given: a logit per head that takes attention and gives no
 * value. */
typedef enum pcast_learned_sink {
    PCAST_LEARNED_SINK_NONE,        /* the kernel knows none */
    PCAST_LEARNED_SINK_DENOMINATOR, /* its exponential is added to the row sum at the end */
    PCAST_LEARNED_SINK_INITIAL,     /* it is the initial maximum, with a row sum of 1 */
} pcast_learned_sink;

/* Fields of the model, also as bits of a set: UINT64_C(1) << field. */
typedef enum pcast_field {
    PCAST_FIELD_SEMANTICS,
    PCAST_FIELD_ORDER,
    PCAST_FIELD_TRAVERSAL,
    PCAST_FIELD_BLOCK,
    PCAST_FIELD_PAGED,
    PCAST_FIELD_QUERY_BLOCK,
    PCAST_FIELD_SPLITS,
    PCAST_FIELD_PARTITION,
    PCAST_FIELD_PARTIALS,
    PCAST_FIELD_SCALE,
    PCAST_FIELD_SCALE_LOG2,
    PCAST_FIELD_SCALE_AT,
    PCAST_FIELD_EXPONENT,
    PCAST_FIELD_EXP_UNIT,
    PCAST_FIELD_POLY_FREQ,
    PCAST_FIELD_POLY_START,
    PCAST_FIELD_BIAS,
    PCAST_FIELD_CORRECTION,
    PCAST_FIELD_MAX_OVER,
    PCAST_FIELD_RESCALE_THRESHOLD,
    PCAST_FIELD_THRESHOLD_UNIT,
    PCAST_FIELD_THRESHOLD_TEST,
    PCAST_FIELD_ROW_SUM,
    PCAST_FIELD_SUM_SCALE,
    PCAST_FIELD_SUM_ORDER,
    PCAST_FIELD_NORMALISE,
    PCAST_FIELD_EPILOGUE,
    PCAST_FIELD_RECIPROCAL,
    PCAST_FIELD_P_FORMAT,
    PCAST_FIELD_OVERFLOW,
    PCAST_FIELD_ACCUMULATOR,
    PCAST_FIELD_MACHINE,
    PCAST_FIELD_PROMOTION,
    PCAST_FIELD_OUT_FORMAT,
    PCAST_FIELD_LSE,
    PCAST_FIELD_QKV,
    PCAST_FIELD_Q_SCALE,
    PCAST_FIELD_K_SCALE,
    PCAST_FIELD_V_SCALE,
    PCAST_FIELD_SCALE_ROWS,
    PCAST_FIELD_V_RANGE,
    PCAST_FIELD_ROTATION,
    PCAST_FIELD_K_MEAN,
    PCAST_FIELD_MASK,
    PCAST_FIELD_WINDOW_LEFT,
    PCAST_FIELD_WINDOW_RIGHT,
    PCAST_FIELD_MASK_VALUE,
    PCAST_FIELD_MASKED_ROWS,
    PCAST_FIELD_EMPTY_MAX,
    PCAST_FIELD_INITIAL_SUM,
    PCAST_FIELD_LEARNED_SINK,
    PCAST_FIELD_SINK_LOGIT,
    PCAST_FIELD_SOFTCAP,
    PCAST_FIELD_COUNT,
} pcast_field;

enum {
    PCAST_BLOCK_MAX = 1 << 20,
    PCAST_SPLITS_MAX = 1024,
    PCAST_PROMOTION_NEVER = 0,
    PCAST_PROMOTION_TILE = -1,
    PCAST_PROMOTION_MAX = 1 << 16,
    PCAST_SPEC_MAX = 1024, /* bytes of a SPEC, its end included */
};

/* Formats of results. */
typedef enum pcast_output { PCAST_OUTPUT_F32, PCAST_OUTPUT_BF16, PCAST_OUTPUT_F16 } pcast_output;

/* A field that is zero has the paper's choice; block and scale must be given. */
typedef struct pcast_kernel {
    pcast_semantics semantics;
    /* The walk over keys. */
    pcast_order order;
    pcast_traversal traversal;
    size_t block; /* keys per KV block, 1 .. PCAST_BLOCK_MAX; 0: from block_table */
    pcast_block_table block_table;
    int paged;             /* paged KV cache: another column of block_table */
    size_t query_block;    /* queries whose KV blocks are visited together; 1: each its own, 0: from
                              block_table, without one as 1 */
    size_t splits;         /* parts of the keys, merged by log-sum-exp; 0 or 1: no split */
    size_t partition;      /* keys per split instead of a number of splits; 0: none */
    pcast_output partials; /* format of the normalised output of a split */
    /* Scores to probabilities. */
    float scale;      /* S; 2^-64 .. 2^64 */
    float scale_log2; /* log2 S as the kernel's own constant; 0: the rounded log2 of scale */
    pcast_scale_at scale_at;
    pcast_exponent exponent;
    pcast_exp_unit exp_unit;
    /* fa4_mix: of the columns of every 32, those whose number modulo poly_freq (4 to 64) is among
     * the last four take the polynomial, save in the first poly_start groups of 32 and in the last.
     */
    size_t poly_freq, poly_start;
    pcast_bias bias;
    pcast_correction correction;
    pcast_max_over max_over;
    float rescale_threshold; /* tau: the maximum stays while it lags by no more; 0: always exact */
    pcast_threshold_unit threshold_unit;
    pcast_threshold_test threshold_test;
    /* The row sum and the cast. */
    pcast_row_sum row_sum;
    pcast_sum_scale sum_scale;
    pcast_sum_order sum_order;
    pcast_normalise normalise;
    pcast_epilogue epilogue;
    pcast_reciprocal reciprocal;
    pcast_format p_format;   /* any but f64; f32 is no cast */
    pcast_overflow overflow; /* of the cast of p * S */
    /* P.V and the output. */
    pcast_accumulator accumulator;
    int machine;   /* pcast_machine or PCAST_MACHINE_UNSETTLED: of tensor_core and fp16 */
    int promotion; /* to FP32: PCAST_PROMOTION_NEVER, _TILE, or after so many instructions */
    pcast_output out_format;
    pcast_lse lse;
    /* Inputs, where they are quantised. */
    pcast_qkv qkv;
    pcast_granularity q_scale, k_scale, v_scale;
    size_t scale_rows; /* tokens of a block of Q; 0: query_block */
    float v_range;     /* what the largest V becomes; 0: the largest number of the format */
    int rotation;      /* Q and K times random signs and a Hadamard matrix */
    int k_mean;        /* K less its mean over tokens */
    /* Masks, and rows that they empty. */
    pcast_mask mask;
    size_t window_left, window_right; /* keys seen to each side of the aligned one, itself counted
                                         in both (a sliding_window of W is window_left W); 0: all */
    pcast_mask_value mask_value;
    pcast_masked_rows masked_rows;
    pcast_empty_max empty_max;
    float initial_sum; /* the row sum before the first block, 0 or 1 */
    pcast_learned_sink learned_sink;
    int sink_given; /* the learned sink takes part, with this logit in nats */
    float sink_logit;
    float softcap; /* nats; 0: none */
} pcast_kernel;

/* A preset: a kernel's true fields, where they were read, and what is not known. */
typedef struct pcast_preset {
    const char *name;
    pcast_kernel kernel;
    const char *source; /* repository, file or thread, commit */
    const char *date;   /* of that source, as far as it is known: YYYY-MM-DD */
    const char *caveats;
    const char *unit_row;       /* what equal scores and V = 1 give, and why */
    double unit_low, unit_high; /* bounds of that output */
} pcast_preset;

/* All presets, `paper` first. */
size_t pcast_preset_count(void);
const pcast_preset *pcast_preset_at(size_t index);

/* Parses a SPEC into *kernel; *given (may be NULL) receives the set of fields the SPEC itself
 * names, the others come from the preset. Does not validate the combination. PCAST_ERR_VALUE names
 * what is wrong. */
pcast_status pcast_kernel_parse(const char *spec, pcast_kernel *kernel, uint64_t *given,
                                pcast_error *err);

/* Sets one field from text, as a SPEC's `field=value` does. */
pcast_status pcast_kernel_set(pcast_kernel *kernel, pcast_field field, const char *value,
                              pcast_error *err);

/* The field's value as a SPEC writes it. */
void pcast_kernel_get(const pcast_kernel *kernel, pcast_field field, char *text, size_t size);

/* PCAST_ERR_VALUE names the field that is out of range, or the combination that makes no sense and
 * why. Under hardware semantics PCAST_ERR_UNAVAILABLE names the field that the kernel's sources do
 * not settle, or the format that no machine here multiplies. */
pcast_status pcast_kernel_validate(const pcast_kernel *kernel, pcast_error *err);

/* PCAST_ERR_VALUE if `given`, the set of fields that a SPEC names, holds one that does nothing
 * under the kernel's semantics. */
pcast_status pcast_kernel_check_given(const pcast_kernel *kernel, uint64_t given, pcast_error *err);

/* block, and a query_block of 0, from block_table for a head dimension (that of Q and K), mask and
 * paging; a constant block stays. */
void pcast_kernel_resolve(pcast_kernel *kernel, size_t dim);

/* Do two kernels compute the same attention, apart from rounding: mask and window, softcap, learned
 * sink? PCAST_ERR_VALUE names the field that differs. */
pcast_status pcast_kernel_same_problem(const pcast_kernel *a, const pcast_kernel *b,
                                       pcast_error *err);

/* Names as SPECs and CSV files write them. */
const char *pcast_field_name(pcast_field field);
const char *pcast_order_name(pcast_order order);

#ifdef __cplusplus
}
#endif

#endif
