/* SPDX-License-Identifier: MIT */
/* Conversions of whole arrays: from the source to float32, which holds every number of 8 and 16
 * bits exactly, and from there to the target, in pieces that stay in the first-level cache
 * (docs/numerics.md, section 2: still one rounding). */
#include "pcast/format.h"

#include "base/bits.h"
#include "e4m3/codec.h"
#include "e4m3/float_format.h"

#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    PIECE = 2048,          /* numbers at a time; a multiple of every level's group */
    STREAM_FROM = 1 << 20, /* with fewer bytes the cache's size is not asked for */
    FEW = 4,               /* as many numbers are done before the loops are set up */
};

static size_t bytes_of(pcast_format format)
{
    return (size_t)pcast_float_formats[format].width / 8;
}

/* Bytes of the largest cache, as the processor describes it to the C library; without end where it
 * does not say. */
static size_t cache_bytes(void)
{
    long bytes = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? (size_t)bytes : SIZE_MAX;
}

/* A copy past the caches, once `to` is aligned. */
static void stream(uint8_t *to, const uint8_t *from, size_t bytes)
{
#if defined(__SSE2__)
    const size_t head = (size_t)(-(uintptr_t)to & 15);
    if (bytes > head) {
        memcpy(to, from, head);
        to += head, from += head, bytes -= head;
        for (; bytes >= 16; bytes -= 16, to += 16, from += 16)
            _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
    }
#endif
    memcpy(to, from, bytes);
}

static uint64_t load(const uint8_t *in, size_t size)
{
    uint8_t code8;
    uint16_t code16;
    uint32_t code32;
    uint64_t code64;
    switch (size) {
    case 1:
        memcpy(&code8, in, sizeof code8);
        return code8;
    case 2:
        memcpy(&code16, in, sizeof code16);
        return code16;
    case 4:
        memcpy(&code32, in, sizeof code32);
        return code32;
    default:
        memcpy(&code64, in, sizeof code64);
        return code64;
    }
}

static void store(uint8_t *out, size_t size, uint64_t code)
{
    const uint8_t code8 = (uint8_t)code;
    const uint16_t code16 = (uint16_t)code;
    const uint32_t code32 = (uint32_t)code;
    const void *const of_size[] = {[1] = &code8, [2] = &code16, [4] = &code32, [8] = &code};
    memcpy(out, of_size[size], size);
}

/* Formats wider than 16 bits on both sides, and float64, by the definition. */
static void one_by_one(pcast_format to, uint8_t *out, pcast_format from, const uint8_t *in,
                       size_t count, pcast_cast cast)
{
    const size_t to_size = bytes_of(to), from_size = bytes_of(from);
    for (size_t i = 0; i < count; i++)
        store(out + i * to_size, to_size,
              pcast_convert(to, from, load(in + i * from_size, from_size), cast));
}

/* A conversion in pieces. */
typedef struct job {
    const pcast_codec *codec;
    pcast_narrow narrow;
    pcast_widen widen;
    size_t to_size, from_size;
} job;

static void widen_piece(const job *work, const uint8_t *in, void *floats, size_t count)
{
    (work->from_size == 1 ? work->codec->widen8 : work->codec->widen16)(&work->widen, in, floats,
                                                                        count);
}

static void piece(const job *work, uint8_t *out, const uint8_t *in, size_t count)
{
    _Alignas(64) uint32_t floats[PIECE];
    if (work->to_size == 4) {
        widen_piece(work, in, out, count);
        return;
    }
    const void *source = in;
    if (work->from_size != 4) {
        widen_piece(work, in, floats, count);
        source = floats;
    }
    (work->to_size == 1 ? work->codec->narrow8 : work->codec->narrow16)(&work->narrow, source, out,
                                                                        count);
}

static void by_pieces(const job *work, uint8_t *out, const uint8_t *in, size_t count,
                      int past_caches)
{
    _Alignas(64) uint8_t codes[4 * PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t here = count - done < PIECE ? count - done : PIECE;
        uint8_t *target = out + done * work->to_size;
        piece(work, past_caches ? codes : target, in + done * work->from_size, here);
        if (past_caches)
            stream(target, codes, here * work->to_size);
    }
#if defined(__SSE2__)
    if (past_caches)
        _mm_sfence();
#endif
}

/* To float32 only infinities and NaNs can change under a policy; here they do not. */
static int keeps_all(pcast_cast cast)
{
    const int to_infinity = cast.inf == PCAST_INF_NAN || (cast.inf == PCAST_INF_AS_OVERFLOW &&
                                                          cast.overflow == PCAST_OVERFLOW_NAN);
    return to_infinity && cast.nan == PCAST_NAN_KEEP_SIGN;
}

void pcast_convert_array_within(size_t cache, pcast_format to, void *out, pcast_format from,
                                const void *in, size_t count, pcast_cast cast, pcast_cpu cpu)
{
    job work = {.to_size = bytes_of(to), .from_size = bytes_of(from)};
    const int wide = work.from_size > 2 && work.to_size > 2;
    if (wide || work.to_size > 4 || work.from_size > 4 || count <= FEW ||
        (to == PCAST_F32 && !keeps_all(cast))) {
        one_by_one(to, out, from, in, count, cast);
        return;
    }
    work.codec = pcast_codec_for(cpu);
    if (to != PCAST_F32)
        work.narrow = pcast_narrow_make(to, cast);
    if (from != PCAST_F32)
        work.widen = pcast_widen_make(from);
    by_pieces(&work, out, in, count, count * (work.to_size + work.from_size) > cache);
}

void pcast_convert_array(pcast_format to, void *out, pcast_format from, const void *in,
                         size_t count, pcast_cast cast, pcast_cpu cpu)
{
    const size_t bytes = count * (bytes_of(to) + bytes_of(from));
    pcast_convert_array_within(bytes < STREAM_FROM ? SIZE_MAX : cache_bytes(), to, out, from, in,
                               count, cast, cpu);
}

void pcast_encode_array(pcast_format to, void *codes, const float *x, size_t count, pcast_cast cast,
                        pcast_cpu cpu)
{
    pcast_convert_array(to, codes, PCAST_F32, x, count, cast, cpu);
}

void pcast_decode_array(pcast_format from, const void *codes, float *x, size_t count, pcast_cpu cpu)
{
    const pcast_cast widening = {PCAST_OVERFLOW_NAN, PCAST_INF_NAN, PCAST_NAN_KEEP_SIGN};
    pcast_convert_array(PCAST_F32, x, from, codes, count, widening, cpu);
}
