# SPDX-License-Identifier: MIT
"""The sweep as a user writes it in NumPy: one trial and one configuration at a time, a loop over blocks."""
import numpy as np

from definition import ORDERS, round_e4m3

try:
    import ml_dtypes

    def cast(x):
        return x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
except ImportError:
    cast = round_e4m3


def attend(scores, values, order, scale, grid):
    """One query: its output, and non-sink keys that the cast made zero."""
    starts = range(0, grid.keys, grid.block)
    m, l, flushed = np.float32(-np.inf), np.float32(0), 0
    o = np.zeros(grid.dim, np.float32)
    for first in starts if order == "forward" else reversed(starts):
        s = scores[first:first + grid.block]
        m_new = max(m, s.max())
        alpha = np.exp(m - m_new)
        p = np.exp(s - m_new)
        p8 = cast(p * scale)
        l = alpha * l + p.sum()
        o = alpha * o + p8 @ values[first:first + grid.block]
        lost = (p > 0) & (p8 == 0)
        flushed += np.count_nonzero(lost[max(0, grid.sinks - first):])
        m = m_new
    return o / (l * scale), flushed


def simulate(scores, values, grid):
    shape = len(ORDERS), len(grid.scales), len(grid.deltas)
    flushed, mse = np.zeros(shape), np.zeros(shape)
    for z, v in zip(scores, values):
        v64 = v.astype(np.float64)
        for d, delta in enumerate(grid.deltas):
            s = z.copy()
            s[:grid.sinks] += delta
            s = s.astype(np.float32)
            w = np.exp(s.astype(np.float64) - s.max())
            exact = w @ v64 / w.sum()
            for o, order in enumerate(ORDERS):
                for c, scale in enumerate(grid.scales):
                    out, lost = attend(s, v, order, np.float32(scale), grid)
                    flushed[o, c, d] += lost
                    mse[o, c, d] += np.mean((out - exact) ** 2)
    other = np.full(shape, len(scores) * (grid.keys - grid.sinks))
    return flushed, other, mse / len(scores)
