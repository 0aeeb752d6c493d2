# SPDX-License-Identifier: MIT
"""FP8 attention with an online softmax in base 2: tiles of 96 keys, first to last, S = 256 inside the exponent.

P = exp2(z log2e - (m log2e - 8)) with the running maximum m; the row sum adds P before its cast to E4M3 and holds S.
float32 throughout, output bfloat16 as uint16 bits, log-sum-exp in base 2.
"""
import ml_dtypes
import numpy as np

TILE = 96
LOG2E = np.float32(1.4426950408889634)
LOG2S = np.float32(8)


def scores(q, keys, first, scale, queries, n, mask, window_left, window_right):
    """Scores of a tile that begins at key `first`, -inf where a query does not see the key."""
    z = (q @ keys.T) * scale
    for i in range(queries):
        own = i if mask == "causal_top_left" else i + n - queries
        low = own - window_left + 1 if window_left else 0
        high = n
        if mask != "none":
            high = own + 1
        elif window_right:
            high = own + window_right
        z[i, :max(0, low - first)] = -np.inf
        z[i, max(0, high - first):] = -np.inf
    return z


def head(q, k, v, scale, sink, visit):
    """One head: its output and log-sum-exp in base 2."""
    queries, dim = q.shape
    n = k.shape[0]
    m = np.full(queries, -np.inf, np.float32)
    l = np.zeros(queries, np.float32)
    acc = np.zeros((queries, dim), np.float32)
    for first in range(0, n, TILE):
        z = scores(q, k[first:first + TILE], first, scale, queries, n, *visit)
        new = np.maximum(m, z.max(axis=1))
        live = new > -np.inf
        shift = np.where(live, new, np.float32(0))
        bias = shift * LOG2E - LOG2S
        p = np.exp2(z * LOG2E - bias[:, None])
        alpha = np.where(live, np.exp2((m - shift) * LOG2E), np.float32(1))
        l = alpha * l + p.sum(axis=1)
        p8 = np.minimum(p, np.float32(448)).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
        acc = alpha[:, None] * acc + p8 @ v[first:first + TILE]
        m = new
    live = m > -np.inf
    bias = np.where(live, m, np.float32(0)) * LOG2E - LOG2S
    if sink is not None:
        l = l + np.exp2(sink * LOG2E - bias)
    out = np.zeros((queries, dim), np.float32)
    lse = np.full(queries, -np.inf, np.float32)
    some = l > 0
    out[some] = acc[some] / l[some, None]
    lse[some] = bias[some] + np.log2(l[some])
    return out, lse


def f(q, k, v, *, softmax_scale, mask, window_left, window_right, kv_lengths, q_descale, k_descale, v_descale, sink):
    batch, heads, queries, dim = q.shape
    kv_heads = k.shape[1]
    ones = np.ones(kv_heads, np.float32)
    q_descale, k_descale, v_descale = (ones if d is None else d.astype(np.float32) for d in (q_descale, k_descale, v_descale))
    o = np.zeros(q.shape, np.float32)
    lse = np.zeros(q.shape[:3], np.float32)
    for b, h in np.ndindex(batch, heads):
        n = k.shape[2] if kv_lengths is None else int(kv_lengths[b])
        g = h * kv_heads // heads
        scale = np.float32(softmax_scale) * q_descale[g] * k_descale[g]
        out, lse[b, h] = head(q[b, h].astype(np.float32), k[b, g, :n].astype(np.float32), v[b, g, :n].astype(np.float32), scale,
                              None if sink is None else np.float32(sink[h]), (mask, window_left, window_right))
        o[b, h] = out * v_descale[g]
    return o.astype(ml_dtypes.bfloat16).view(np.uint16), lse
