#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pcast's default sweep beside the same in NumPy and, where it is installed, PyTorch.

First every peer simulates two trials of pcast's own draws and must agree with pcast's CSV: underflow within 2 keys of
100 000 (float32 exponentials of NumPy may differ in the last bit), mse within 1 %. Then all are timed in turn, each on one
thread, over several rounds; medians of the process's own time for one configuration of one trial, draws and exact
reference included. pcast's is the difference between 96 and 32 trials, free of start and theory, which its CSV
holds besides; the whole command is given too. Last one against two threads by the clock: what else runs counts there.

usage: sweep.py PCAST [ROUNDS]
"""
import importlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import definition

PEERS = (("numpy_loop", 1), ("numpy_batched", 4), ("torch_batched", 4))


def found_peers():
    for name, trials in PEERS:
        try:
            yield name, importlib.import_module(name).simulate, trials
        except (ImportError, OSError) as error:
            print(f"{name}: not measured ({str(error).splitlines()[0]})")


def sweep(pcast, path, trials, threads=1):
    """Own time and clock's time of a default sweep."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    subprocess.run([pcast, "sweep", "--trials", str(trials), "--threads", str(threads), "-o", path], check=True,
                   env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start


def check(peers, grid, pcast, path):
    sweep(pcast, path, 2)
    draws = definition.pcast_draws(grid, 2)
    for name, simulate, _ in peers:
        keys, mse = definition.compare(simulate(*draws, grid), grid, path)
        allowed = 2e-5 * 2 * (grid.keys - grid.sinks)
        print(f"{name}: underflow within {keys:.1f} keys of pcast's, mse within {100 * mse:.2g} %")
        if keys > max(1.01, allowed) or mse > 0.01:
            sys.exit(f"{name} does not agree")


def main():
    pcast, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    grid = definition.Grid()
    peers = list(found_peers())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sweep.csv")
        check(peers, grid, pcast, path)
        times = {name: [] for name, _, _ in peers}
        own, whole, one, two = [], [], [], []
        for _ in range(rounds):
            for name, simulate, trials in peers:
                times[name].append(definition.seconds_each(simulate, grid, trials, 1))
            few, many = (sweep(pcast, path, trials)[0] for trials in (32, 96))
            own.append((many - few) / (64 * grid.configurations()))
            seconds, clock = sweep(pcast, path, 64)
            whole.append(seconds / (64 * grid.configurations()))
            one.append(clock)
            two.append(sweep(pcast, path, 64, 2)[1])
    base, command = statistics.median(own), statistics.median(whole)
    print(f"\nmilliseconds for one configuration of one trial, medians of {rounds} rounds, and times pcast's")
    print(f"{'pcast, one thread':24} {1e3 * base:8.4f} {1:8.1f}")
    print(f"{'  with start and theory':24} {1e3 * command:8.4f} {command / base:8.1f}")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:24} {1e3 * median:8.4f} {median / base:8.1f}   {median / command:.1f} times the whole command's")
    print(f"default sweep by the clock: {statistics.median(one):.2f} s on one thread, {statistics.median(two):.2f} s on two; "
          f"ratio of medians {statistics.median(one) / statistics.median(two):.2f}, of the best {min(one) / min(two):.2f}")


if __name__ == "__main__":
    main()
