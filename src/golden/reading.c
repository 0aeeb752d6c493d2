/* SPDX-License-Identifier: MIT */
/* From a declaration to what it allows. */
#include "golden/reading.h"

#include "base/error.h"
#include "math/constants.h"

#define BIT(field) (UINT64_C(1) << PCAST_FIELD_##field)

/* Fields that decide under which maximum a key is cast. */
static const uint64_t walk_fields =
    BIT(BLOCK) | BIT(TRAVERSAL) | BIT(PAGED) | BIT(QUERY_BLOCK) | BIT(SPLITS) | BIT(PARTITION) |
    BIT(PARTIALS) | BIT(SCALE) | BIT(RESCALE_THRESHOLD) | BIT(THRESHOLD_UNIT) |
    BIT(THRESHOLD_TEST) | BIT(NORMALISE) | BIT(MASK_VALUE) | BIT(EMPTY_MAX) | BIT(INITIAL_SUM) |
    BIT(LEARNED_SINK) | BIT(P_FORMAT);

/* Largest errors of exponential units, relative: of those within 2 ulp, and of polynomials of
 * degree 3 (numerics.md, section 11). */
#define EXP_ERROR_UNIT 0x1p-21
#define EXP_ERROR_POLY 1e-4
/* The maximum lags by at most so much in any kernel known: 8 in log2 units. */
#define LAG_MAX (8 * PCAST_LN2)

pcast_declaration pcast_declaration_of_nothing(void)
{
    pcast_declaration declaration = {.unknown = (UINT64_C(1) << PCAST_FIELD_COUNT) - 1};
    pcast_kernel_parse("paper", &declaration.kernel, NULL, NULL);
    return declaration;
}

int pcast_declaration_walks_freely(const pcast_declaration *declaration)
{
    return (declaration->unknown & walk_fields) != 0;
}

/* Two orders where the walk is known but for them; where it is not, P normalised at the end and
 * before the cast. */
size_t pcast_reading_count(const pcast_declaration *declaration)
{
    const uint64_t choice =
        pcast_declaration_walks_freely(declaration) ? BIT(NORMALISE) : BIT(ORDER);
    return (declaration->unknown & choice) != 0 ? 2 : 1;
}

static double lag_of(const pcast_kernel *kernel, uint64_t unknown)
{
    const int log2 = kernel->threshold_unit == PCAST_THRESHOLD_LOG2 &&
                     (unknown & BIT(THRESHOLD_UNIT)) == 0; /* the other is wider */
    return (double)kernel->rescale_threshold * (log2 ? PCAST_LN2 : 1);
}

static double exp_error_of(const pcast_kernel *kernel, uint64_t unknown)
{
    const int poly = kernel->exp_unit == PCAST_EXP_UNIT_FA4_POLY3 ||
                     kernel->exp_unit == PCAST_EXP_UNIT_FA4_POLY5 ||
                     kernel->exp_unit == PCAST_EXP_UNIT_FA4_MIX ||
                     kernel->exp_unit == PCAST_EXP_UNIT_UNSETTLED;
    return poly || (unknown & BIT(EXP_UNIT)) != 0 ? EXP_ERROR_POLY : EXP_ERROR_UNIT;
}

static pcast_summation summation_of(const pcast_kernel *kernel, uint64_t unknown)
{
    const int known_machine = kernel->machine != PCAST_MACHINE_UNSETTLED &&
                              (unknown & (BIT(MACHINE) | BIT(PROMOTION))) == 0;
    const int hardware =
        kernel->semantics == PCAST_SEMANTICS_HARDWARE && (unknown & BIT(SEMANTICS)) == 0;
    if ((unknown & BIT(ACCUMULATOR)) != 0)
        return PCAST_SUMMATION_ANY;
    switch (kernel->accumulator) {
    case PCAST_ACCUMULATOR_FP16:
        return hardware && known_machine ? PCAST_SUMMATION_MACHINE : PCAST_SUMMATION_FP16;
    case PCAST_ACCUMULATOR_TENSOR_CORE:
        return !known_machine ? PCAST_SUMMATION_ANY
               : hardware     ? PCAST_SUMMATION_MACHINE
                              : PCAST_SUMMATION_EITHER;
    default:
        return PCAST_SUMMATION_FP32;
    }
}

