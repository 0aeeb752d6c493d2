/* SPDX-License-Identifier: MIT */
/* The tensor core in a replay: products are worked out when they are waited for, from what is then
 * in shared memory and in the other threads' registers. */
#include "cuda/mma.h"

#include "base/bits.h"
#include "pcast/tensor_core.h"

enum { THREADS = 128, COLUMNS = PCAST_MMA_REGISTERS / 2 };

void pcast_mma_copy(const pcast_block *self, pcast_mma *mma, uint8_t *to, const uint8_t *from,
                    int exists)
{
    if ((uintptr_t)to % 16 != 0 || (uintptr_t)from % 16 != 0)
        pcast_replay_fail(self, "cp.async: an address is no multiple of 16");
    if (mma->copy_count == PCAST_MMA_COPIES)
        pcast_replay_fail(self, "cp.async: more copies in flight than the replay holds");
    mma->copies[mma->copy_count] = (pcast_mma_move){to, exists ? from : NULL};
    mma->copy_count += mma->copy_count < PCAST_MMA_COPIES;
}

void pcast_mma_stored(const pcast_block *self, pcast_mma *mma)
{
    (void)self;
    for (unsigned i = 0; i < mma->copy_count; i++)
        if (mma->copies[i].from != NULL)
            memcpy(mma->copies[i].to, mma->copies[i].from, 16);
        else
            memset(mma->copies[i].to, 0, 16);
    mma->copy_count = 0;
}

void pcast_mma_begin(const pcast_block *self, pcast_mma *mma)
{
    if (mma->copy_count > 0)
        pcast_replay_fail(self, "cp.async: copies are not waited for before products");
    if (mma->phase != PCAST_MMA_IDLE)
        pcast_replay_fail(self, "wgmma: a group begins before the last one was waited for");
    mma->phase = PCAST_MMA_OPEN;
    mma->count = 0;
}

static pcast_mma_product *add(const pcast_block *self, pcast_mma *mma)
{
    if (mma->phase == PCAST_MMA_IDLE)
        pcast_replay_fail(self, "wgmma: a product is issued outside of a group");
    if (mma->count == PCAST_MMA_PRODUCTS) {
        pcast_replay_fail(self, "wgmma: more products in a group than the replay holds");
        return &mma->products[PCAST_MMA_PRODUCTS];
    }
    mma->phase = PCAST_MMA_ISSUED;
    return &mma->products[mma->count++];
}

void pcast_mma_shared(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d), const uint8_t *a,
                      const uint8_t *b, int keep)
{
    *add(self, mma) = (pcast_mma_product){.d = d, .a = a, .b = b, .keep = keep};
}

void pcast_mma_registers(const pcast_block *self, pcast_mma *mma, PCAST_REGISTERS(d),
                         PCAST_CODES(a), const uint8_t *b, int keep)
{
    *add(self, mma) = (pcast_mma_product){.d = d, .b = b, .codes = a, .keep = keep};
}

/* Row of A: from its tile, or from the four threads that hold it. */
static void gather_a(const pcast_block *self, unsigned number, uint32_t row,
                     uint8_t codes[PCAST_TILE_KEYS])
{
    const pcast_mma *own = pcast_replay_shown(self, self->thread);
    const uint8_t *tile = own->products[number].a;
    for (uint32_t k = 0; tile != NULL && k < PCAST_TILE_KEYS; k++)
        codes[k] = tile[pcast_tile_offset(row, k)];
    for (unsigned t = self->thread / 4 * 4; tile == NULL && t < self->thread / 4 * 4 + 4; t++) {
        const pcast_mma *other = pcast_replay_shown(self, t);
        for (uint32_t i = 0; i < 4; i++)
            if (pcast_fragment_a_row(t, i) == row)
                memcpy(codes + pcast_fragment_a_k(t, i), &other->products[number].codes[i], 4);
    }
}

/* This thread's registers of one product. */
static void multiply(const pcast_block *self, const pcast_mma *mma, unsigned number)
{
    static const pcast_tensor_core core = {PCAST_MACHINE_HOPPER_WGMMA, PCAST_E4M3, PCAST_E4M3,
                                           PCAST_TENSOR_CORE_F32, PCAST_CPU_SCALAR};
    const pcast_mma_product *product = &mma->products[number];
    uint8_t a[PCAST_TILE_KEYS], b[PCAST_TILE_KEYS][COLUMNS];
    for (uint32_t half = 0; half < 2; half++) {
        float sums[COLUMNS];
        gather_a(self, number, pcast_fragment_d_row(self->thread, 2 * half), a);
        for (uint32_t n = 0; n < COLUMNS; n++) {
            const uint32_t i = pcast_fragment_d_register(half, n);
            const uint32_t column = pcast_fragment_d_column(self->thread, i);
            sums[n] = product->keep ? product->d[i] : 0.0f;
            for (uint32_t k = 0; k < PCAST_TILE_KEYS; k++)
                b[k][n] = product->b[pcast_tile_offset(column, k)];
        }
        pcast_tensor_core_row(&core, a, b[0], PCAST_TILE_KEYS, COLUMNS, COLUMNS, sums);
        for (uint32_t n = 0; n < COLUMNS; n++)
            product->d[pcast_fragment_d_register(half, n)] = sums[n];
    }
}

/* Do all threads multiply the same tiles? */
static int is_uniform(const pcast_block *self, const pcast_mma *mma)
{
    const pcast_mma *first = pcast_replay_shown(self, 0);
    int same = first->count == mma->count;
    for (unsigned i = 0; same && i < mma->count; i++)
        same = first->products[i].a == mma->products[i].a &&
               first->products[i].b == mma->products[i].b &&
               first->products[i].keep == mma->products[i].keep;
    return same;
}

void pcast_mma_wait(const pcast_block *self, pcast_mma *mma)
{
    if (mma->phase != PCAST_MMA_ISSUED)
        pcast_replay_fail(self, "wgmma: nothing to wait for");
    pcast_replay_show(self, mma);
    pcast_block_sync(self);
    const int uniform = is_uniform(self, mma);
    if (!uniform)
        pcast_replay_fail(self, "wgmma: threads of a warpgroup issue different products");
    for (unsigned number = 0; uniform && number < mma->count; number++)
        multiply(self, mma, number);
    pcast_block_sync(self);
    mma->phase = PCAST_MMA_IDLE;
}
