/* SPDX-License-Identifier: MIT */
/* Regions are few: they are looked through one by one. */
#include "cuda/transfer.h"

enum { ALIGNMENT = 256 };

void pcast_transfer_add(pcast_transfer *all, const void *host, size_t bytes, int input, int output)
{
    for (size_t i = 0; i < all->count; i++) {
        pcast_region *own = &all->regions[i];
        if (own->host != host || own->bytes < bytes)
            continue;
        own->input |= input; /* shared by jobs */
        own->output |= output;
        return;
    }
    if (host == NULL)
        return;
    all->regions[all->count++] =
        (pcast_region){(void *)(uintptr_t)host, bytes, all->bytes, input, output};
    all->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

pcast_cuda_address pcast_transfer_address(const pcast_transfer *all, const void *host)
{
    const uintptr_t at = (uintptr_t)host;
    pcast_cuda_address address = 0;
    size_t most = 0; /* bytes from there on: an array may begin another that is longer */
    for (size_t i = 0; host != NULL && i < all->count; i++) {
        const uintptr_t first = (uintptr_t)all->regions[i].host;
        const uintptr_t end = first + all->regions[i].bytes;
        if (at < first || at >= end || end - at <= most)
            continue;
        most = end - at;
        address = all->base + all->regions[i].offset + (at - first);
    }
    return address;
}

static pcast_status copy(pcast_cuda *cuda, const pcast_transfer *all, int out, pcast_error *err)
{
    pcast_status status = PCAST_OK;
    for (size_t i = 0; status == PCAST_OK && i < all->count; i++) {
        const pcast_region *own = &all->regions[i];
        if (out && own->output)
            status = pcast_cuda_download(cuda, own->host, all->base + own->offset, own->bytes, err);
        if (!out && own->input)
            status = pcast_cuda_upload(cuda, all->base + own->offset, own->host, own->bytes, err);
    }
    return status;
}

pcast_status pcast_transfer_run(pcast_cuda *cuda, const pcast_transfer *all,
                                pcast_transfer_kernel kernel, pcast_error *err)
{
    pcast_cuda_address groups = pcast_transfer_address(all, kernel.groups);
    void *arguments[] = {&groups};
    pcast_status status = copy(cuda, all, 0, err);
    if (status == PCAST_OK)
        status = pcast_cuda_launch(cuda, kernel.name, (unsigned)kernel.blocks, kernel.threads,
                                   kernel.shared_bytes, arguments, err);
    return status == PCAST_OK ? copy(cuda, all, 1, err) : status;
}
