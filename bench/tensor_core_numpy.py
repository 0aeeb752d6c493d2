#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The step of hopper-wgmma (docs/numerics.md, section 10) in NumPy, on the matrix product of bench/tensor_core.c.

All results of a block of 32 k at once: the operands are decoded once by table, products and exponents are outer
products over [32, rows, N] in the narrowest integers that hold them, and rows are taken a few at a time so that the
arrays stay in the cache. Prints multiply-adds a second, the best of three runs; with files A B D it multiplies those
instead, to be compared with the command.

usage: tensor_core_numpy.py [A.npy B.npy D.npy]
"""
import sys
import time

import numpy as np

F, NONE = 13, -1000
CODES = np.arange(256)
FIELD, MANTISSA = CODES >> 3 & 15, CODES & 7
NEGATIVE = CODES >> 7 == 1
SIGNIFICAND = (np.where(FIELD > 0, 8 + MANTISSA, MANTISSA) * np.where(NEGATIVE, -1, 1)).astype(np.int16)
EXPONENT = np.where(CODES & 0x7F, np.maximum(FIELD, 1) - 7, NONE).astype(np.int16)


def step(sa, ea, sb, eb, c):
    """sa, ea [rows, 32]; sb, eb [32, N]; c [rows, N] float32 bits as int32; no NaN, infinities, subnormal c."""
    product = sa.T[:, :, None] * sb[:, None, :]
    exponent = ea.T[:, :, None] + eb[:, None, :]
    field = c >> 23 & 0xFF
    c_exponent = np.where(field > 0, field - 127, NONE).astype(np.int16)
    significand = np.where(field > 0, c & 0x7FFFFF | 0x800000, 0)
    largest = np.maximum(exponent.max(axis=0), c_exponent)
    aligned = np.abs(product) << np.int16(F - 6) >> np.minimum(largest - exponent, np.int16(15))
    total = np.where(product < 0, -aligned, aligned).sum(axis=0, dtype=np.int32)
    c_aligned = significand >> np.minimum(10 + largest - c_exponent.astype(np.int32), 31)
    total += np.where(c < 0, -c_aligned, c_aligned)
    value = np.ldexp(total.astype(np.float32), (largest - F).astype(np.int32)).astype(np.float32)
    return np.where(total == 0, 0, value.view(np.int32) & ~0x3FF)


def multiply(a, b, rows=8):
    sb, eb = SIGNIFICAND[b], EXPONENT[b]
    sa, ea = SIGNIFICAND[a], EXPONENT[a]
    d = np.zeros((len(a), b.shape[1]), dtype=np.int32)
    for first in range(0, len(a), rows):
        part = slice(first, first + rows)
        for k in range(0, a.shape[1], 32):
            block = slice(k, k + 32)
            d[part] = step(sa[part, block], ea[part, block], sb[block], eb[block], d[part])
    return d.view(np.float32)


def main():
    if len(sys.argv) == 4:
        np.save(sys.argv[3], multiply(np.load(sys.argv[1]), np.load(sys.argv[2])))
        return
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 0x7F, shape, dtype=np.uint8) | rng.integers(0, 2, shape, dtype=np.uint8) << 7
            for shape in ((64, 512), (512, 128)))
    best = 0
    for _ in range(3):
        start = time.process_time()
        multiply(a, b)
        best = max(best, 64 * 512 * 128 / (time.process_time() - start))
    print(f"{best:.6g}")


if __name__ == "__main__":
    main()
