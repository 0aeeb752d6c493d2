# SPDX-License-Identifier: MIT
"""FP8 attention over splits of 256 keys: each an online softmax over tiles of 64 keys, last to first, merged at the end.

P = E4M3(exp(z - m) * S) with S = 448; the row sum adds P as it was cast. A split's output is float32 and normalised;
splits are weighted by their log-sum-exps. float32 throughout, output float32, log-sum-exp in nats.
"""
import ml_dtypes
import numpy as np

SPLIT = 256
TILE = 64
S = np.float32(448)


def weights(x, maximum):
    """exp(x - maximum), 0 where x is -inf, also if nothing is larger."""
    return np.exp(x - np.where(np.isneginf(maximum), np.float32(0), maximum))


def part(z, v):
    """One split's normalised output and log-sum-exp from its scores [queries, keys]."""
    queries, keys = z.shape
    m = np.full(queries, -np.inf, np.float32)
    l = np.zeros(queries, np.float32)
    acc = np.zeros((queries, v.shape[1]), np.float32)
    for first in reversed(range(0, keys, TILE)):
        tile = z[:, first:first + TILE]
        new = np.maximum(m, tile.max(axis=1))
        p = weights(tile, new[:, None])
        code = np.minimum(p * S, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
        cast = code.astype(np.float32)
        factor = weights(m, new)
        l = factor * l + cast.sum(axis=1)
        acc = factor[:, None] * acc + cast @ v[first:first + TILE]
        m = new
    o = np.zeros_like(acc)
    lse = np.full(queries, -np.inf, np.float32)
    has = l > 0
    o[has] = acc[has] / l[has, None]
    lse[has] = m[has] + np.log(l[has] / S)
    return o, lse


def merge(outputs, lses):
    """Splits [splits, queries, dim] and [splits, queries] to one, by log-sum-exp."""
    top = lses.max(axis=0)
    w = weights(lses, top)
    total = w.sum(axis=0)
    has = total > 0
    o = np.zeros(outputs.shape[1:], np.float32)
    lse = np.full(top.shape, -np.inf, np.float32)
    share = w[:, has] / total[has]
    o[has] = (share[:, :, None] * outputs[:, has]).sum(axis=0)
    lse[has] = top[has] + np.log(total[has])
    return o, lse


def f(q, k, v, *, softmax_scale, mask, window_left, window_right, kv_lengths, q_descale, k_descale, v_descale, sink):
    batch, heads, queries, dim = q.shape
    kv_heads = k.shape[1]
    o = np.zeros(q.shape, np.float32)
    lse = np.zeros(q.shape[:3], np.float32)
    for b in range(batch):
        n = k.shape[2] if kv_lengths is None else int(kv_lengths[b])
        position = np.arange(queries)[:, None] + (n - queries if mask != "causal_top_left" else 0)
        distance = position - np.arange(n)  # how far a key lies before the query's own
        hidden = np.zeros((queries, n), bool)
        if mask != "none":
            hidden |= distance < 0
        if mask == "none" and window_right:
            hidden |= distance <= -window_right
        if window_left:
            hidden |= distance >= window_left
        for h in range(heads):
            g = h // (heads // kv_heads)
            scale = np.float32(softmax_scale)
            for descale in q_descale, k_descale:
                if descale is not None:
                    scale = scale * np.float32(descale[g])
            z = (q[b, h].astype(np.float32) @ k[b, g, :n].astype(np.float32).T) * scale
            z[hidden] = -np.inf
            values = v[b, g, :n].astype(np.float32)
            parts = [part(z[:, s:s + SPLIT], values[s:s + SPLIT]) for s in range(0, n, SPLIT)]
            if sink is not None:  # weighs like a split without values
                parts.append((np.zeros((queries, dim), np.float32), np.full(queries, sink[h], np.float32)))
            if parts:
                o[b, h], lse[b, h] = merge(*map(np.stack, zip(*parts)))
            else:
                lse[b, h] = -np.inf
            if v_descale is not None:
                o[b, h] *= np.float32(v_descale[g])
    return o, lse
