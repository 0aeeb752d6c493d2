/* SPDX-License-Identifier: MIT */
/* replay FILE...: runs a fuzz target on each file and on 20000 mutations of it (bytes changed, cut,
 * doubled), always the same ones. A crash names itself through the sanitizers or a signal. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MUTATIONS = 20000, MAX = 4096 };

static uint64_t state = 88172645463325252u;

static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n > 0 ? (size_t)(state % n) : 0;
}

/* Each input in its own allocation of exactly its size, so that a sanitizer sees one byte too far.
 */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void mutate(const uint8_t *seed, size_t size)
{
    static const char interesting[] = "\0\xff'\":,(){}[];=<>|-0129e.";
    uint8_t bytes[2 * MAX];
    memcpy(bytes, seed, size);
    for (size_t n = 1 + below(6); n > 0; n--) {
        const size_t at = below(size + 1);
        switch (below(4)) {
        case 0:
            if (at < size)
                bytes[at] = (uint8_t)below(256);
            break;
        case 1:
            if (at < size)
                bytes[at] = (uint8_t)interesting[below(sizeof interesting)];
            break;
        case 2: /* cut out a piece */
            if (at < size) {
                const size_t length = 1 + below(size - at);
                memmove(bytes + at, bytes + at + length, size - at - length);
                size -= length;
            }
            break;
        default: /* repeat a piece */
            if (size < MAX && at < size) {
                const size_t length = 1 + below(size - at);
                memmove(bytes + at + length, bytes + at, size - at);
                size += length;
            }
        }
    }
    run(bytes, size);
}

int main(int argc, char **argv)
{
    size_t inputs = 0;
    for (int i = 1; i < argc; i++) {
        static uint8_t seed[MAX];
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        const size_t size = fread(seed, 1, sizeof seed, file);
        fclose(file);
        run(seed, size);
        for (int n = 0; n < MUTATIONS; n++)
            mutate(seed, size);
        inputs += 1 + MUTATIONS;
    }
    printf("%zu inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
