/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pcast cuda: parts of the check on a device, and the file that keeps what they found. */
#ifndef PCAST_CLI_CUDA_H
#define PCAST_CLI_CUDA_H

#include "cli.h"

#include "cuda/attention_check.h"
#include "cuda/check.h"
#include "cuda/strict.h"

#include <jansson.h>

/* A compared device, "13.0": its driver's CUDA. */
const char *cuda_driver_text(const pcast_cuda_info *info, char text[16]);

/* The parts that there are, in the order in which they run; NULL behind the last. */
const pcast_check_part *cuda_part_at(size_t index);

int cuda_check(int argc, char **argv);

/* What a run writes, as JSON, complete after each part. */
typedef struct cuda_record {
    const char *name, *path; /* the command's; path NULL: nothing is kept */
    json_t *json;
} cuda_record;

/* Takes what the file at `path` holds, or begins a new record; `again` begins one also where the
 * file is of another build, device or driver. Returns an exit code, after one line where the file
 * is none of ours, of another or cannot be written. */
int cuda_record_open(cuda_record *record, const char *name, const char *path,
                     const pcast_cuda_info *info, int again);
void cuda_record_close(cuda_record *record);

/* The part's numbers where they are there, and not of a sample unless `quick`. */
int cuda_record_find(const cuda_record *record, const pcast_check_part *part, int quick,
                     pcast_check_result *result, double *seconds);
/* Adds them and writes the file anew. Returns an exit code. */
int cuda_record_add(cuda_record *record, const pcast_check_part *part, int quick,
                    const pcast_check_result *result, double seconds);

#endif
