# SPDX-License-Identifier: MIT
"""What the NumPy and PyTorch sweeps share: the grid, draws, E4M3, the comparison with pcast's CSV, and timing.

A peer is a module with simulate(scores, values, grid), where scores [trials, N] are the standard normals, values
[trials, N, d] is V, both float32. It returns arrays over the grid [order, scale, delta]: flushed non-sink keys and non-sink
keys, summed over trials, and the mean squared error over trials and channels.
"""
import csv
import statistics
import time
from dataclasses import dataclass, field

import numpy as np

ORDERS = ("forward", "reverse")


@dataclass
class Grid:
    """pcast's default sweep."""
    deltas: list = field(default_factory=lambda: [0.5 * i for i in range(25)])
    scales: tuple = (1.0, 256.0, 448.0)
    keys: int = 4096
    dim: int = 128
    block: int = 128
    sinks: int = 4

    def configurations(self):
        return len(ORDERS) * len(self.scales) * len(self.deltas)


def round_e4m3(x):
    """Nearest E4M3 value to 0 <= x <= 448 in float32, ties to even: 4 significant bits, below 2^-6 multiples of 2^-9."""
    bits = x.view(np.int32)
    kept = ((bits + (0x7FFFF + ((bits >> 20) & 1))) & ~0xFFFFF).view(np.float32)
    shift = np.float32(1.5 * 2**14)  # whose last place is 2^-9
    return np.where(x < np.float32(2**-6), (x + shift) - shift, kept)


def philox_words(seed, trial, stream, count):
    """The words of docs/numerics.md, section 1 (Philox4x32-10), in NumPy."""
    index = np.arange(-(-count // 4), dtype=np.uint64)
    low = np.uint64(0xFFFFFFFF)
    c = [np.full_like(index, trial), np.full_like(index, stream), index & low, index >> np.uint64(32)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=1).reshape(-1)[:count]


def pcast_draws(grid, trials, seed=1):
    """pcast's own draws; the standard library's inverse is AS 241 too."""
    quantile = np.frompyfunc(statistics.NormalDist().inv_cdf, 1, 1)

    def normals(trial, stream, count):
        return quantile((philox_words(seed, trial, stream, count) + 0.5) * 2.0**-32).astype(np.float64)

    scores = np.stack([normals(t, 0, grid.keys) for t in range(trials)])
    values = np.stack([normals(t, 1, grid.keys * grid.dim).reshape(grid.keys, grid.dim) for t in range(trials)])
    return scores, values.astype(np.float32)


def numpy_draws(grid, trials, generator):
    """Draws as a user makes them."""
    scores = generator.standard_normal((trials, grid.keys))
    return scores, generator.standard_normal((trials, grid.keys, grid.dim), dtype=np.float32)


def compare(result, grid, path):
    """Largest differences from a CSV of pcast's on the same draws: of underflow in keys, of mse relative."""
    flushed, other, mse = result
    keys = worst = 0
    for row in csv.DictReader(open(path, newline="")):
        at = ORDERS.index(row["order"]), grid.scales.index(float(row["scale"])), grid.deltas.index(float(row["delta"]))
        keys = max(keys, abs(float(row["underflow"]) * other[at] - flushed[at]))
        worst = max(worst, abs(float(mse[at]) / float(row["mse"]) - 1))
    return keys, worst


def seconds_each(simulate, grid, trials, rounds):
    """Median over rounds of the process's own time for one configuration of one trial, draws included."""
    generator = np.random.default_rng(1)
    times = []
    for _ in range(rounds):
        start = time.process_time()
        simulate(*numpy_draws(grid, trials, generator), grid)
        times.append((time.process_time() - start) / (trials * grid.configurations()))
    return statistics.median(times)
