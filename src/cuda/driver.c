/* SPDX-License-Identifier: MIT */
/* CUDA's driver API, looked up in libcuda.so.1 when a device is asked for. The types are those of
 * cuda.h, spelled out so that the toolkit is not needed here. */
#include "cuda/driver.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int result;          /* CUresult; 0 is success */
typedef int device;          /* CUdevice */
typedef void *handle;        /* CUcontext, CUmodule, CUfunction, CUstream */
typedef uint64_t device_ptr; /* CUdeviceptr */

enum { OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* CUdevice_attribute and CUfunction_attribute. */
enum {
    DEVICE_PROCESSORS = 16,
    DEVICE_COMPUTE_MAJOR = 75,
    DEVICE_COMPUTE_MINOR = 76,
    DEVICE_SHARED_BYTES_MOST = 97,
    FUNCTION_SHARED_BYTES = 8,
};

/* More shared memory than this a kernel has to be allowed first. */
enum { SHARED_BYTES_PLAIN = 48 * 1024 };

#ifdef PCAST_HAVE_CUDA_MODULE
static const _Alignas(64) unsigned char module_image[] = {
#include "module.inc"
};
#else
static const unsigned char module_image[] = {0};
#endif

/* The functions' names, as libcuda.so.1 exports them, and types. */
#define API(X)                                                                                     \
    X(cuInit, (unsigned))                                                                          \
    X(cuDriverGetVersion, (int *))                                                                 \
    X(cuDeviceGetCount, (int *))                                                                   \
    X(cuDeviceGet, (device *, int))                                                                \
    X(cuDeviceGetName, (char *, int, device))                                                      \
    X(cuDeviceGetAttribute, (int *, int, device))                                                  \
    X(cuDeviceTotalMem_v2, (size_t *, device))                                                     \
    X(cuDevicePrimaryCtxRetain, (handle *, device))                                                \
    X(cuDevicePrimaryCtxRelease_v2, (device))                                                      \
    X(cuCtxSetCurrent, (handle))                                                                   \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuModuleLoadData, (handle *, const void *))                                                  \
    X(cuModuleUnload, (handle))                                                                    \
    X(cuModuleGetFunction, (handle *, handle, const char *))                                       \
    X(cuFuncSetAttribute, (handle, int, int))                                                      \
    X(cuMemAlloc_v2, (device_ptr *, size_t))                                                       \
    X(cuMemFree_v2, (device_ptr))                                                                  \
    X(cuMemcpyHtoD_v2, (device_ptr, const void *, size_t))                                         \
    X(cuMemcpyDtoH_v2, (void *, device_ptr, size_t))                                               \
    X(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                       unsigned, handle, void **, void **))                                        \
    X(cuGetErrorName, (result, const char **))                                                     \
    X(cuGetErrorString, (result, const char **))

typedef struct api {
#define X(name, arguments) result(*name) arguments;
    API(X)
#undef X
} api;

struct pcast_cuda {
    void *library;
    api api;
    device device;
    handle context, module; /* NULL: not there yet */
    pcast_cuda_info info;
    double launch_seconds; /* of the last launch */
};

int pcast_cuda_built(void)
{
    return sizeof module_image > 1;
}

