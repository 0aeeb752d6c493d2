#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/tensor_core: dot products with what each machine gives, from the exact model of
tests/oracle/tensor_core_model.py. The golden suite compares `pcast tensorcore` with them.

usage: make_tensor_core_vectors.py [FOLDER]
"""
import os
import random
import sys

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
from tensor_core_model import KINDS, LAYOUTS, MACHINES, dot, random_accumulator, random_codes  # noqa: E402

ROWS_PER_KIND, K = 32, 72  # two whole instructions and a part of one


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "data", "tensor_core")
    rng = random.Random(20)
    codes, accumulators = {}, {}
    for name in ("e4m3", "e5m2"):
        for side in "ab":
            rows = [random_codes(rng, kind, LAYOUTS[name], K) for kind in KINDS for _ in range(ROWS_PER_KIND)]
            codes[name, side] = rows
            np.save(os.path.join(folder, f"{side}_{name}.npy"), np.array(rows, dtype=np.uint8))
    for output in ("f32", "f16"):
        bits = [random_accumulator(rng, kind, output) for kind in KINDS for _ in range(ROWS_PER_KIND)]
        accumulators[output] = bits
        np.save(os.path.join(folder, f"c_{output}.npy"), np.array(bits, dtype=np.uint32))
    for name, machine in MACHINES.items():
        for formats in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2")):
            for output, c in accumulators.items():
                rows = zip(codes[formats[0], "a"], codes[formats[1], "b"], c)
                d = [dot(machine, formats, output, *row) for row in rows]
                path = os.path.join(folder, f"d_{name}_{formats[0]}_{formats[1]}_{output}.npy")
                np.save(path, np.array(d, dtype=np.uint32).view(np.float32))


if __name__ == "__main__":
    main()
