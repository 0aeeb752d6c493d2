#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast tensorcore` against results measured on GPUs, and how many of them wrong arithmetic would get right.

The vectors are Khattak and Mikaitis's (MATLAB-tensor-core, model_validation/, BSD 2-Clause), 2500 dot products of 32
a format, as NPY files in one folder; they are not part of this repository. Every one must be reproduced, by the command at
every CPU level and by the model of tensor_core_model.py; each wrong variant of the model must miss some, or the
vectors would prove nothing about that step.

usage: tensor_core_hardware.py PCAST FOLDER; exit 77 where the folder or NumPy is missing.
"""
import os
import sys
import tempfile

from tensor_core_model import LEVELS, MACHINES, Variant, dot, run

ALL = list(range(32))
HOPPER_VARIANTS = {
    "F = 12": Variant(fraction=12),
    "F = 14": Variant(fraction=14),
    "terms rounded down": Variant(floor=True),
    "products normalised": Variant(normalised=True),
    "result to 23 bits": Variant(output=23),
    "result to nearest": Variant(output_nearest=True),
    "two steps of 16": Variant(steps=[ALL[:16], ALL[16:]]),
}
ADA_VARIANTS = {
    "F = 12": Variant(fraction=12),
    "F = 14": Variant(fraction=14),
    "terms rounded down": Variant(floor=True),
    "halves swapped": Variant(steps=[ALL[16:], ALL[:16]]),
    "one step of 32": Variant(steps=[ALL]),
    "accumulator added late": Variant(late=True),
}


def main():
    pcast, folder = sys.argv[1:]
    if not os.path.isdir(folder):
        print(f"skipped: no hardware vectors in {folder}")
        sys.exit(77)
    try:
        import numpy as np
    except ImportError as error:
        print(f"skipped: Python package {error.name} is missing")
        sys.exit(77)
    failures = 0

    def expect(what, count, good):
        nonlocal failures
        failures += not good
        print(f"{'' if good else 'WRONG: '}{what}: {count}")

    with tempfile.TemporaryDirectory() as work:
        for machine, stem, variants in (("hopper-wgmma", "hopper_wgmma", HOPPER_VARIANTS),
                                        ("ada-mma", "ada_mma", ADA_VARIANTS)):
            for fp8 in ("e4m3", "e5m2"):
                load = lambda name: np.load(os.path.join(folder, f"{fp8}_{name}.npy"))
                a, b, d = load("a"), load("b"), load(f"d_{stem}_f32")
                c = load(f"c_{stem}_f32") if machine == "ada-mma" else np.zeros(len(d), dtype=np.uint32)
                total = len(d)
                assert total == 2500 and d.dtype == c.dtype == np.uint32
                for level in LEVELS:
                    got = run(pcast, work, ["--machine", machine, "--format", fp8, "--rowwise", "--cpu", level], a, b, c)
                    right = int((got == d).sum())
                    expect(f"{machine}, {fp8}, {level}", f"{right} of {total}", right == total)
                rows = [(bytes(x), bytes(y), int(z), int(w)) for x, y, z, w in zip(a, b, c, d)]

                def count(variant):
                    return sum(dot(MACHINES[machine], (fp8, fp8), "f32", x, y, z, variant) == w for x, y, z, w in rows)

                right = count(Variant())
                expect(f"{machine}, {fp8}, model", f"{right} of {total}", right == total)
                for name, variant in variants.items():
                    right = count(variant)
                    expect(f"{machine}, {fp8}, wrong: {name}", f"{right} of {total}", right < total)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
