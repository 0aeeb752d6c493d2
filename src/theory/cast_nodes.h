/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quadrature nodes over x = score - running maximum that follow the cells of E4M3. */
#ifndef PCAST_THEORY_CAST_NODES_H
#define PCAST_THEORY_CAST_NODES_H

#include <stddef.h>

/* int f(x) dx = sum weight f(x) over x <= 0, split where S e^x crosses from one code to the next,
 * so that the cast is constant between. */
typedef struct pcast_cast_nodes {
    size_t count;
    double *x, *weight;
    double *cast; /* E4M3(S e^x) / S, saturating */
} pcast_cast_nodes;

/* Nodes from low (< 0) or somewhat below it to 0 for integrands that are smooth over `length` nats
 * (at most 1). Those above low do not depend on it. Returns 0 when memory runs out. */
int pcast_cast_nodes_init(pcast_cast_nodes *nodes, double scale, double low, double length);
void pcast_cast_nodes_free(pcast_cast_nodes *nodes);

/* E4M3(S) / S: what the maximum itself is cast to. */
double pcast_cast_of_maximum(double scale);

#endif
