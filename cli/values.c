/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of text to the bits of a format, with one rounding. */
#include "values.h"

#include "cli.h"

#include "base/bits.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const pcast_cast values_as_is = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};

/* A decimal or hex-float text rounded to odd in binary64: enough bits below any narrower format's
 * last one for a second rounding to be right. strtod follows the rounding mode, so two directed
 * conversions tell whether the text is exact. */
static double parse_to_odd(const char *text, char **end)
{
    fesetround(FE_TOWARDZERO);
    const double inner = strtod(text, end);
    fesetround(FE_UPWARD);
    const double up = strtod(text, NULL);
    fesetround(FE_DOWNWARD);
    const double down = strtod(text, NULL);
    fesetround(FE_TONEAREST);
    return up == down || inner != inner ? inner : pcast_f64_from_bits(pcast_bits_f64(inner) | 1);
}

/* The bits in `format` of a line's text, rounded once; returns 0 if the text is no value of it. */
static int parse_value(const char *text, pcast_format format, uint64_t *bits)
{
    char *end;
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') &&
        strpbrk(text, ".pP") == NULL) {
        if (digits != text) /* bits have no sign of their own */
            return 0;
        errno = 0;
        *bits = strtoull(text, &end, 16);
        return end != text && *end == '\0' && errno == 0 &&
               (pcast_format_width(format) == 64 || *bits >> pcast_format_width(format) == 0);
    }
    if (!isdigit((unsigned char)digits[0]) && digits[0] != '.' && strcasecmp(digits, "inf") != 0 &&
        strcasecmp(digits, "infinity") != 0 && strcasecmp(digits, "nan") != 0)
        return 0;
    if (format == PCAST_F64) {
        *bits = pcast_bits_f64(strtod(text, &end));
        return *end == '\0';
    }
    const double value = parse_to_odd(text, &end);
    *bits = pcast_convert(format, PCAST_F64, pcast_bits_f64(value), values_as_is);
    if (isnan(pcast_decode_f64(format, *bits)) && !isnan(value)) /* too large, and no infinity */
        *bits = pcast_convert(format, PCAST_F64, pcast_bits_f64(value), (pcast_cast){0});
    return *end == '\0';
}

/* The line without surrounding space. */
static char *trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    for (size_t length = strlen(line); length > 0 && isspace((unsigned char)line[length - 1]);
         length--)
        line[length - 1] = '\0';
    return line;
}

int values_open(values_source *source, const char *name, const char *path)
{
    *source = (values_source){name, "standard input", stdin};
    if (path == NULL || strcmp(path, "-") == 0)
        return EXIT_OK;
    *source = (values_source){name, path, fopen(path, "r")};
    return source->file != NULL ? EXIT_OK
                                : cli_fail(EXIT_INPUT, name, "%s: %s", path, strerror(errno));
}

int values_each(values_source *source, pcast_format format, values_take *take, void *context)
{
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    int code = EXIT_OK;
    while (code == EXIT_OK && (length = getline(&line, &capacity, source->file)) >= 0) {
        uint64_t bits;
        const int whole = strlen(line) == (size_t)length; /* no NUL inside */
        const char *text = trim(line);
        number++;
        if (*text == '\0' && whole)
            continue;
        if (whole && parse_value(text, format, &bits))
            take(context, text, bits);
        else
            code = cli_fail(EXIT_INPUT, source->name, "%s, line %zu: '%.60s' is no %s value",
                            source->path, number, text, pcast_format_name(format));
    }
    if (code == EXIT_OK && ferror(source->file))
        code = cli_fail(EXIT_INPUT, source->name, "%s: %s", source->path, strerror(errno));
    free(line);
    if (source->file != stdin)
        fclose(source->file);
    return code;
}

void values_write_bits(csv_writer *csv, pcast_format format, uint64_t bits)
{
    char digits[17], text[24];
    snprintf(digits, sizeof digits, "%016" PRIX64, bits);
    snprintf(text, sizeof text, "0x%s", digits + 16 - pcast_format_width(format) / 4);
    csv_text(csv, text);
}
