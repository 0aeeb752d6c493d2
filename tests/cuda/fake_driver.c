/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 without a device: memory is the host's, and a probe's kernel is a loop over the
 * library's models, one number at a time. It tests what is between the command and the driver.
 * PCAST_FAKE_CUDA says what is wrong with it:
 *
 *   old     the device's compute capability is 8.9
 *   none    there is no device
 *   image   it does not take the kernels
 *   memory  there is no memory
 *   fail    every launch fails
 *   flip    rcp's lowest bit is wrong for arguments from 0x40000000 on, the tensor core has a -0,
 *           the lowest bit of a group's first output is wrong */
#include "base/bits.h"
#include "base/fpenv.h"
#include "cuda/attention_kernel.h"
#include "cuda/probe_inputs.h"
#include "cuda/row_kernel.h"
#include "cuda/tile.h"
#include "hardware/units.h"
#include "pcast/format.h"
#include "pcast/tensor_core.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    OK = 0,
    NO_CONTEXT = 201,
    NO_MEMORY = 2,
    NO_DEVICE = 100,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719
};

static int is_faulty(const char *how)
{
    const char *chosen = getenv("PCAST_FAKE_CUDA");
    return chosen != NULL && strcmp(chosen, how) == 0;
}

int cuInit(unsigned flags)
{
    return flags == 0 && !is_faulty("none") ? OK : NO_DEVICE;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return OK;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return OK;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return OK;
}

int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    snprintf(name, (size_t)length, "Fake H200");
    return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    switch (attribute) {
    case 16: /* processors */
        *value = 132;
        return OK;
    case 75: /* compute capability */
        *value = is_faulty("old") ? 8 : 9;
        return OK;
    case 76:
        *value = is_faulty("old") ? 9 : 0;
        return OK;
    case 97: /* shared memory */
        *value = 232448;
        return OK;
    default:
        return NOT_FOUND;
    }
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 37;
    return OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static char the_context;
    (void)device;
    *context = &the_context;
    return OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

/* Of each thread, as it is in CUDA. */
static _Thread_local void *current;

int cuCtxSetCurrent(void *context)
{
    current = context;
    return context != NULL ? OK : NOT_FOUND;
}

int cuCtxSynchronize(void)
{
    return OK;
}

/* A cubin is an ELF file. */
int cuModuleLoadData(void **module, const void *image)
{
    static char the_module;
    *module = &the_module;
    return memcmp(image, "\177ELF", 4) == 0 && !is_faulty("image") ? OK : NOT_FOUND;
}

int cuModuleUnload(void *module)
{
    return module != NULL ? OK : NOT_FOUND;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    if (current == NULL)
        return NO_CONTEXT;
    if (is_faulty("memory"))
        return NO_MEMORY;
    *address = (uint64_t)(uintptr_t)malloc(bytes);
    return OK;
}

int cuMemFree_v2(uint64_t address)
{
    free((void *)(uintptr_t)address);
    return OK;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    if (current == NULL)
        return NO_CONTEXT;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return OK;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    if (current == NULL)
        return NO_CONTEXT;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

int cuGetErrorName(int code, const char **name)
{
    *name = code == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE";
    return OK;
}

int cuGetErrorString(int code, const char **text)
{
    *text = code == NO_DEVICE ? "no CUDA-capable device is detected" : "as was asked for";
    return OK;
}

/* What a kernel was launched with. */
typedef struct launch {
    unsigned blocks, threads, shared_bytes;
    void **arguments;
} launch;

static uint32_t number(const launch *grid, int argument)
{
    uint32_t value;
    memcpy(&value, grid->arguments[argument], sizeof value);
    return value;
}

static void *memory(const launch *grid, int argument)
{
    uint64_t address;
    memcpy(&address, grid->arguments[argument], sizeof address);
    return (void *)(uintptr_t)address;
}

static void run_unit(const launch *grid, float (*unit)(float))
{
    uint32_t *out = memory(grid, 3);
    const int flip = unit == pcast_rcp_ftz && is_faulty("flip");
    for (uint32_t i = 0; i < number(grid, 2) && i / grid->threads < grid->blocks; i++) {
        const uint32_t x = number(grid, 0) + i * number(grid, 1);
        out[i] = pcast_bits_f32(unit(pcast_f32_from_bits(x))) ^ (flip && x >> 30 == 1);
    }
}

static void run_cvt(const launch *grid, pcast_format format)
{
    uint16_t *out = memory(grid, 3);
    for (uint32_t i = 0; i < number(grid, 2) && i / grid->threads < grid->blocks; i++) {
        const uint32_t x = number(grid, 0) + i * number(grid, 1);
        const uint64_t low = pcast_convert(format, PCAST_F32, x, (pcast_cast){0});
        const uint64_t high =
            pcast_convert(format, PCAST_F32, pcast_probe_partner(x), (pcast_cast){0});
        out[i] = (uint16_t)(low | high << 8);
    }
}

/* "SOURCE_nN_A_B": every element by itself. */
static int run_wgmma(const launch *grid, const char *name)
{
    unsigned n;
    char source[3], a_name[8], b_name[8];
    if (sscanf(name, "%2[rs]_n%u_%7[^_]_%7s", source, &n, a_name, b_name) != 4)
        return NOT_FOUND;
    const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA,
                                    strcmp(a_name, "e5m2") == 0 ? PCAST_E5M2 : PCAST_E4M3,
                                    strcmp(b_name, "e5m2") == 0 ? PCAST_E5M2 : PCAST_E4M3,
                                    PCAST_TENSOR_CORE_F32, pcast_cpu_detect()};
    const uint8_t *a = memory(grid, 0), *b = memory(grid, 1);
    const uint32_t *c = memory(grid, 2);
    uint32_t *d = memory(grid, 3);
    const size_t k = number(grid, 4) * PCAST_TILE_KEYS;
    const size_t tiles = grid->blocks * n / PCAST_PROBE_COLUMNS;
    const size_t shared = (n + (source[0] == 's' ? PCAST_PROBE_ROWS : 0)) * k;
    if (grid->threads != 128 || grid->shared_bytes != shared)
        return LAUNCH_FAILED;
#pragma omp parallel for
    for (size_t row = 0; row < tiles * PCAST_PROBE_ROWS; row++)
        for (size_t j = 0; j < PCAST_PROBE_COLUMNS; j++) {
            const size_t at = row * PCAST_PROBE_COLUMNS + j;
            const size_t column = row / PCAST_PROBE_ROWS * PCAST_PROBE_COLUMNS + j;
            float sum = number(grid, 5) ? pcast_f32_from_bits(c[at]) : 0;
            pcast_tensor_core_dots(&core, a + row * k, b + column * k, 1, k, &sum);
            const uint32_t bits = pcast_bits_f32(sum);
            d[at] = bits == 0 && c[at] >> 31 && is_faulty("flip") ? 0x80000000 : bits;
        }
    return OK;
}

