/* SPDX-License-Identifier: MIT */
/* Tile tables: keys per KV block by head dimension, mask and paging. */
#include "pcast/kernel.h"

#include "base/bits.h"

/* One row: head dimensions up to `dim`. */
typedef struct block_row {
    size_t dim;
    size_t query_block;
    size_t plain, local, paged, paged_local, softcap_local;
} block_row;

enum { ROWS = 5 };

/* Sources: flash-attention hopper/tile_size.h at 0251105a; vllm flash-attention hopper/tile_size.h
 * at 617264c1, prefill; flashinfer prefill_sm90.cuh at fb28d724; flashinfer
 * jit/attention/fmha_v2/fmha_library.py at fb28d724. */
static const block_row tables[][ROWS] = {
    [PCAST_BLOCKS_FA3] = {{64, 192, 160, 160, 160, 160, 160},
                          {96, 192, 128, 128, 128, 128, 128},
                          {128, 128, 224, 224, 160, 160, 192},
                          {192, 128, 160, 160, 160, 128, 128},
                          {256, 128, 128, 64, 128, 64, 64}},
    [PCAST_BLOCKS_FA3_VLLM] = {{64, 128, 128, 128, 128, 128, 128},
                               {96, 128, 128, 128, 128, 128, 128},
                               {128, 128, 192, 192, 192, 192, 192},
                               {192, 128, 96, 96, 96, 96, 96},
                               {256, 128, 128, 64, 128, 64, 64}},
    [PCAST_BLOCKS_FLASHINFER_FA3] = {{64, 192, 128, 128, 128, 128, 128},
                                     {128, 128, 192, 192, 128, 128, 192},
                                     {256, 128, 128, 128, 64, 64, 128}},
    [PCAST_BLOCKS_FMHA_V2] = {{128, 128, 256, 256, 256, 256, 256},
                              {256, 128, 128, 128, 128, 128, 128}},
};

void pcast_kernel_resolve(pcast_kernel *kernel, size_t dim)
{
    if (kernel->block != 0)
        return;
    const block_row *row = tables[kernel->block_table];
    while (dim > row->dim && row + 1 < tables[kernel->block_table] + ROWS && row[1].dim != 0)
        row++;
    const int local = kernel->window_left != 0 || kernel->window_right != 0;
    if (kernel->query_block == 0)
        kernel->query_block = row->query_block;
    if (kernel->paged)
        kernel->block = local ? row->paged_local : row->paged;
    else if (local)
        kernel->block = kernel->softcap > 0 ? row->softcap_local : row->local;
    else
        kernel->block = row->plain;
}
