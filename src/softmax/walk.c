/* SPDX-License-Identifier: MIT */
/* Walks over KV blocks, and the keys a mask leaves. */
#include "softmax/walk.h"

#include "base/bits.h"
#include "base/seeded.h"

/* Blocks of a split: first, first + stride, ... `count` of them. */
typedef struct blocks {
    size_t first, count, stride;
} blocks;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static blocks split_blocks(const pcast_walk *walk, size_t split)
{
    const pcast_kernel *kernel = walk->kernel;
    const size_t begin = walk->first_block, end = walk->end_block;
    if (kernel->partition > 0) {
        const size_t width = kernel->partition / kernel->block;
        const size_t start = (begin / width + split) * width;
        const size_t first = larger(start, begin);
        return (blocks){first, smaller(start + width, end) - first, 1};
    }
    if (kernel->traversal == PCAST_TRAVERSAL_STRIDED) {
        const size_t first = begin + split;
        return (blocks){first, first < end ? divide_up(end - first, walk->splits) : 0,
                        walk->splits};
    }
    const size_t width = divide_up(end - begin, walk->splits);
    const size_t first = smaller(begin + split * width, end);
    return (blocks){first, smaller(end - first, width), 1};
}

void pcast_walk_start(pcast_walk *walk, const pcast_kernel *kernel, size_t keys, size_t from,
                      size_t to)
{
    *walk = (pcast_walk){.kernel = kernel, .keys = keys, .splits = kernel->splits};
    if (from < to) {
        walk->first_block = from / kernel->block;
        walk->end_block = divide_up(to, kernel->block);
    }
    if (walk->splits < 1)
        walk->splits = 1;
    if (kernel->partition > 0 && from < to)
        walk->splits = (to - 1) / kernel->partition - from / kernel->partition + 1;
    walk->steps = split_blocks(walk, 0).count;
}

int pcast_walk_next(pcast_walk *walk, pcast_visit *visit)
{
    const pcast_kernel *kernel = walk->kernel;
    const int passes = kernel->normalise == PCAST_NORMALISE_PARTITION ? 2 : 1;
    while (walk->step == walk->steps) {
        if (walk->steps > 0 && walk->pass + 1 < passes) {
            walk->pass++;
        } else {
            if (walk->split + 1 >= walk->splits)
                return 0;
            walk->split++;
            walk->pass = 0;
            walk->steps = split_blocks(walk, walk->split).count;
        }
        walk->step = 0;
    }
    const blocks own = split_blocks(walk, walk->split);
    const size_t step =
        kernel->order == PCAST_ORDER_FORWARD ? walk->step : walk->steps - 1 - walk->step;
    const size_t first = (own.first + step * own.stride) * kernel->block;
    visit->range = (pcast_range){first, smaller(walk->keys - first, kernel->block)};
    visit->split = walk->split;
    visit->begins_split = walk->step == 0 && walk->pass == 0;
    visit->last = walk->step + 1 == walk->steps;
    visit->sums_only = walk->pass + 1 < passes;
    walk->step++;
    return 1;
}

size_t pcast_walk_list(const pcast_kernel *kernel, size_t keys, pcast_range visited,
                       pcast_visit *visits)
{
    pcast_walk walk;
    pcast_visit visit;
    size_t count = 0;
    pcast_walk_start(&walk, kernel, keys, visited.first, visited.first + visited.count);
    for (; pcast_walk_next(&walk, &visit); count++)
        if (visits != NULL)
            visits[count] = visit;
    return count;
}

int pcast_same_walk(const pcast_kernel *a, const pcast_kernel *b)
{
    return a->order == b->order && a->block == b->block && a->traversal == b->traversal &&
           a->splits == b->splits && a->partition == b->partition && a->normalise == b->normalise;
}

/* Keys from .. to - 1 in integers that may lie outside the row. */
static pcast_range clamp(int64_t from, int64_t to, size_t keys)
{
    const int64_t end = (int64_t)keys;
    from = from < 0 ? 0 : from > end ? end : from;
    to = to < from ? from : to > end ? end : to;
    return (pcast_range){(size_t)from, (size_t)(to - from)};
}

pcast_range pcast_visible_around(const pcast_kernel *kernel, size_t keys, int64_t aligned)
{
    int64_t from = 0, to = (int64_t)keys;
    if (kernel->mask != PCAST_MASK_NONE)
        to = aligned + 1;
    if (kernel->window_left > 0)
        from = aligned + 1 - (int64_t)kernel->window_left;
    if (kernel->window_right > 0)
        to = aligned + (int64_t)kernel->window_right;
    return clamp(from, to, keys);
}

pcast_range pcast_visible_keys(const pcast_kernel *kernel, size_t queries, size_t keys,
                               size_t query)
{
    int64_t aligned = (int64_t)query + PCAST_SEEDED_MASK_SHIFT;
    if (kernel->mask != PCAST_MASK_CAUSAL_TOP_LEFT)
        aligned += (int64_t)keys - (int64_t)queries;
    return pcast_visible_around(kernel, keys, aligned);
}

pcast_range pcast_visited_keys(const pcast_kernel *kernel, size_t queries, size_t keys,
                               size_t query)
{
    const size_t height = kernel->query_block > 1 ? kernel->query_block : 1;
    const size_t top = query / height * height, bottom = smaller(top + height, queries) - 1;
    /* Both ends of what a query sees grow with the query. */
    const pcast_range first = pcast_visible_keys(kernel, queries, keys, top);
    const pcast_range last = pcast_visible_keys(kernel, queries, keys, bottom);
    const size_t end = last.first + last.count;
    return (pcast_range){first.first, end > first.first ? end - first.first : 0};
}
