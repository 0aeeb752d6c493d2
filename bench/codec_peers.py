#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ml_dtypes' astype and PyTorch's .to between float32 and float8_e4m3fn, one thread, on the floats of bench/codec.c.

Prints lines as bench_codec does: medians over the rounds of the thread's own time. What is not installed is said and left
out. PyTorch saturates nothing but works on the same numbers; ml_dtypes and it give NaN for an overflow.

usage: codec_peers.py FOLDER [ROUNDS]
"""
import statistics
import sys
import time

import numpy as np


def median_rate(function, count, rounds):
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return count / statistics.median(times)


def peers():
    """name, from float32 to codes, from codes to float32, preparation"""
    found = []
    try:
        import ml_dtypes
        found.append((f"ml_dtypes {ml_dtypes.__version__}", lambda x: x, lambda x: x.astype(ml_dtypes.float8_e4m3fn),
                      lambda c: c.astype(np.float32)))
    except ImportError as error:
        print(f"ml_dtypes: not measured ({error})")
    try:
        import torch
        torch.set_num_threads(1)
        found.append((f"PyTorch {torch.__version__}", torch.from_numpy, lambda x: x.to(torch.float8_e4m3fn),
                      lambda c: c.to(torch.float32)))
    except (ImportError, OSError) as error:
        print(f"PyTorch: not measured ({str(error).splitlines()[0]})")
    return found


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11
    for name, prepare, encode, decode in peers():
        for data, file in (("normals", "normals.f32"), ("random bits", "random.f32")):
            x = prepare(np.fromfile(f"{folder}/{file}", dtype=np.float32))
            with np.errstate(all="ignore"):
                codes = encode(x)
                for what, function, argument in (("f32 to e4m3", encode, x), ("e4m3 to f32", decode, codes)):
                    rate = median_rate(lambda: function(argument), len(x), rounds)
                    print(f"{data:12} {what:26} {name:16} {rate / 1e6:7.1f} million/s")


if __name__ == "__main__":
    main()
