/* SPDX-License-Identifier: MIT */
/* A fuzz target is this one function. Linked with replay.c it runs its corpus and simple mutations
 * of it; built with clang -fsanitize=fuzzer it is a libFuzzer target. */
#ifndef PCAST_TESTS_FUZZ_H
#define PCAST_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
