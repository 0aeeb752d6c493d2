/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast info: what this build is and what it runs on. */
#include "cli.h"

#include "cuda/driver.h"

#include <gsl/gsl_version.h>
#include <jansson.h>
#include <omp.h>

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    (void)key;
    (void)arg;
    (void)state;
    return ARGP_ERR_UNKNOWN;
}

static void print_cuda(void)
{
    pcast_cuda *cuda;
    pcast_error err;
    if (!pcast_cuda_built()) {
        printf("cuda: not built, nvcc was not found\n");
    } else if (pcast_cuda_open(&cuda, &err) != PCAST_OK) {
        printf("cuda: built for sm_90a; no such device here\n");
    } else {
        printf("cuda: built for sm_90a; %s\n", pcast_cuda_about(cuda)->name);
        pcast_cuda_close(cuda);
    }
}

int cli_info(int argc, char **argv)
{
    static const struct argp_option options[] = {{"help", 'h', NULL, 0, "print this help", -1},
                                                 {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Prints version, compiler, CPU level, processors, libraries and GPU, one a line.",
    };
    const int code = cli_parse(&argp, argc, argv, NULL);
    if (code != EXIT_OK)
        return code < 0 ? EXIT_OK : code;
    printf("version: %s\n", PCAST_VERSION);
    printf("compiler: %s\n", PCAST_COMPILER);
    printf("cpu level: %s\n", pcast_cpu_name(pcast_cpu_detect()));
    printf("processors: %d\n", omp_get_num_procs());
    printf("gsl: %s\n", gsl_version);
    printf("jansson: %s\n", JANSSON_VERSION);
    print_cuda();
    return EXIT_OK;
}
