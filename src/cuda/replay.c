/* SPDX-License-Identifier: MIT */
/* Fibres of one block, on contexts of the C library. */
#include "cuda/replay.h"

#include "base/bits.h"
#include "base/error.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define PCAST_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PCAST_ASAN
#endif
#endif
#if defined(PCAST_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

enum { WARP = 32, STACK_BYTES = 256 << 10 };

typedef enum waiting {
    WAITS_FOR_NOTHING,
    WAITS_FOR_BLOCK,
    WAITS_FOR_WARP,
    ENDED,
} waiting;

typedef struct fibre {
    ucontext_t context;
    pcast_block self;
    char *stack;      /* within those of all */
    void *fake_stack; /* of the address sanitizer */
    waiting waits;
    const char *file;
    int line;
    uint32_t x, result; /* of a warp's exchange */
    unsigned from;
    const void *shown;
} fibre;

struct pcast_replay {
    pcast_replay_kernel *kernel;
    const void *arguments;
    void *shared;
    unsigned threads;
    fibre *fibres;
    char *stacks; /* mapped: pages that no fibre reaches cost nothing */
    ucontext_t scheduler;
    void *scheduler_fake;
    const void *scheduler_stack;
    size_t scheduler_size;
    unsigned running, at_barrier;
    uint64_t random;
    const char *failure; /* what the kernel did wrong */
};

/* ---- Switching ---- */

static void leave_for(void **fake, const void *stack, size_t size)
{
#if defined(PCAST_ASAN)
    __sanitizer_start_switch_fiber(fake, stack, size);
#else
    (void)fake, (void)stack, (void)size;
#endif
}

static void arrive(void *fake, const void **stack, size_t *size)
{
#if defined(PCAST_ASAN)
    __sanitizer_finish_switch_fiber(fake, stack, size);
#else
    (void)fake, (void)stack, (void)size;
#endif
}

/* From a fibre to the scheduler; it comes back when the fibre may go on. */
static void yield(pcast_replay *replay, fibre *own)
{
    leave_for(&own->fake_stack, replay->scheduler_stack, replay->scheduler_size);
    swapcontext(&own->context, &replay->scheduler);
    arrive(own->fake_stack, &replay->scheduler_stack, &replay->scheduler_size);
}

/* makecontext passes ints alone: the address comes in two halves. */
static void enter(unsigned high, unsigned low)
{
    pcast_replay *replay = (pcast_replay *)((uintptr_t)((uint64_t)high << 32 | low));
    fibre *own = &replay->fibres[replay->running];
    arrive(NULL, &replay->scheduler_stack, &replay->scheduler_size);
    replay->kernel(&own->self, replay->arguments, replay->shared);
    own->waits = ENDED;
    leave_for(NULL, replay->scheduler_stack, replay->scheduler_size);
    setcontext(&replay->scheduler);
}

static void resume(pcast_replay *replay, unsigned thread)
{
    fibre *own = &replay->fibres[thread];
    replay->running = thread;
    leave_for(&replay->scheduler_fake, own->stack, STACK_BYTES);
    swapcontext(&replay->scheduler, &own->context);
    arrive(replay->scheduler_fake, NULL, NULL);
}

/* ---- Meeting points ---- */

static fibre *wait_at(const pcast_block *self, waiting waits, const char *file, int line)
{
    fibre *own = &self->replay->fibres[self->thread];
    own->waits = waits;
    own->file = file;
    own->line = line;
    return own;
}

void pcast_replay_block_sync(const pcast_block *self, const char *file, int line)
{
    yield(self->replay, wait_at(self, WAITS_FOR_BLOCK, file, line));
}

uint32_t pcast_replay_warp_read(const pcast_block *self, uint32_t x, unsigned from,
                                const char *file, int line)
{
    fibre *own = wait_at(self, WAITS_FOR_WARP, file, line);
    own->x = x;
    own->from = from;
    yield(self->replay, own);
    return own->result;
}

void pcast_replay_warp_sync(const pcast_block *self, const char *file, int line)
{
    pcast_replay_warp_read(self, 0, 0, file, line);
}

void pcast_replay_show(const pcast_block *self, const void *shown)
{
    self->replay->fibres[self->thread].shown = shown;
}

const void *pcast_replay_shown(const pcast_block *self, unsigned thread)
{
    return self->replay->fibres[thread].shown;
}

void pcast_replay_fail(const pcast_block *self, const char *what)
{
    if (self->replay->failure == NULL)
        self->replay->failure = what;
}

/* Do fibres first .. first + count - 1 wait at one place, for the same? */
static int have_met(const pcast_replay *replay, unsigned first, unsigned count, waiting waits)
{
    const fibre *leader = &replay->fibres[first];
    for (unsigned t = first; t < first + count; t++) {
        const fibre *own = &replay->fibres[t];
        if (own->waits != waits || own->line != leader->line || own->file != leader->file)
            return 0;
    }
    return 1;
}