uint64_t pcast_cuda_module_hash(void)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < sizeof module_image; i++)
        hash = (hash ^ module_image[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* What the driver calls an error. */
static pcast_status failed(const pcast_cuda *cuda, result code, const char *what, pcast_error *err)
{
    const char *name = NULL, *text = NULL;
    cuda->api.cuGetErrorName(code, &name);
    cuda->api.cuGetErrorString(code, &text);
    const pcast_status status = code == OUT_OF_MEMORY ? PCAST_ERR_MEMORY : PCAST_ERR_UNAVAILABLE;
    return pcast_fail(err, status, "CUDA: %s: %s (%s)", what, text != NULL ? text : "unknown error",
                      name != NULL ? name : "no name");
}

static pcast_status load_library(pcast_cuda *cuda, pcast_error *err)
{
    cuda->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (cuda->library == NULL)
        return pcast_fail(err, PCAST_ERR_UNAVAILABLE,
                          "CUDA: no driver here (libcuda.so.1 cannot be loaded)");
    void *symbol;
    /* A function's address goes by way of bytes: ISO C has no cast for it. */
#define X(name, arguments)                                                                         \
    if ((symbol = dlsym(cuda->library, #name)) == NULL)                                            \
        return pcast_fail(err, PCAST_ERR_UNAVAILABLE, "CUDA: the driver has no " #name);           \
    memcpy(&cuda->api.name, &symbol, sizeof symbol);
    API(X)
#undef X
    return PCAST_OK;
}

/* The compute capability of device `ordinal`. */
static result look_at(pcast_cuda *cuda, int ordinal)
{
    result code = cuda->api.cuDeviceGet(&cuda->device, ordinal);
    if (code == 0)
        code = cuda->api.cuDeviceGetAttribute(&cuda->info.compute_major, DEVICE_COMPUTE_MAJOR,
                                              cuda->device);
    if (code == 0)
        code = cuda->api.cuDeviceGetAttribute(&cuda->info.compute_minor, DEVICE_COMPUTE_MINOR,
                                              cuda->device);
    return code;
}

static pcast_status find_device(pcast_cuda *cuda, pcast_error *err)
{
    int count = 0;
    result code = cuda->api.cuInit(0);
    if (code == 0)
        code = cuda->api.cuDriverGetVersion(&cuda->info.driver_version);
    if (code == 0)
        code = cuda->api.cuDeviceGetCount(&count);
    for (int i = 0; code == 0 && i < count; i++) {
        code = look_at(cuda, i);
        if (code == 0 && cuda->info.compute_major == 9 && cuda->info.compute_minor == 0)
            return PCAST_OK;
    }
    if (code != 0)
        return failed(cuda, code, "no device", err);
    return pcast_fail(err, PCAST_ERR_UNAVAILABLE,
                      "CUDA: no device of compute capability 9.0 among %d", count);
}

static pcast_status start(pcast_cuda *cuda, pcast_error *err)
{
    pcast_cuda_info *info = &cuda->info;
    const api *call = &cuda->api;
    result code = call->cuDeviceGetName(info->name, (int)sizeof info->name, cuda->device);
    if (code == 0)
        code = call->cuDeviceTotalMem_v2(&info->memory, cuda->device);
    if (code == 0)
        code = call->cuDeviceGetAttribute(&info->processors, DEVICE_PROCESSORS, cuda->device);
    if (code == 0)
        code = call->cuDeviceGetAttribute(&info->shared_bytes_most, DEVICE_SHARED_BYTES_MOST,
                                          cuda->device);
    if (code == 0)
        code = call->cuDevicePrimaryCtxRetain(&cuda->context, cuda->device);
    if (code == 0)
        code = call->cuCtxSetCurrent(cuda->context);
    if (code != 0)
        return failed(cuda, code, "the device cannot be used", err);
    code = call->cuModuleLoadData(&cuda->module, module_image);
    return code == 0 ? PCAST_OK : failed(cuda, code, "the kernels cannot be loaded", err);
}

pcast_status pcast_cuda_open(pcast_cuda **cuda, pcast_error *err)
{
    *cuda = NULL;
    if (!pcast_cuda_built())
        return pcast_fail(err, PCAST_ERR_UNAVAILABLE,
                          "CUDA: this build has no device code (nvcc was not found)");
    pcast_cuda *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return pcast_fail(err, PCAST_ERR_MEMORY, "CUDA: out of memory");
    pcast_status status = load_library(opened, err);
    if (status == PCAST_OK)
        status = find_device(opened, err);
    if (status == PCAST_OK)
        status = start(opened, err);
    if (status == PCAST_OK)
        *cuda = opened;
    else
        pcast_cuda_close(opened);
    return status;
}

void pcast_cuda_close(pcast_cuda *cuda)
{
    if (cuda == NULL)
        return;
    if (cuda->module != NULL)
        cuda->api.cuModuleUnload(cuda->module);
    if (cuda->context != NULL)
        cuda->api.cuDevicePrimaryCtxRelease_v2(cuda->device);
    if (cuda->library != NULL)
        dlclose(cuda->library);
    free(cuda);
}

const pcast_cuda_info *pcast_cuda_about(const pcast_cuda *cuda)
{
    return &cuda->info;
}

pcast_status pcast_cuda_alloc(pcast_cuda *cuda, size_t bytes, pcast_cuda_address *address,
                              pcast_error *err)
{
    *address = 0;
    const result code = cuda->api.cuMemAlloc_v2(address, bytes > 0 ? bytes : 1);
    return code == 0 ? PCAST_OK : failed(cuda, code, "allocation", err);
}

void pcast_cuda_free(pcast_cuda *cuda, pcast_cuda_address address)
{
    if (address != 0)
        cuda->api.cuMemFree_v2(address);
}

pcast_status pcast_cuda_upload(pcast_cuda *cuda, pcast_cuda_address to, const void *from,
                               size_t bytes, pcast_error *err)
{
    const result code = bytes > 0 ? cuda->api.cuMemcpyHtoD_v2(to, from, bytes) : 0;
    return code == 0 ? PCAST_OK : failed(cuda, code, "copy to the device", err);
}

pcast_status pcast_cuda_download(pcast_cuda *cuda, void *to, pcast_cuda_address from, size_t bytes,
                                 pcast_error *err)
{
    const result code = bytes > 0 ? cuda->api.cuMemcpyDtoH_v2(to, from, bytes) : 0;
    return code == 0 ? PCAST_OK : failed(cuda, code, "copy from the device", err);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double pcast_cuda_launch_seconds(const pcast_cuda *cuda)
{
    return cuda->launch_seconds;
}

pcast_status pcast_cuda_enter(pcast_cuda *cuda, pcast_error *err)
{
    const result code = cuda->api.cuCtxSetCurrent(cuda->context);
    return code == 0 ? PCAST_OK : failed(cuda, code, "context", err);
}

pcast_status pcast_cuda_launch(pcast_cuda *cuda, const char *kernel, unsigned blocks,
                               unsigned threads, size_t shared_bytes, void **arguments,
                               pcast_error *err)
{
    handle function = NULL;
    result code = cuda->api.cuModuleGetFunction(&function, cuda->module, kernel);
    if (code == 0 && shared_bytes > SHARED_BYTES_PLAIN)
        code = cuda->api.cuFuncSetAttribute(function, FUNCTION_SHARED_BYTES, (int)shared_bytes);
    const double before = now();
    if (code == 0)
        code = cuda->api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1,
                                        (unsigned)shared_bytes, NULL, arguments, NULL);
    if (code == 0)
        code = cuda->api.cuCtxSynchronize();
    cuda->launch_seconds = now() - before;
    return code == 0 ? PCAST_OK : failed(cuda, code, kernel, err);
}
