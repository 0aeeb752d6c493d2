#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast theory` against mpmath, by formulas other than the library's.

delta_k is integrated from the density of the maximum, x k phi(x) Phi(x)^(k-1), not from its tails. The expected
underflow is integrated over the key's own score s: P(flushed) = E over s of P(M > s + D), where M is the maximum of
the other keys seen, block by block.

usage: theory_mpmath.py PCAST; exit 77 (skipped) where mpmath is missing.
"""
import csv
import io
import subprocess
import sys

try:
    from mpmath import log, mp, mpf, ncdf, npdf, quad, sqrt
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

mp.dps = 25


def delta_k(k):
    return quad(lambda x: x * k * npdf(x) * ncdf(x) ** (k - 1), [-40, -8, -4, 0, 2, 4, 8, 40])


def flushed(depth, others, sinks, delta):
    """P that a key's score lies `depth` or more below the maximum of `others` keys and `sinks` sinks."""
    def tail(s):
        return npdf(s) * (1 - ncdf(s + depth) ** others * ncdf(s + depth - delta) ** sinks)
    return quad(tail, [-38, -20, -14, -10, -7, -5, -3, -1, 1, 3, 6, 12])


def expected(order, n, block, sinks, delta, depth):
    blocks = -(-n // block)
    total = outside = mpf(0)
    seen = 0
    for j in range(blocks) if order == "forward" else range(blocks - 1, -1, -1):
        count = min(n, (j + 1) * block) - j * block
        seen += count
        sinks_seen = sinks if order == "forward" or j == 0 else 0
        counted = count - (sinks if j == 0 else 0)
        part = counted * flushed(depth, seen - sinks_seen - 1, sinks_seen, delta)
        total += part
        outside += part if j > 0 else 0
    return outside / (n - block), total / (n - sinks)


def delta_k_sd(k):
    mean = delta_k(k)
    return sqrt(quad(lambda x: (x - mean) ** 2 * k * npdf(x) * ncdf(x) ** (k - 1), [-40, -8, -4, 0, 2, 4, 8, 40]))


def main():
    wrong = 0

    def check(name, got, want, tolerance):
        nonlocal wrong
        error = abs(mpf(got) - want) / abs(want)
        if not error < tolerance:
            wrong += 1
            print(f"{name}: got {got}, mpmath {mp.nstr(want, 12)}")

    def theory(*arguments):
        done = subprocess.run([sys.argv[1], "theory", *arguments], capture_output=True, text=True, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    rows = 0
    for row in theory("--sinks", "2,3,4,7,16,64", "--delta", "5", "--order", "forward", "--scale", "1,17,448"):
        k, scale = int(row["sinks"]), mpf(row["scale"])
        want = delta_k(k)
        check(f"delta_k, k = {k}", row["delta_k"], want, 1e-8)
        check(f"delta_k_sd, k = {k}", row["delta_k_sd"], delta_k_sd(k), 1e-8)
        check(f"delta_c, k = {k}, S = {scale}", row["delta_c"], 10 * log(2) + log(scale) - want, 1e-8)
        check(f"F, k = {k}, S = {scale}", row["theory_f"], ncdf(5 + want - 10 * log(2) - log(scale)), 1e-7)
        rows += 1
    for shape in (("--n", "300", "--block", "64"), ("--n", "200", "--block", "100", "--sinks", "1")):
        for row in theory(*shape, "--delta", "0,6,13", "--scale", "1,256"):
            order, n, block, sinks = row["order"], int(row["n"]), int(row["block"]), int(row["sinks"])
            depth = 10 * log(2) + log(mpf(row["scale"]))
            outside, total = expected(order, n, block, sinks, mpf(row["delta"]), depth)
            # Below 7.5 * 2^-9 a code is subnormal or zero.
            subnormal = expected(order, n, block, sinks, mpf(row["delta"]), depth - log(7.5) - log(2))[1] - total
            name = f"{order}, N = {n}, B = {block}, Delta = {row['delta']}, S = {row['scale']}"
            check(f"theory_exact, {name}", row["theory_exact"], outside, 1e-7)
            check(f"theory_underflow, {name}", row["theory_underflow"], total, 1e-7)
            check(f"theory_subnormal, {name}", row["theory_subnormal"], subnormal, 1e-5)
            rows += 1
    print(f"theory against mpmath: {rows} rows, {wrong} values wrong")
    sys.exit(1 if wrong or rows == 0 else 0)


if __name__ == "__main__":
    main()