/* Lets fibres go on that have met; returns how many, with their numbers in ready. */
static unsigned release(pcast_replay *replay, unsigned first, unsigned count, unsigned *ready)
{
    for (unsigned t = first; t < first + count; t++) {
        fibre *own = &replay->fibres[t];
        own->result = replay->fibres[first + own->from % count].x;
        own->waits = WAITS_FOR_NOTHING;
        ready[t - first] = t;
    }
    return count;
}

/* The same for those that a thread has met just now, if it has. */
static unsigned release_around(pcast_replay *replay, unsigned thread, unsigned *ready)
{
    const waiting waits = replay->fibres[thread].waits;
    const unsigned warp = thread / WARP * WARP;
    replay->at_barrier += waits == WAITS_FOR_BLOCK;
    if (waits == WAITS_FOR_WARP && have_met(replay, warp, WARP, waits))
        return release(replay, warp, WARP, ready);
    if (replay->at_barrier < replay->threads || !have_met(replay, 0, replay->threads, waits))
        return 0;
    replay->at_barrier = 0;
    return release(replay, 0, replay->threads, ready);
}

/* ---- The block ---- */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Who waits where, once nobody can go on; PCAST_OK where all have ended. */
static pcast_status judge_end(const pcast_replay *replay, pcast_error *err)
{
    const fibre *waits = NULL, *other = NULL;
    for (unsigned t = 0; t < replay->threads; t++) {
        const fibre *own = &replay->fibres[t];
        if (own->waits != ENDED && waits == NULL)
            waits = own;
    }
    if (waits == NULL)
        return PCAST_OK;
    for (unsigned t = 0; t < replay->threads; t++) {
        const fibre *own = &replay->fibres[t];
        if (own->waits != waits->waits || own->line != waits->line || own->file != waits->file)
            other = own;
    }
    if (other == NULL || other->waits == ENDED)
        return pcast_fail(err, PCAST_ERR_VALUE,
                          "divergent barrier: thread %u waits at %s:%d, others have ended",
                          waits->self.thread, waits->file, waits->line);
    return pcast_fail(
        err, PCAST_ERR_VALUE, "divergent barrier: thread %u waits at %s:%d, thread %u at %s:%d",
        waits->self.thread, waits->file, waits->line, other->self.thread, other->file, other->line);
}

static void make_fibre(pcast_replay *replay, unsigned thread)
{
    const uint64_t address = (uint64_t)(uintptr_t)replay;
    fibre *own = &replay->fibres[thread];
    own->self = (pcast_block){thread, replay};
    own->stack = replay->stacks + (size_t)thread * STACK_BYTES;
    getcontext(&own->context);
    own->context.uc_stack.ss_sp = own->stack;
    own->context.uc_stack.ss_size = STACK_BYTES;
    own->context.uc_link = NULL;
    makecontext(&own->context, (void (*)(void))enter, 2, (unsigned)(address >> 32),
                (unsigned)address);
}

static int make_fibres(pcast_replay *replay)
{
    const size_t bytes = (size_t)replay->threads * STACK_BYTES;
    void *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    replay->stacks = stacks != MAP_FAILED ? stacks : NULL;
    replay->fibres = calloc(replay->threads, sizeof *replay->fibres);
    if (replay->stacks == NULL || replay->fibres == NULL)
        return 0;
    for (unsigned t = 0; t < replay->threads; t++)
        make_fibre(replay, t);
    return 1;
}

pcast_status pcast_replay_block(pcast_replay_kernel *kernel, const void *arguments,
                                unsigned threads, size_t shared_bytes, uint64_t seed,
                                pcast_error *err)
{
    pcast_replay replay = {
        .kernel = kernel, .arguments = arguments, .threads = threads, .random = seed};
    pcast_status status = PCAST_OK;
    unsigned *ready = calloc(threads, sizeof *ready);
    replay.shared = malloc(shared_bytes > 0 ? shared_bytes : 1);
    if (ready == NULL || replay.shared == NULL || !make_fibres(&replay)) {
        status = pcast_fail(err, PCAST_ERR_MEMORY, "out of memory for %u threads", threads);
    } else {
        memset(replay.shared, 0xFF, shared_bytes);
        for (unsigned t = 0; t < threads; t++)
            ready[t] = t;
        for (unsigned count = threads; count > 0;) {
            const uint64_t pick = draw(&replay.random) % count;
            const unsigned thread = ready[pick];
            ready[pick] = ready[--count];
            resume(&replay, thread);
            count += release_around(&replay, thread, ready + count);
        }
        status = judge_end(&replay, err);
        if (status == PCAST_OK && replay.failure != NULL)
            status = pcast_fail(err, PCAST_ERR_VALUE, "%s", replay.failure);
    }
    if (replay.stacks != NULL)
        munmap(replay.stacks, (size_t)threads * STACK_BYTES);
    free(replay.fibres);
    free(replay.shared);
    free(ready);
    return status;
}
