/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the subcommands of pcast golden share. */
#ifndef PCAST_CLI_GOLDEN_H
#define PCAST_CLI_GOLDEN_H

#include "cli.h"

#include "golden/manifest.h"
#include "pcast/golden.h"

/* argv[0] is "pcast golden NAME"; return exit codes. */
int golden_make(int argc, char **argv);
int golden_check(int argc, char **argv);
int golden_probes(int argc, char **argv);

enum { GOLDEN_DIM = 128 }; /* of heads, where no option says it */

/* For an argp parser: --dim, which is 64, 128 or 256. */
error_t golden_take_dim(const char *arg, unsigned long long *dim, struct argp_state *state);

/* For an argp parser: --probe, ids that are added to a list; --unknown, fields that are added to a
 * set. */
error_t golden_take_probes(const char *arg, cli_list *probes, struct argp_state *state);
error_t golden_take_unknown(const char *arg, uint64_t *unknown, struct argp_state *state);

/* A suite that is being made. */
typedef struct golden_suite {
    const char *folder;
    pcast_cpu cpu;
    pcast_manifest manifest;
} golden_suite;

/* Makes the folder where there is none. PCAST_ERR_OUTPUT: it cannot be made, or it is neither empty
 * nor a suite. Of a suite the manifest is removed: without one a folder is no suite, so a reader
 * never sees a mixture of two. */
pcast_status golden_folder_prepare(const char *folder, pcast_error *err);

/* A file of the suite, at a path in its folder; to be committed. */
pcast_status golden_folder_open(const char *folder, const char *path, cli_output *output,
                                pcast_error *err);

/* run_numpy.py and run_torch.py. */
pcast_status golden_write_runners(const char *folder, pcast_error *err);

/* Builds a probe and writes its inputs and expectations; entry becomes what the manifest says. */
pcast_status golden_write_probe(golden_suite *suite, const pcast_probe *probe, size_t dim,
                                pcast_manifest_probe *entry, pcast_error *err);

/* How well a problem, which the probe built, separates one of the probe's faults on its reference
 * kernel. PCAST_ERR_VALUE: less than GOLDEN_MARGIN times what is legitimate. */
pcast_status golden_margin(const pcast_probe *probe, const pcast_problem *problem,
                           const pcast_fault *fault, double *margin, pcast_error *err);
#define GOLDEN_MARGIN 1.5

/* A kernel's answer to a probe in its folder of outputs: ID_o.npy and ID_lse.npy, or ID.safetensors
 * with o and lse; free both. *o is NULL where there is none, *lse where it is left out.
 * PCAST_ERR_INPUT: unreadable, malformed, or another shape. */
pcast_status golden_read_answer(const char *folder, const pcast_manifest_probe *probe, float **o,
                                float **lse, pcast_error *err);

/* Classes of a probe's faults, each once, into classes; returns how many. */
size_t golden_fault_classes(const pcast_probe *probe, const char *classes[PCAST_PROBE_FAULTS]);

#endif
