#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`pcast theory` against second formulations in NumPy, and the theory columns of `pcast sweep` against it.

mse_theory and theory_mass_kept: for rows of two keys, a plain double integral over the two scores with the cast done by
ml_dtypes, no transforms; for longer rows Monte Carlo over whole rows, within four standard errors. theory_saturated:
Monte Carlo of the chain of stale maxima. worst_point: a dense grid of p through ml_dtypes.

usage: theory_numpy.py PCAST; exit 77 (skipped) where a package is missing.
"""
import csv
import io
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

wrong = checked = 0


def check(name, got, want, tolerance):
    global wrong, checked
    checked += 1
    if not abs(float(got) - want) <= tolerance:
        wrong += 1
        print(f"{name}: got {got}, NumPy {want:.9g} +- {tolerance:.3g}")


def rows_of(command, *arguments):
    done = subprocess.run([sys.argv[1], command, *arguments], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def cast(p, scale):
    """E4M3(p S) / S, saturating."""
    scaled = np.minimum(p * scale, 448.0).astype(np.float32)
    return scaled.astype(ml_dtypes.float8_e4m3fn).astype(np.float64) / scale


def row_loss(scores, order, block, scale, sinks):
    """Per row of scores [rows, keys]: error sum, kept and total mass of the other keys, over l^2 and l."""
    keys = scores.shape[1]
    blocks = range(0, keys, block)
    final = scores.max(axis=1, keepdims=True)
    running = np.full(scores.shape[0], -np.inf)
    error = kept = mass = 0
    for first in blocks if order == "forward" else reversed(blocks):
        s = scores[:, first:first + block]
        running = np.maximum(running, s.max(axis=1))
        p = np.exp(s - running[:, None])
        q = cast(p, scale)
        later = np.exp(running - final[:, 0])
        other = np.arange(first, first + s.shape[1]) >= sinks
        error = error + later ** 2 * ((p - q) ** 2).sum(axis=1)
        kept = kept + later * q[:, other].sum(axis=1)
        mass = mass + later * p[:, other].sum(axis=1)
    l = np.exp(scores - final).sum(axis=1)
    return error / l ** 2, kept / l, mass / l


def two_keys():
    """One sink, one other key: a midpoint rule over both scores, itself good to a fifth of a percent."""
    def grid(count):
        points = (np.arange(count) + 0.5) / count * 16 - 8
        return points, np.exp(-points ** 2 / 2) / np.sqrt(2 * np.pi) * (16 / count)

    # Two different steps: with equal ones the differences of scores would be multiples of one number.
    (sink_points, sink_density), (points, density) = grid(997), grid(1200)
    for row in rows_of("theory", "--n", "2", "--sinks", "1", "--block", "1,2", "--delta", "0,4,8", "--scale", "1,256,300"):
        delta, scale, block = float(row["delta"]), float(row["scale"]), int(row["block"])
        error = kept = mass = 0.0
        for s0, w0 in zip(sink_points, sink_density):
            scores = np.stack([np.full_like(points, delta + s0), points], axis=1)
            e, k, m = row_loss(scores, row["order"], block, scale, 1)
            error += w0 * (density * e).sum()
            kept += w0 * (density * k).sum()
            mass += w0 * (density * m).sum()
        name = f"two keys, {row['order']}, B = {block}, Delta = {delta}, S = {scale}"
        check(f"mse_theory, {name}", row["mse_theory"], error, 2e-3 * error)
        check(f"theory_mass_kept, {name}", row["theory_mass_kept"], kept / mass, 2e-3)


def monte_carlo():
    random = np.random.default_rng(3)
    count = 20000
    for sigma in (0.6, 1.0, 2.0):
        for row in rows_of("theory", "--spread", "--n", "150", "--sinks", "3", "--block", "32", "--delta", "2,7", "--scale", "1,448,700",
                           "--sigma", str(sigma)):
            scores = random.standard_normal((count, 150)) * sigma
            scores[:, :3] += float(row["delta"])
            e, k, m = row_loss(scores, row["order"], 32, float(row["scale"]), 3)
            ratio = k.mean() / m.mean()
            name = f"{row['order']}, sigma = {sigma}, Delta = {row['delta']}, S = {row['scale']}"
            check(f"mse_theory, {name}", row["mse_theory"], e.mean(), 4 * e.std() / np.sqrt(count))
            sd, fourth = e.std(), ((e - e.mean()) ** 4).mean()
            check(f"mse_theory_sd, {name}", row["mse_theory_sd"], sd, 4 * np.sqrt((fourth - sd ** 4) / count) / 2 / sd)
            check(f"theory_mass, {name}", row["theory_mass"], m.mean(), 4 * m.std() / np.sqrt(count))
            check(f"theory_mass_kept, {name}", row["theory_mass_kept"], ratio,
                  4 * (k - ratio * m).std() / m.mean() / np.sqrt(count))


def saturation():
    random = np.random.default_rng(4)
    count, keys, block = 100000, 100, 16
    for tau in (0.9, 2.0, 4.0):
        for row in rows_of("theory", "--n", str(keys), "--block", str(block), "--sinks", "2", "--delta", "1,4", "--scale", "256,448",
                           "--tau", str(tau)):
            scores = random.standard_normal((count, keys))
            scores[:, :2] += float(row["delta"])
            stale = np.full(count, -np.inf)
            saturated = np.zeros(count)
            blocks = range(0, keys, block)
            for first in blocks if row["order"] == "forward" else reversed(blocks):
                s = scores[:, first:first + block]
                top = s.max(axis=1)
                stale = np.where(top > stale + tau * np.log(2), top, stale)
                saturated += (np.exp(s - stale[:, None]) * float(row["scale"]) > 464).sum(axis=1)
            fraction = saturated / keys
            check(f"theory_saturated, {row['order']}, tau = {tau}, Delta = {row['delta']}, S = {row['scale']}",
                  row["theory_saturated"], fraction.mean(), 4 * fraction.std() / np.sqrt(count) + 1e-6)


def resolution():
    p = np.linspace(0, 1, 2000001)
    for row in rows_of("theory", "--dp", "--scale", "1,3,100,256,264,300,448,500,0.02"):
        worst = np.abs(p - cast(p, float(row["scale"]))).max()
        check(f"worst_point, S = {row['scale']}", row["worst_point"], worst, 1e-6)


def sweep_columns():
    grid = ("--n", "300", "--block", "64", "--delta", "1,6,9", "--scale", "1,256")
    for got, want in zip(rows_of("sweep", *grid, "--dim", "1", "--trials", "1"), rows_of("theory", *grid), strict=True):
        for column in ("order", "scale", "delta"):
            check(column, got[column] == want[column], 1, 0)
        for column in ("theory_f", "theory_exact", "mse_theory"):
            if want[column] == "":
                check(f"{column} empty", got[column] == "", 1, 0)
            else:
                check(f"sweep's {column}", got[column], float(want[column]), 1e-5 * float(want[column]))


if __name__ == "__main__":
    two_keys()
    monte_carlo()
    saturation()
    resolution()
    sweep_columns()
    print(f"theory against NumPy: {checked} values, {wrong} wrong")
    sys.exit(1 if wrong or checked == 0 else 0)
