# SPDX-License-Identifier: MIT
"""numpy_batched.py in PyTorch, on one thread, with its own cast to E4M3."""
import numpy as np
import torch

from definition import ORDERS

torch.set_num_threads(1)


def references(scores, values):
    w = torch.exp(scores.double() - scores.amax(2, keepdim=True))
    return torch.matmul(w, values.double()) / w.sum(2, keepdim=True)


@torch.inference_mode()
def simulate(scores, values, grid):
    trials, deltas, scales = len(scores), len(grid.deltas), len(grid.scales)
    shift = torch.zeros(deltas, grid.keys, dtype=torch.float64)
    shift[:, :grid.sinks] = torch.tensor(grid.deltas)[:, None]
    v = torch.from_numpy(values)
    s = (torch.from_numpy(scores)[:, None] + shift).float()
    exact = references(s, v)
    factor = torch.tensor(grid.scales)[:, None, None]
    flushed, mse = (np.zeros((len(ORDERS), scales, deltas)) for _ in range(2))
    for n, order in enumerate(ORDERS):
        m = torch.full((trials, deltas, 1), -torch.inf)
        l = torch.zeros_like(m)
        o = torch.zeros(trials, scales * deltas, grid.dim)
        starts = range(0, grid.keys, grid.block)
        for first in starts if order == "forward" else reversed(starts):
            block = s[:, :, first:first + grid.block]
            m_new = torch.maximum(m, block.amax(2, keepdim=True))
            alpha = torch.exp(m - m_new)
            p = torch.exp(block - m_new)
            p8 = (p[:, None] * factor).to(torch.float8_e4m3fn).float()
            l = alpha * l + p.sum(2, keepdim=True)
            o.mul_(alpha.repeat(1, scales, 1)).baddbmm_(p8.reshape(trials, scales * deltas, -1),
                                                        v[:, first:first + grid.block])
            skip = max(0, grid.sinks - first)
            seen = (p[:, :, skip:] > 0).sum((0, 2))
            flushed[n] += (seen - (p8[..., skip:] > 0).sum((0, 3))).numpy()
            m = m_new
        out = o.reshape(trials, scales, deltas, grid.dim) / (l[:, None] * factor)
        mse[n] = ((out - exact[:, None]) ** 2).mean((0, 3)).numpy()
    return flushed, np.full(flushed.shape, trials * (grid.keys - grid.sinks)), mse
