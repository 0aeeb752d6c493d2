#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast sweep` on tensors against NumPy, written from the definition of each column.

Random heads (grouped, causal with more keys than queries, a block size that does not divide the keys) in float32,
float16 and bfloat16, with outlier keys that act as sinks. Counts, sinks and gaps come from an exact float64 softmax
and an E4M3 rounding done with ml_dtypes; the simulator's FP32 arithmetic differs from that by rounding only, so
counts may differ by the few keys that lie on a rounding boundary.

usage: numpy_heads.py PCAST; exit 77 (skipped) where a package is missing.
"""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

HEADS, KV, QUERIES, KEYS, DIM, BLOCK, SINKS = 4, 2, 37, 150, 24, 32, 3


def expectations(q, k, v, order, scale):
    """One dictionary of columns a head, all in float64 but the cast."""
    result = []
    for head in range(HEADS):
        kk, vv = k[head // (HEADS // KV)], v[head // (HEADS // KV)]
        z = q[head] @ kk.T / np.sqrt(DIM)
        z[np.arange(KEYS)[None, :] > np.arange(QUERIES)[:, None] + KEYS - QUERIES] = -np.inf
        weights = np.exp(z - z.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        sinks = np.sort(np.argsort(-weights.sum(axis=0), kind="stable")[:SINKS])
        others = np.setdiff1d(np.arange(KEYS), sinks)
        flushed = total = 0
        mass = kept = error2 = reference2 = 0.0
        gaps, variances = [], []
        for row in z:
            seen = row[others][np.isfinite(row[others])]
            gaps.append(row[sinks].max() - seen.mean())
            variances.append(seen.var())
            m, l, o = -np.inf, 0.0, np.zeros(DIM)
            row_kept = row_mass = 0.0
            blocks = range(0, KEYS, BLOCK)
            for first in blocks if order == "forward" else reversed(blocks):
                s = row[first:first + BLOCK]
                if not np.isfinite(s).any():
                    continue
                new = max(m, s.max())
                alpha, p = np.exp(m - new), np.exp(s - new)
                cast = (p * scale).astype(np.float32).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
                is_other = ~np.isin(np.arange(first, first + len(s)), sinks)
                total += np.sum(is_other & (p > 0))
                flushed += np.sum(is_other & (p > 0) & (cast == 0))
                row_mass = alpha * row_mass + p[is_other].sum()
                row_kept = alpha * row_kept + cast[is_other].sum() / scale
                l = alpha * l + p.sum()
                o = alpha * o + cast @ vv[first:first + len(s)]
                m = new
            mass += row_mass / l
            kept += row_kept / l
            exact = np.exp(row - row.max())
            exact = exact @ vv / exact.sum()
            error2 += np.sum((o / (scale * l) - exact) ** 2)
            reference2 += np.sum(exact ** 2)
        gap = np.mean(gaps)
        result.append({
            "underflow": flushed / total, "mass_kept": kept / mass, "mse": error2 / QUERIES / DIM,
            "rel_l2": np.sqrt(error2 / reference2), "gap": gap, "gap_sigma": gap / np.sqrt(np.mean(variances)),
            "sink_keys": " ".join(map(str, sinks)), "one_key": 1 / total,
        })
    return result


def save(folder, name, array, kind):
    """Stores in the given type and returns what the file stands for, in float64."""
    path = os.path.join(folder, name + ".npy")
    if kind == "bf16":
        rounded = array.astype(ml_dtypes.bfloat16)
        np.save(path, rounded.view(np.uint16))
    else:
        rounded = array.astype({"f32": np.float32, "f16": np.float16}[kind])
        np.save(path, rounded)
    return path, rounded.astype(np.float64)


def main():
    random = np.random.default_rng(7)
    wrong = rows = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("f32", "f16", "bf16"):
            q = random.standard_normal((HEADS, QUERIES, DIM)) * 2
            k = random.standard_normal((KV, KEYS, DIM)) * 1.5
            q[:, :, 0] = 6
            k[:, [5, 70, 111], 0] += np.array([9, 7, 8])
            v = random.standard_normal((KV, KEYS, DIM))
            (pq, q), (pk, k), (pv, v) = (save(folder, n, a, kind) for n, a in (("q", q), ("k", k), ("v", v)))
            done = subprocess.run([sys.argv[1], "sweep", "--q", pq, "--k", pk, "--v", pv, "--mask", "causal",
                                   "--sinks", f"auto:{SINKS}", "--block", str(BLOCK)],
                                  capture_output=True, text=True, check=True)
            for row in csv.DictReader(io.StringIO(done.stdout)):
                want = expectations(q, k, v, row["order"], float(row["scale"]))[int(row["head"])]
                rows += 1
                tolerance = {"underflow": 3 * want["one_key"], "gap": 1e-5, "gap_sigma": 1e-5}
                for column in ("underflow", "mass_kept", "mse", "rel_l2", "gap", "gap_sigma"):
                    allowed = tolerance.get(column, 2e-3 * want[column])
                    if not abs(float(row[column]) - want[column]) <= allowed:
                        wrong += 1
                        print(f"{kind} {row['order']} S = {row['scale']} head {row['head']}: {column} "
                              f"{row[column]}, NumPy {want[column]:.9g}")
                predicted = "" if row["order"] == "reverse" else 0.5 * (1 + math.erf(
                    (want["gap"] - math.log(1024 * float(row["scale"]))) / (want["gap"] / want["gap_sigma"]) / math.sqrt(2)))
                if (row["theory_f"] == "") != (predicted == "") or (
                        predicted != "" and abs(float(row["theory_f"]) - predicted) > 1e-4 * predicted):
                    wrong += 1
                    print(f"{kind} head {row['head']}: theory_f {row['theory_f']}, NumPy {predicted}")
                if row["sink_keys"] != want["sink_keys"]:
                    wrong += 1
                    print(f"{kind} head {row['head']}: sinks {row['sink_keys']}, NumPy {want['sink_keys']}")
    print(f"heads against NumPy: {rows} rows, {wrong} values wrong")
    sys.exit(1 if wrong or rows != 3 * HEADS * 6 else 0)


if __name__ == "__main__":
    main()