static double partial_error_of(const pcast_kernel *kernel, uint64_t unknown)
{
    const int splits = kernel->splits > 1 || kernel->partition > 0 ||
                       (unknown & (BIT(SPLITS) | BIT(PARTITION))) != 0;
    if (!splits)
        return 0;
    if (kernel->partials == PCAST_OUTPUT_BF16 || (unknown & BIT(PARTIALS)) != 0)
        return 0x1p-8;
    return kernel->partials == PCAST_OUTPUT_F16 ? 0x1p-11 : 0x1p-24;
}

pcast_status pcast_reading_of(const pcast_problem *problem, const pcast_declaration *declaration,
                              size_t index, const pcast_fault *fault, pcast_reading *reading,
                              pcast_error *err)
{
    const uint64_t unknown = declaration->unknown;
    pcast_kernel *kernel = &reading->kernel;
    *reading = (pcast_reading){.kernel = declaration->kernel};
    if (fault != NULL && fault->choose != NULL)
        fault->choose(kernel);
    reading->free_walk = pcast_declaration_walks_freely(declaration);
    if (pcast_reading_count(declaration) > 1 && reading->free_walk)
        kernel->normalise = index == 0 ? PCAST_NORMALISE_END : PCAST_NORMALISE_PARTITION;
    else if (pcast_reading_count(declaration) > 1)
        kernel->order = index == 0 ? PCAST_ORDER_FORWARD : PCAST_ORDER_REVERSE;
    reading->normalises = reading->free_walk && kernel->normalise == PCAST_NORMALISE_PARTITION;
    kernel->mask = problem->mask;
    kernel->window_left = problem->window_left;
    kernel->window_right = problem->window_right;
    pcast_kernel_resolve(kernel, problem->dim);
    if (kernel->softcap != 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "softcap: golden problems have none");
    if (!(kernel->scale > 0) || kernel->block == 0)
        return pcast_fail(err, PCAST_ERR_VALUE, "%s: not a kernel's",
                          kernel->block == 0 ? "block" : "scale");
    reading->slip = fault != NULL ? fault->slip : PCAST_SLIP_NONE;
    reading->mask_shift = fault != NULL ? fault->mask_shift : 0;
    reading->any_scale = (unknown & (BIT(SCALE) | BIT(P_FORMAT))) != 0;
    reading->any_sum = (unknown & BIT(ROW_SUM)) != 0;
    reading->any_lse = (unknown & BIT(LSE)) != 0;
    reading->any_empty_max = (unknown & BIT(EMPTY_MAX)) != 0;
    reading->any_sentinel = (unknown & BIT(MASK_VALUE)) != 0;
    if ((unknown & BIT(PROMOTION)) != 0) /* an FP16 accumulator is taken to be promoted */
        kernel->promotion = PCAST_PROMOTION_TILE;
    reading->any_overflow = (unknown & BIT(OVERFLOW)) != 0;
    reading->any_unit = (unknown & (BIT(MAX_OVER) | BIT(EXPONENT))) != 0;
    reading->any_masked_row =
        (unknown & (BIT(MASKED_ROWS) | BIT(MASK_VALUE) | BIT(EMPTY_MAX))) != 0;
    reading->may_start_with_sink =
        (unknown & BIT(LEARNED_SINK)) != 0 || kernel->learned_sink == PCAST_LEARNED_SINK_INITIAL;
    reading->lag = (unknown & BIT(RESCALE_THRESHOLD)) != 0 ? LAG_MAX : lag_of(kernel, unknown);
    reading->exp_error = exp_error_of(kernel, unknown);
    reading->partial_error = partial_error_of(kernel, unknown);
    reading->summation = summation_of(kernel, unknown);
    return PCAST_OK;
}
