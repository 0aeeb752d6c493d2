/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial's loss as a line of text and back. Reals go through their bits, not through printf and
 * strtod: neither a locale nor a rounding mode may change a record. */
#include "pcast/records.h"

#include "base/bits.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COUNTS = 12, REALS = 6, CHECK_DIGITS = 8, FRACTION_BITS = 52, BIAS = 1023 };

uint32_t pcast_record_check(const char *text, size_t length)
{
    /* What four zero bits do to the remainder, by the four that fall out: i times the reflected
     * polynomial 0xEDB88320, without carries. */
    static const uint32_t step[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t remainder = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        remainder ^= (unsigned char)text[i];
        remainder = remainder >> 4 ^ step[remainder & 15];
        remainder = remainder >> 4 ^ step[remainder & 15];
    }
    return ~remainder;
}

/* As %a in the C locale: 0x1.8p+1, subnormal numbers with a leading 0 and p-1022, 0x0p+0. */
static size_t write_real(double x, char *text)
{
    const uint64_t bits = pcast_bits_f64(x);
    const uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    const int biased = (int)(bits >> FRACTION_BITS & 0x7ff);
    const char *sign = bits >> 63 ? "-" : "";
    if (biased == 0x7ff)
        return (size_t)sprintf(text, "%s%s", fraction != 0 ? "" : sign,
                               fraction != 0 ? "nan" : "inf");
    char digits[16];
    int count = 13;
    sprintf(digits, "%013" PRIx64, fraction);
    while (count > 0 && digits[count - 1] == '0')
        count--;
    const int exponent = biased > 0 ? biased - BIAS : fraction != 0 ? 1 - BIAS : 0;
    return (size_t)sprintf(text, "%s0x%d%s%.*sp%+d", sign, biased > 0, count > 0 ? "." : "", count,
                           digits, exponent);
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The counterpart: where the number ends, or NULL. It may take other spellings too. */
static const char *read_real(const char *at, double *x)
{
    uint64_t bits = 0;
    if (*at == '-') {
        bits = UINT64_C(1) << 63;
        at++;
    }
    if (strncmp(at, "inf", 3) == 0 || strncmp(at, "nan", 3) == 0) {
        bits |= UINT64_C(0x7ff) << FRACTION_BITS;
        bits |= *at == 'n' ? UINT64_C(1) << (FRACTION_BITS - 1) : 0;
        *x = pcast_f64_from_bits(bits);
        return at + 3;
    }
    if (strncmp(at, "0x0", 3) != 0 && strncmp(at, "0x1", 3) != 0)
        return NULL;
    const int normal = at[2] == '1';
    at += 3;
    uint64_t fraction = 0;
    if (*at == '.')
        for (int shift = FRACTION_BITS - 4; digit_value(*++at) >= 0; shift -= 4) {
            if (shift < 0)
                return NULL;
            fraction |= (uint64_t)digit_value(*at) << shift;
        }
    if (at[0] != 'p' || (at[1] != '+' && at[1] != '-'))
        return NULL;
    const int negative = at[1] == '-';
    int exponent = 0, digits = 0;
    for (at += 2; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
        exponent = 10 * exponent + (*at - '0');
    exponent = negative ? -exponent : exponent;
    if (digits == 0 || (normal && (exponent < 1 - BIAS || exponent > BIAS)) ||
        (!normal && exponent != (fraction != 0 ? 1 - BIAS : 0)))
        return NULL;
    bits |= (normal ? (uint64_t)(exponent + BIAS) << FRACTION_BITS : 0) | fraction;
    *x = pcast_f64_from_bits(bits);
    return at;
}

static const char *read_count(const char *at, uint64_t *count)
{
    const char *start = at;
    for (*count = 0; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (*count > (UINT64_MAX - digit) / 10)
            return NULL;
        *count = 10 * *count + digit;
    }
    return at > start ? at : NULL;
}

size_t pcast_record_write(const pcast_record *record, char text[PCAST_RECORD_MAX])
{
    const pcast_loss *loss = &record->loss;
    const uint64_t counts[COUNTS] = {record->shape,  record->trial,         record->kernel,
                                     record->delta,  loss->other,           loss->flushed,
                                     loss->outside,  loss->outside_flushed, loss->subnormal,
                                     loss->unmasked, loss->saturated,       loss->channels};
    const double reals[REALS] = {loss->mass,   loss->kept,       loss->mse_given_p,
                                 loss->error2, loss->reference2, loss->max_abs};
    size_t length = 0;
    for (int i = 0; i < COUNTS; i++)
        length += (size_t)sprintf(text + length, "%" PRIu64 " ", counts[i]);
    for (int i = 0; i < REALS; i++) {
        length += write_real(reals[i], text + length);
        text[length++] = ' ';
    }
    const uint32_t check = pcast_record_check(text, length - 1);
    return length + (size_t)sprintf(text + length, "%08" PRIx32 "\n", check);
}

/* Fields up to the check; where it begins, or NULL. */
static const char *read_fields(const char *at, pcast_record *record)
{
    pcast_loss *loss = &record->loss;
    uint64_t *const counts[COUNTS] = {&record->shape,  &record->trial,         &record->kernel,
                                      &record->delta,  &loss->other,           &loss->flushed,
                                      &loss->outside,  &loss->outside_flushed, &loss->subnormal,
                                      &loss->unmasked, &loss->saturated,       &loss->channels};
    double *const reals[REALS] = {&loss->mass,   &loss->kept,       &loss->mse_given_p,
                                  &loss->error2, &loss->reference2, &loss->max_abs};
    for (int i = 0; at != NULL && i < COUNTS + REALS; i++) {
        at = i < COUNTS ? read_count(at, counts[i]) : read_real(at, reals[i - COUNTS]);
        if (at != NULL && *at++ != ' ')
            return NULL;
    }
    return at;
}

pcast_status pcast_record_read(const char *line, size_t length, pcast_record *record,
                               pcast_error *err)
{
    char copy[PCAST_RECORD_MAX] = "", again[PCAST_RECORD_MAX];
    if (length > CHECK_DIGITS && length < sizeof copy - 1)
        memcpy(copy, line, length);
    const char *check = read_fields(copy, record);
    if (check == NULL)
        return pcast_fail(err, PCAST_ERR_INPUT, "is no record");
    /* Whatever is written otherwise than it would be is damaged, the check included. */
    const size_t expected = pcast_record_write(record, again) - 1;
    if (expected == length && memcmp(again, copy, length) == 0)
        return PCAST_OK;
    return pcast_fail(err, PCAST_ERR_INPUT, "is damaged: its check does not fit");
}
