/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gauss-Legendre nodes, cell by cell of E4M3. */
#include "theory/cast_nodes.h"

#include "pcast/format.h"

#include "base/bits.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>

/* At unit length, cells of normal codes are at most ln(9/8) = 0.12 wide, where two points integrate
 * the smooth factors to 1e-6; wider stretches get twelve points for each nat. */
enum { NARROW_POINTS = 3, WIDE_POINTS = 12, CODES = 127 };
#define NARROW 0.2

typedef struct builder {
    pcast_cast_nodes *nodes;
    gsl_integration_glfixed_table *narrow, *wide;
    double length;
} builder;

static void add_points(builder *build, double low, double high, int is_wide, double cast)
{
    pcast_cast_nodes *nodes = build->nodes;
    for (size_t i = 0; i < (is_wide ? WIDE_POINTS : NARROW_POINTS); i++) {
        gsl_integration_glfixed_point(low, high, i, &nodes->x[nodes->count],
                                      &nodes->weight[nodes->count],
                                      is_wide ? build->wide : build->narrow);
        nodes->cast[nodes->count++] = cast;
    }
}

/* Pieces of one length from below `low` up to high: where they lie does not depend on low. */
static void add_flushed(builder *build, double low, double high)
{
    for (int piece = (int)ceil((high - low) / build->length); piece > 0; piece--)
        add_points(build, high - piece * build->length, high - (piece - 1) * build->length, 1, 0);
}

static void add_cell(builder *build, double low, double high, double cast)
{
    const int is_wide = high - low > NARROW * build->length;
    const int pieces = is_wide ? (int)ceil((high - low) / build->length) : 1;
    const double width = (high - low) / pieces;
    for (int piece = 0; piece < pieces; piece++)
        add_points(build, low + piece * width, low + (piece + 1) * width, is_wide, cast);
}

/* Where S e^x passes the midpoint between code and code + 1; 0 if that lies above S. */
static double upper_edge(int code, double scale)
{
    if (code + 1 == CODES) /* beyond 448 everything saturates to the last code */
        return 0;
    const double midpoint = (pcast_decode_f64(PCAST_E4M3, (uint64_t)code) +
                             pcast_decode_f64(PCAST_E4M3, (uint64_t)code + 1)) /
                            2;
    return midpoint < scale ? log(midpoint / scale) : 0;
}

int pcast_cast_nodes_init(pcast_cast_nodes *nodes, double scale, double low, double length)
{
    const double first_edge = upper_edge(0, scale);
    const size_t capacity =
        (size_t)(WIDE_POINTS * (ceil((fabs(first_edge) - low) / length) + 2.0 * CODES));
    *nodes = (pcast_cast_nodes){0};
    builder build = {nodes, gsl_integration_glfixed_table_alloc(NARROW_POINTS),
                     gsl_integration_glfixed_table_alloc(WIDE_POINTS), length};
    nodes->x = calloc(capacity, sizeof *nodes->x);
    nodes->weight = calloc(capacity, sizeof *nodes->weight);
    nodes->cast = calloc(capacity, sizeof *nodes->cast);
    const int ok = build.narrow != NULL && build.wide != NULL && nodes->x != NULL &&
                   nodes->weight != NULL && nodes->cast != NULL;
    if (ok) {
        add_flushed(&build, low, first_edge);
        double edge = first_edge;
        for (int code = 1; code < CODES && edge < 0; code++) {
            const double next = upper_edge(code, scale);
            if (next > low)
                add_cell(&build, edge, next, pcast_decode_f64(PCAST_E4M3, (uint64_t)code) / scale);
            edge = next;
        }
    } else {
        pcast_cast_nodes_free(nodes);
    }
    if (build.narrow != NULL)
        gsl_integration_glfixed_table_free(build.narrow);
    if (build.wide != NULL)
        gsl_integration_glfixed_table_free(build.wide);
    return ok;
}

void pcast_cast_nodes_free(pcast_cast_nodes *nodes)
{
    free(nodes->x);
    free(nodes->weight);
    free(nodes->cast);
    *nodes = (pcast_cast_nodes){0};
}

double pcast_cast_of_maximum(double scale)
{
    const uint64_t code =
        pcast_convert(PCAST_E4M3, PCAST_F64, pcast_bits_f64(scale), (pcast_cast){0});
    return pcast_decode_f64(PCAST_E4M3, code) / scale;
}
