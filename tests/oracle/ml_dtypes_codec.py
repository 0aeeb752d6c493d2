#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The codec against ml_dtypes.float8_e4m3fn, through `pcast codec`.

Every float16, bfloat16 and E4M3 encoding, and float32 encodings around every rounding boundary and at random.
ml_dtypes turns overflow into NaN and keeps a NaN's sign, hence the options. Not float64: there ml_dtypes rounds
twice, through float32, and is wrong beside every midpoint (tests/unit/test_format.c has these cases).

usage: ml_dtypes_codec.py PCAST; exit 77 (skipped) where a package is missing.
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

E4M3 = ml_dtypes.float8_e4m3fn


def run(pcast, source, target, bits, width):
    """Codes of the given bit patterns."""
    text = "".join(f"0x{int(b):0{width // 4}X}\n" for b in bits)
    arguments = [pcast, "codec", "--from", source, "--to", target, "--overflow", "nan", "--nan", "sign"]
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == len(bits), (source, target, len(rows), len(bits))
    return np.array([int(row["code"], 16) for row in rows], dtype=np.uint64)


def boundaries():
    """Values, midpoints of neighbours, and both float32 neighbours of each, with both signs."""
    dtype = np.float32
    values = np.arange(127, dtype=np.uint8).view(E4M3).astype(np.float64)
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2, [464.0, 480.0]]).astype(dtype)
    near = np.concatenate([points, np.nextafter(points, dtype(0)), np.nextafter(points, dtype(np.inf))])
    return np.concatenate([near, -near, np.array([np.inf, -np.inf, np.nan], dtype=dtype)])


def compare(name, got, expected):
    wrong = np.flatnonzero(got != expected)
    print(f"{name}: {len(got)} values, {len(wrong)} wrong")
    for i in wrong[:5]:
        print(f"  at {i}: got 0x{int(got[i]):X}, ml_dtypes 0x{int(expected[i]):X}")
    return len(wrong)


def main():
    pcast = sys.argv[1]
    random = np.random.default_rng(1)
    wrong = 0
    halves = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    with np.errstate(all="ignore"):
        for name, dtype in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
            expected = halves.view(dtype).astype(E4M3).view(np.uint8)
            wrong += compare(name, run(pcast, name, "e4m3", halves, 16), expected)
        # Exponents spread over E4M3's own range, so that most values round to something.
        scattered = random.standard_normal(100000) * 2.0 ** random.uniform(-12, 10, 100000)
        values = np.concatenate([boundaries(), scattered.astype(np.float32)])
        expected = values.astype(E4M3).view(np.uint8)
        wrong += compare("f32", run(pcast, "f32", "e4m3", values.view(np.uint32), 32), expected)
        codes = np.arange(256, dtype=np.uint32).astype(np.uint8)
        for name, dtype, word in (("f32", np.float32, np.uint32), ("f16", np.float16, np.uint16),
                                  ("bf16", ml_dtypes.bfloat16, np.uint16), ("f64", np.float64, np.uint64)):
            got = run(pcast, "e4m3", name, codes, 8).astype(word).view(dtype)
            expected = codes.view(E4M3).astype(dtype)
            same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(expected)
            wrong += compare(f"decode to {name}", same, np.ones(256, dtype=bool))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
