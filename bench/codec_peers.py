#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ml_dtypes' and PyTorch's casts between float32 and float8_e4m3fn, one thread, on the floats of bench/codec.c.

Prints medians over the rounds of the thread's own time: into arrays that are there already,
as pcast bench works, and into the fresh ones that astype and .to return. What is not installed is said and left out.
Both give NaN for an overflow, where pcast bench saturates.

usage: codec_peers.py FOLDER [ROUNDS]
"""
import importlib
import statistics
import sys
import time

import numpy as np

COUNT = 1 << 24


def median_rate(function, count, rounds):
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return count / statistics.median(times)


def numpy_peer(ml_dtypes):
    fp8, e4m3, f32 = ml_dtypes.float8_e4m3fn, np.empty(COUNT, ml_dtypes.float8_e4m3fn), np.empty(COUNT, np.float32)
    return f"ml_dtypes {ml_dtypes.__version__}", lambda x: x, {
        "f32 to e4m3": lambda x: np.copyto(e4m3, x, casting="unsafe"),
        "f32 to e4m3, astype": lambda x: x.astype(fp8),
        "e4m3 to f32": lambda _: np.copyto(f32, e4m3, casting="unsafe"),
        "e4m3 to f32, astype": lambda _: e4m3.astype(np.float32)}


def torch_peer(torch):
    torch.set_num_threads(1)
    fp8, e4m3, f32 = torch.float8_e4m3fn, torch.empty(COUNT, dtype=torch.float8_e4m3fn), torch.zeros(COUNT)
    return f"PyTorch {torch.__version__.split('+')[0]}", torch.from_numpy, {
        "f32 to e4m3": e4m3.copy_,
        "f32 to e4m3, .to": lambda x: x.to(fp8),
        "e4m3 to f32": lambda _: f32.copy_(e4m3),
        "e4m3 to f32, .to": lambda _: e4m3.to(torch.float32)}


def peers():
    """Name, preparation of the floats, and what is measured; decoding is of the codes that were last made."""
    for name, make in (("ml_dtypes", numpy_peer), ("torch", torch_peer)):
        try:
            yield make(importlib.import_module(name))
        except (ImportError, OSError) as error:
            print(f"{name}: not measured ({str(error).splitlines()[0]})")


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 11
    for name, prepare, casts in peers():
        for data, file in (("normals", "normals.f32"), ("random bits", "random.f32")):
            x = prepare(np.fromfile(f"{folder}/{file}", dtype=np.float32))
            with np.errstate(all="ignore"):
                for what, cast in casts.items():
                    rate = median_rate(lambda: cast(x), len(x), rounds)
                    print(f"{data:12} {what:26} {name:16} {rate / 1e6:7.1f} million/s")


if __name__ == "__main__":
    main()
