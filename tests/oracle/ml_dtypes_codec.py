#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The codec against ml_dtypes and NumPy, through `pcast codec`, bit by bit.

Every code of the 8- and 16-bit formats into every format; float32 around every rounding boundary of the 8- and 16-bit
formats and at random; float64 likewise into float16 and float32.
The options follow ml_dtypes: overflow and infinities become the format's infinity or NaN (--overflow nan), and a NaN
keeps its sign (--nan sign). Differences by policy:
- Where NumPy copies the payload of a NaN (float16, bfloat16, float32 and float64 among themselves, a format into
  itself), the codec gives the quiet NaN of that sign, so expected NaNs are made that first.
- Not float64 to the other formats: ml_dtypes rounds twice there, through float32, and is wrong beside every midpoint
  (tests/unit/test_format.c has these cases).

usage: ml_dtypes_codec.py PCAST; exit 77 (skipped) where a package is missing.
"""
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

NARROW = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
          "e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
FORMATS = {**NARROW, "f32": np.float32, "f64": np.float64}


def word(name):
    """The unsigned integer of a format's width."""
    return np.dtype(f"u{np.dtype(FORMATS[name]).itemsize}")


def convert(pcast, source, target, bits):
    """Codes of the given bit patterns."""
    text = "".join(f"0x{int(b):X}\n" for b in bits)
    arguments = [pcast, "codec", "--from", source, "--to", target, "--overflow", "nan", "--nan", "sign"]
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
    head, *rows = done.stdout.splitlines()
    column = head.split(",").index("code")
    assert len(rows) == len(bits), (source, target, len(rows), len(bits))
    return np.array([int(row.split(",")[column], 16) for row in rows], dtype=word(target))


def check(pcast, source, target, values):
    """Compares the conversion of values, an array of the source's type; returns how many are wrong."""
    expected = values.astype(FORMATS[target])
    codes = expected.view(word(target))
    quiet = np.array([np.nan], dtype=np.float32).astype(FORMATS[target]).view(word(target))
    sign = codes & word(target).type(1 << 8 * word(target).itemsize - 1)
    codes = np.where(np.isnan(expected), quiet | sign, codes)
    bits = values.view(word(source))
    got = convert(pcast, source, target, bits)
    wrong = np.flatnonzero(got != codes)
    print(f"{source} to {target}: {len(got)} values, {len(wrong)} wrong")
    for i in wrong[:5]:
        print(f"  0x{int(bits[i]):X}: got 0x{int(got[i]):X}, expected 0x{int(codes[i]):X}")
    return len(wrong)


def around(target, codes, dtype):
    """Values of positive codes, the midpoints on both sides, and the neighbours of each in dtype, with both signs."""
    value, below = (c.astype(word(target)).view(FORMATS[target]).astype(np.float64) for c in (codes, codes - 1))
    value, step = value[np.isfinite(value)], (value - below)[np.isfinite(value)]
    # The step above a value is the step below, or twice it where a binade ends.
    points = np.unique(np.concatenate([value, value - step / 2, value + step / 2, value + step]).astype(dtype))
    near = np.unique(np.concatenate([points, np.nextafter(points, dtype(0)), np.nextafter(points, dtype(np.inf))]))
    return np.concatenate([near, -near, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan], dtype=dtype)])


def main():
    pcast = sys.argv[1]
    random = np.random.default_rng(1)
    wrong = 0
    with np.errstate(all="ignore"):
        for source, dtype in NARROW.items():
            codes = np.arange(1 << 8 * word(source).itemsize).astype(word(source))
            for target in FORMATS:
                wrong += check(pcast, source, target, codes.view(dtype))
        scattered = random.standard_normal(100000) * 2.0 ** random.uniform(-30, 20, 100000)
        for target in NARROW:
            codes = np.arange(1, 1 << 8 * word(target).itemsize - 1)
            values = np.concatenate([around(target, codes, np.float32), scattered.astype(np.float32)])
            wrong += check(pcast, "f32", target, values)
        for target, codes in (("f16", np.arange(1, 0x7C00)), ("f32", random.integers(1, 0x7F800000, 50000))):
            wrong += check(pcast, "f64", target, np.concatenate([around(target, codes, np.float64), scattered]))
        any32 = random.integers(0, 1 << 32, 100000, dtype=np.uint32).view(np.float32)
        wrong += check(pcast, "f32", "f64", any32)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
