# SPDX-License-Identifier: MIT
"""The sweep as an expert batches it in NumPy: all trials and Delta in one array, P shared by all S, P.V of all
configurations as one matrix product a trial and block."""
import numpy as np

from definition import ORDERS, round_e4m3


def references(scores, values):
    """Exact outputs [trials, deltas, dim] of scores [trials, deltas, keys]."""
    w = np.exp(scores.astype(np.float64) - scores.max(axis=2, keepdims=True))
    return np.matmul(w, values.astype(np.float64)) / w.sum(axis=2, keepdims=True)


def simulate(scores, values, grid):
    trials, deltas, scales = len(scores), len(grid.deltas), len(grid.scales)
    shift = np.zeros((deltas, grid.keys))
    shift[:, :grid.sinks] = np.asarray(grid.deltas)[:, None]
    s = (scores[:, None, :] + shift).astype(np.float32)
    exact = references(s, values)
    flushed = np.zeros((len(ORDERS), scales, deltas))
    mse = np.zeros_like(flushed)
    factor = np.asarray(grid.scales, np.float32)[:, None, None]
    for n, order in enumerate(ORDERS):
        m = np.full((trials, deltas, 1), -np.inf, np.float32)
        l = np.zeros_like(m)
        o = np.zeros((trials, scales * deltas, grid.dim), np.float32)
        starts = range(0, grid.keys, grid.block)
        for first in starts if order == "forward" else reversed(starts):
            block = s[:, :, first:first + grid.block]
            m_new = np.maximum(m, block.max(axis=2, keepdims=True))
            alpha = np.exp(m - m_new)
            p = np.exp(block - m_new)
            p8 = round_e4m3(p[:, None] * factor)  # [trials, scales, deltas, block]
            l = alpha * l + p.sum(axis=2, keepdims=True)
            o *= np.tile(alpha, (1, scales, 1))
            o += np.matmul(p8.reshape(trials, scales * deltas, -1), values[:, first:first + grid.block])
            skip = max(0, grid.sinks - first)
            seen = np.count_nonzero(p[:, :, skip:], axis=(0, 2))
            flushed[n] += seen - np.count_nonzero(p8[..., skip:], axis=(0, 3))
            m = m_new
        out = o.reshape(trials, scales, deltas, grid.dim) / (l[:, None] * factor[..., None].reshape(1, scales, 1, 1))
        mse[n] = np.mean((out - exact[:, None]) ** 2, axis=(0, 3))
    return flushed, np.full(flushed.shape, trials * (grid.keys - grid.sinks)), mse
