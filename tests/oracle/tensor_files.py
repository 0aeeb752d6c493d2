#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tensor files against NumPy, ml_dtypes and the safetensors package, through tests/oracle/tensor_copy.c.

Every code of each format of 8 and 16 bits and float32 patterns of all kinds, in ranks 0 to 3, written by numpy.save and by
safetensors, must come back bit by bit from both of our writers: NaNs of 8 bits and float16 by their sign, all else exactly.
Damaged safetensors files must be refused by us wherever the package refuses them.

usage: tensor_files.py TENSOR_COPY; exit 77 (skipped) where a package is missing.
"""
import os
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy as np
    import safetensors
    import safetensors.numpy
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

# Our name, NumPy's type, the name in safetensors.
FORMATS = [("e4m3", ml_dtypes.float8_e4m3fn, "F8_E4M3"), ("e5m2", ml_dtypes.float8_e5m2, "F8_E5M2"),
           ("e4m3fnuz", ml_dtypes.float8_e4m3fnuz, "F8_E4M3FNUZ"), ("e5m2fnuz", ml_dtypes.float8_e5m2fnuz, "F8_E5M2FNUZ"),
           ("f16", np.float16, "F16"), ("bf16", ml_dtypes.bfloat16, "BF16"), ("f32", np.float32, "F32")]
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def patterns(dtype, random):
    """All codes, or for float32 a sample with its corners; a multiple of 64."""
    width = np.dtype(dtype).itemsize
    if width < 4:
        return np.arange(256 ** width, dtype=np.uint32).astype(WORDS[width])
    corners = np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000], dtype=np.uint32)
    corners = np.concatenate([corners, corners | 0x80000000])
    return np.concatenate([corners, random.integers(0, 2 ** 32, 4096 - len(corners), dtype=np.uint32)])


def same(got, expected, dtype):
    """Codes that are equal, or NaNs of the same sign where the format keeps no more of them."""
    equal = got == expected
    if dtype in (np.float32, ml_dtypes.bfloat16):
        return equal
    nan = np.isnan(got.view(dtype).astype(np.float32)) & np.isnan(expected.view(dtype).astype(np.float32))
    top = np.array(1, dtype=got.dtype) << (8 * got.itemsize - 1)
    return equal | (nan & ((got & top) == (expected & top)))


def read_safetensors(path, name):
    with open(path, "rb") as file:
        data = file.read()
    assert int.from_bytes(data[:8], "little") % 8 == 0, "the header is not aligned"
    found = dict(safetensors.deserialize(data))
    assert found["one"]["dtype"] == "F8_E4M3" and bytes(found["one"]["data"]) == b"\x38", found["one"]
    tensor = found[name]
    return tensor["dtype"], tuple(tensor["shape"]), bytes(tensor["data"])


def check(tool, folder, label, source, fmt, codes):
    """One file through the tool; returns the number of failures."""
    name, dtype, st_dtype = fmt
    npy, st = os.path.join(folder, "out.npy"), os.path.join(folder, "out.safetensors")
    done = subprocess.run([tool, name, source, npy, st], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{label}: exit {done.returncode}: {done.stderr.strip()}")
        return 1
    array = np.load(npy)
    got_dtype, got_shape, got_bytes = read_safetensors(st, "t")
    got = np.frombuffer(got_bytes, dtype=codes.dtype).reshape(got_shape)
    wanted = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}.get(name, np.uint8)
    ok = array.dtype == wanted and array.shape == codes.shape and got_dtype == st_dtype and got_shape == codes.shape
    ok = ok and same(array.view(codes.dtype) if array.ndim else array.reshape(1).view(codes.dtype).reshape(()),
                     codes, dtype).all() and same(got, codes, dtype).all()
    if not ok:
        print(f"{label}: wrong: {array.dtype} {array.shape}, {got_dtype} {got_shape}")
    return 0 if ok else 1


def round_trips(tool, folder, random):
    failures = cases = 0
    for fmt in FORMATS:
        name, dtype, _ = fmt
        flat = patterns(dtype, random)
        for shape in ((), (1,), (64,), (0, 3), (len(flat) // 64, 64), (2, len(flat) // 64, 32)):
            codes = flat[:int(np.prod(shape))].reshape(shape)
            values = codes.reshape(-1).view(dtype).reshape(shape)
            sources = [("plain codes", codes.view(codes.dtype if name not in ("f32", "f16") else dtype)
                        if shape else values if name in ("f32", "f16") else codes), ("typed", values)]
            for kind, array in sources:
                path = os.path.join(folder, "in.npy")
                np.save(path, array)
                failures += check(tool, folder, f"{name} {shape} NPY {kind}", path, fmt, codes)
                cases += 1
            path = os.path.join(folder, "in.safetensors")
            safetensors.numpy.save_file({"a": np.zeros(3, dtype=bool), "t": values, "z": np.ones(1)}, path)
            failures += check(tool, folder, f"{name} {shape} safetensors", path, fmt, codes)
            cases += 1
    print(f"{cases} files there and back, {failures} wrong")
    return failures


def damaged(tool, folder, random):
    """Where the package refuses a file so must we, and whatever we take must be what it reads."""
    good = safetensors.numpy.save({"t": np.arange(4, dtype=np.float32), "u": np.arange(3, dtype=np.float16)})
    interesting = b'{}[]",:0123456789 tuF'
    other = good.index(b"F16")  # a dtype we do not know does not matter in a tensor that is not read
    path = os.path.join(folder, "damaged.safetensors")
    outputs = [os.path.join(folder, "out.npy"), os.path.join(folder, "out.safetensors")]
    refused = wrong = 0
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(random.integers(1, 3)):
            at = random.integers(0, len(data))
            if not other <= at < other + 3:
                data[at] = interesting[random.integers(len(interesting))]
        if random.integers(4) == 0:
            data = data[:random.integers(len(data))]
        with open(path, "wb") as file:
            file.write(data)
        try:
            theirs = dict(safetensors.deserialize(bytes(data)))
        except Exception:
            theirs = None
        done = subprocess.run([tool, "e4m3", path + ":t", *outputs], capture_output=True, text=True)
        refused += done.returncode == 3
        if done.returncode not in (0, 3) or done.stderr.count("\n") != (done.returncode == 3):
            ok = False
        elif done.returncode == 0:
            ok = theirs is not None and read_safetensors(outputs[1], "t")[1:] == (
                tuple(theirs["t"]["shape"]), bytes(theirs["t"]["data"]))
        else:
            ok = theirs is None or "t" not in theirs or theirs["t"]["dtype"] not in [f[2] for f in FORMATS]
        if not ok:
            wrong += 1
            print(f"judged differently: {bytes(data)!r}: exit {done.returncode}, {done.stderr.strip()}")
    print(f"1500 damaged files, {refused} refused, {wrong} judged otherwise than by the package")
    return wrong


def main():
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        failures = round_trips(sys.argv[1], folder, random) + damaged(sys.argv[1], folder, random)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
