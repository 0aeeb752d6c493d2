# SPDX-License-Identifier: MIT
"""FP8 attention in two passes: the maximum and the sum of a whole row first, then P, cast once, times V.

P = E4M3(exp(z - m) * S), o = (P V) / (S l), l the sum of exp(z - m); float32 throughout, output float32, log-sum-exp in nats.
"""
import ml_dtypes
import numpy as np

S = np.float32(64)


def visible(queries, n, mask, window_left, window_right):
    """[queries, n]: whether query i sees key j."""
    aligned = np.arange(queries)[:, None] + (0 if mask == "causal_top_left" else n - queries)
    key = np.arange(n)[None, :]
    seen = np.ones((queries, n), bool)
    if mask != "none":
        seen &= key <= aligned
    elif window_right:
        seen &= key < aligned + window_right
    if window_left:
        seen &= key > aligned - window_left
    return seen


def f(q, k, v, *, softmax_scale, mask, window_left, window_right, kv_lengths, q_descale, k_descale, v_descale, sink):
    batch, heads, queries, dim = q.shape
    group = heads // k.shape[1]
    o = np.zeros((batch, heads, queries, dim), np.float32)
    lse = np.full((batch, heads, queries), -np.inf, np.float32)
    for b in range(batch):
        n = k.shape[2] if kv_lengths is None else int(kv_lengths[b])
        seen = visible(queries, n, mask, window_left, window_right)
        for h in range(heads):
            g = h // group
            scale = np.float32(softmax_scale)
            if q_descale is not None:
                scale *= np.float32(q_descale[g])
            if k_descale is not None:
                scale *= np.float32(k_descale[g])
            z = (q[b, h].astype(np.float32) @ k[b, g, :n].astype(np.float32).T) * scale
            z[~seen] = -np.inf
            m = z.max(axis=1, initial=-np.inf)
            base = np.where(np.isinf(m), np.float32(0), m)  # a row without keys has no maximum
            e = np.exp(z - base[:, None])
            l = e.sum(axis=1)
            if sink is not None:
                l = l + np.exp(np.float32(sink[h]) - base)
            p8 = np.minimum(e * S, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
            numerator = p8.astype(np.float32) @ v[b, g, :n].astype(np.float32)
            has = l > 0
            o[b, h, has] = numerator[has] / (S * l[has])[:, None]
            if v_descale is not None:
                o[b, h] *= np.float32(v_descale[g])
            lse[b, h, has] = base[has] + np.log(l[has])
    return o, lse
