/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Escaping, and SVG within a page. */
#include "html.h"

#include <stdint.h>
#include <string.h>

/* The code point that UTF-8 text begins with and its bytes; U+FFFD and 1 where it is none. */
static uint32_t next_point(const unsigned char *text, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = text[0];
    const size_t count = first < 0x80             ? 1
                         : (first & 0xE0) == 0xC0 ? 2
                         : (first & 0xF0) == 0xE0 ? 3
                         : (first & 0xF8) == 0xF0 ? 4
                                                  : 0;
    uint32_t point = count == 1 ? first : first & (0x7Fu >> count);
    *length = 1;
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0xFFFD;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (count == 0 || point < least[count] || point > 0x10FFFF || (point >> 11) == 0x1B)
        return 0xFFFD;
    *length = count;
    return point;
}

/* Neither a control character nor one of Unicode's noncharacters. */
static int is_allowed(uint32_t point)
{
    const int is_control =
        (point < 0x20 && point != '\t' && point != '\n') || (point >= 0x7F && point < 0xA0);
    return !is_control && (point & 0xFFFE) != 0xFFFE && !(point >= 0xFDD0 && point <= 0xFDEF);
}

void html_text(FILE *out, const char *text)
{
    size_t length;
    for (; *text != '\0'; text += length) {
        const uint32_t point = next_point((const unsigned char *)text, &length);
        if (point == '&')
            fputs("&amp;", out);
        else if (point == '<')
            fputs("&lt;", out);
        else if (point == '>')
            fputs("&gt;", out);
        else if (point == '"')
            fputs("&quot;", out);
        else if (point == '\'')
            fputs("&#39;", out);
        else if (point == 0xFFFD || !is_allowed(point))
            fputs("&#xFFFD;", out);
        else
            fwrite(text, 1, length, out);
    }
}

/* Where an id or a reference to one begins, if text begins with its mark; else 0. */
static size_t mark_length(const char *text, size_t left)
{
    static const char *const marks[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const size_t length = strlen(marks[i]);
        if (left >= length && memcmp(text, marks[i], length) == 0)
            return length;
    }
    return 0;
}

static void put_view_box(FILE *out, const char *svg, size_t size)
{
    const char *box = memmem(svg, size, "viewBox=\"", 9);
    const char *end = box != NULL ? memchr(box + 9, '"', size - (size_t)(box + 9 - svg)) : NULL;
    if (end != NULL)
        fprintf(out, " %.*s", (int)(end + 1 - box), box);
}

void html_picture(FILE *out, const char *svg, size_t size, const char *name)
{
    static const char canvas[] = "<g id=\"gnuplot_canvas\">"; /* what goes before is no picture */
    const char *at = memmem(svg, size, canvas, sizeof canvas - 1);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                 "xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    put_view_box(out, svg, size);
    fprintf(out, " role=\"img\" aria-labelledby=\"%s-caption\">\n", name);
    for (const char *end = svg + size; at != NULL && at < end;) {
        const size_t length = mark_length(at, (size_t)(end - at));
        fwrite(at, 1, length > 0 ? length : 1, out);
        if (length > 0)
            fprintf(out, "%s-", name);
        at += length > 0 ? length : 1;
    }
}