static void row_thread(pcast_block *self, const void *arguments, void *shared)
{
    pcast_row_group_run(self, arguments, shared);
}

static void attention_thread(pcast_block *self, const void *arguments, void *shared)
{
    const pcast_attention_group *group = arguments;
    pcast_attention_run(self, group, shared, group->job.dim / PCAST_MMA_COLUMNS);
}

/* A kernel of our own is replayed; o is where a block's first output goes. */
static int replay(const launch *grid, pcast_replay_kernel *thread, const void *group, unsigned seed,
                  float *o)
{
    pcast_error err;
    pcast_fpenv env;
    pcast_fpenv_enter(&env);
    const pcast_status status =
        pcast_replay_block(thread, group, grid->threads, grid->shared_bytes, seed, &err);
    pcast_fpenv_leave(&env);
    *o = pcast_f32_from_bits(pcast_bits_f32(*o) ^ (uint32_t)is_faulty("flip"));
    return status == PCAST_OK ? OK : LAUNCH_FAILED;
}

static int run_rows(const launch *grid)
{
    const pcast_row_group *groups = memory(grid, 0);
    int code = OK;
    for (unsigned g = 0; code == OK && g < grid->blocks; g++)
        code = replay(grid, row_thread, &groups[g], g, groups[g].job.o);
    return code;
}

static int run_attention(const launch *grid)
{
    const pcast_attention_group *groups = memory(grid, 0);
    int code = OK;
    for (unsigned g = 0; code == OK && g < grid->blocks; g++)
        code = replay(grid, attention_thread, &groups[g], g, groups[g].job.o);
    return code;
}

/* A function is its name; the longest needs 38 bytes. */
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    static char chosen[64];
    (void)module;
    snprintf(chosen, sizeof chosen, "%s", name);
    *function = chosen;
    return strncmp(name, "pcast_", 6) == 0 ? OK : NOT_FOUND;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    (void)function;
    return attribute == 8 && value > 48 * 1024 ? OK : NOT_FOUND;
}

int cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void *stream,
                   void **arguments, void **extra)
{
    static const struct {
        const char *name;
        float (*unit)(float);
    } units[] = {{"ex2", pcast_ex2_ftz},    {"ex2_full", pcast_ex2},
                 {"rcp", pcast_rcp_ftz},    {"lg2", pcast_lg2_ftz},
                 {"expf", pcast_cuda_expf}, {"expf_fast", pcast_cuda_expf_fast}};
    const launch grid = {blocks, threads, shared_bytes, arguments};
    const char *name = (const char *)function + strlen("pcast_probe_");
    if (current == NULL)
        return NO_CONTEXT;
    if (is_faulty("fail") || y * z * threads_y * threads_z != 1 || stream != NULL || extra != NULL)
        return LAUNCH_FAILED;
    if (strcmp(function, "pcast_row_kernel") == 0)
        return run_rows(&grid);
    if (strncmp(function, "pcast_attention_", 16) == 0)
        return run_attention(&grid);
    if (strncmp(name, "wgmma_", 6) == 0)
        return run_wgmma(&grid, name + 6);
    if (strncmp(name, "cvt_", 4) == 0) {
        run_cvt(&grid, strcmp(name, "cvt_e5m2") == 0 ? PCAST_E5M2 : PCAST_E4M3);
        return OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(name, units[i].name) == 0) {
            run_unit(&grid, units[i].unit);
            return OK;
        }
    return NOT_FOUND;
}
