/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an HTML page is made of: text that means nothing but itself, and pictures within the page.
 */
#ifndef PCAST_CLI_HTML_H
#define PCAST_CLI_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Any bytes as text or as the value of a quoted attribute; what is no UTF-8 and what HTML does not
 * allow becomes U+FFFD. */
void html_text(FILE *out, const char *text);

/* gnuplot's SVG as an element of the page: role img, described by the element with the id `name`
 * and "-caption". The picture's own ids and references get name and a hyphen in front, so that
 * several share a page. */
void html_picture(FILE *out, const char *svg, size_t size, const char *name);

#endif
