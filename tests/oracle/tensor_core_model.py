#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FP8 tensor cores in exact rationals: a second implementation of docs/numerics.md, section 10, and `pcast tensorcore`
against it, bit by bit.

Numbers are fractions.Fraction here, so what the C code does with shifts of integers is done with floor and
multiplication; only the decoding of codes and the choice of the aligning exponent follow the page. `Variant` switches
single steps to what they are not, to see how many results a test would catch.

usage: tensor_core_model.py PCAST [PROBLEMS [SEED]]; PROBLEMS a case, 20 by default. Exit 77 where NumPy is missing.
"""
import dataclasses
import os
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

INFINITY, NAN = float("inf"), "NaN"


@dataclasses.dataclass(frozen=True)
class Layout:
    """A binary format: mantissa bits, bias, exponent bits; E4M3 gives its last exponent to numbers."""
    mantissa: int
    bias: int
    exponent_bits: int
    e4m3: bool = False


LAYOUTS = {"e4m3": Layout(3, 7, 4, True), "e5m2": Layout(2, 15, 5), "f16": Layout(10, 15, 5), "f32": Layout(23, 127, 8)}


@dataclasses.dataclass(frozen=True)
class Variant:
    """Steps done wrongly, one at a time. `output` counts result bits behind the point, None: the machine's own."""
    fraction: int | None = None
    floor: bool = False
    normalised: bool = False
    output: int | None = None
    output_nearest: bool = False
    steps: list | None = None
    late: bool | None = None


@dataclasses.dataclass(frozen=True)
class Machine:
    """steps: which k each step multiplies; fraction: F; f32: bits kept of a float32 result; late: C added afterwards."""
    steps: list
    fraction: int
    f32: int
    through_f16: bool = False
    late: bool = False


ALL = list(range(32))
MACHINES = {
    "ada-mma": Machine([ALL[:16], ALL[16:]], 13, 13),
    "hopper-wgmma": Machine([ALL], 13, 13),
    "hopper-mma": Machine([[k for k in ALL if k % 4 < 2], [k for k in ALL if k % 4 >= 2]], 25, 23, True, True),
    "blackwell-tcgen05": Machine([ALL], 25, 23),
}


def decode(code, layout):
    """(value, exponent): a Fraction, an infinity or NAN; the exponent that aligns it, None where it is zero."""
    negative = code >> (layout.mantissa + layout.exponent_bits)
    field = code >> layout.mantissa & (1 << layout.exponent_bits) - 1
    rest = code & (1 << layout.mantissa) - 1
    sign = -1 if negative else 1
    if field == (1 << layout.exponent_bits) - 1:
        if layout.e4m3 and rest == 7:
            return NAN, None
        if not layout.e4m3:
            return (NAN if rest else sign * INFINITY), None
    exponent = max(field, 1) - layout.bias
    value = sign * (Fraction(rest, 1 << layout.mantissa) + (field > 0)) * Fraction(2) ** exponent
    return value, (exponent if value else None)


def binade(value):
    """floor(log2 |value|), value not zero."""
    value = abs(value)
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def toward_zero(value):
    return abs(value).numerator // abs(value).denominator * (-1 if value < 0 else 1)


def encode(value, layout, kept, nearest, zero_sign=0):
    """The code of a Fraction rounded to `kept` bits behind the point; beyond the largest binade it is infinite."""
    top = 1 << (layout.mantissa + layout.exponent_bits)
    if value == 0:
        return zero_sign * top
    sign = top if value < 0 else 0
    least = 1 - layout.bias
    unit = Fraction(2) ** (max(binade(value), least) - kept)
    count = round(abs(value) / unit) if nearest else toward_zero(abs(value) / unit)  # round(Fraction): ties to even
    magnitude = count * unit
    if magnitude == 0:
        return sign
    exponent = max(binade(magnitude), least)
    if exponent > layout.bias:
        return sign | ((1 << layout.exponent_bits) - 1) << layout.mantissa
    mantissa = magnitude / Fraction(2) ** exponent * (1 << layout.mantissa)
    assert mantissa.denominator == 1
    return sign | (exponent - least << layout.mantissa) + int(mantissa)


def special(values, layout):
    """The result's code where a summand is NaN or infinite, else None."""
    not_numbers = [v for v in values if v is NAN]
    signs = {v for v in values if v is not NAN and v in (INFINITY, -INFINITY)}
    if not_numbers or len(signs) == 2:
        return (1 << layout.mantissa + layout.exponent_bits) - 1
    if signs:
        top = ((1 << layout.exponent_bits) - 1) << layout.mantissa
        return top | (1 << layout.mantissa + layout.exponent_bits if -INFINITY in signs else 0)
    return None


def product(a, b):
    (x, ex), (y, ey) = a, b
    if x is NAN or y is NAN:
        return NAN, None
    if isinstance(x, float) or isinstance(y, float):
        if x == 0 or y == 0:
            return NAN, None
        return (INFINITY if (x > 0) == (y > 0) else -INFINITY), None
    return x * y, (ex + ey if x * y else None)


def fused_step(terms, layout, fraction, kept, nearest, variant):
    """terms: (value, exponent) of the products and the accumulator."""
    exceptional = special([value for value, _ in terms], layout)
    if exceptional is not None:
        return exceptional
    exponents = [binade(v) if variant.normalised else e for v, e in terms if e is not None]
    if not exponents:
        return 0
    unit = Fraction(2) ** (max(exponents) - fraction)
    cut = (lambda x: x.numerator // x.denominator) if variant.floor else toward_zero
    total = sum(cut(value / unit) for value, _ in terms) * unit
    return encode(total, layout, kept, nearest)


def to_f16(code, layout):
    """An FP8 code converted to FP16, decoded."""
    value, _ = decode(code, layout)
    if value is NAN or isinstance(value, float):
        return value, None
    return decode(encode(value, LAYOUTS["f16"], 10, True), LAYOUTS["f16"])


def add(x, y, layout):
    """x + y of codes, one rounding to nearest."""
    (a, _), (b, _) = decode(x, layout), decode(y, layout)
    exceptional = special([a, b], layout)
    if exceptional is not None:
        return exceptional
    top = layout.mantissa + layout.exponent_bits
    both_negative_zero = a + b == 0 and x >> top == 1 and y >> top == 1
    return encode(a + b, layout, layout.mantissa, True, int(both_negative_zero))


def instruction(machine, formats, output, a, b, c, variant=Variant()):
    """The code in `output` of 32 products and the accumulator's code c."""
    layout = LAYOUTS[output]
    read = to_f16 if machine.through_f16 else decode
    products = [product(read(x, LAYOUTS[formats[0]]), read(y, LAYOUTS[formats[1]])) for x, y in zip(a, b)]
    kept = machine.f32 if output == "f32" else 10
    kept = variant.output or kept
    nearest = output == "f16" or variant.output_nearest
    late = machine.late if variant.late is None else variant.late
    d = 0 if late else c
    for step in variant.steps or machine.steps:
        terms = [products[k] for k in step] + [decode(d, layout)]
        d = fused_step(terms, layout, variant.fraction or machine.fraction, kept, nearest, variant)
    return add(d, c, layout) if late else d


def dot(machine, formats, output, a, b, c, variant=Variant()):
    """The chain of instructions over k; bits of a float32, in and out."""
    layout = LAYOUTS[output]
    if not len(a):
        return c
    if output == "f16":
        c = narrow(c)
    for first in range(0, len(a), 32):
        row = list(a[first:first + 32]) + [0] * (first + 32 - len(a))
        column = list(b[first:first + 32]) + [0] * (first + 32 - len(b))
        c = instruction(machine, formats, output, row, column, c, variant)
    return widen(c) if output == "f16" else c


def narrow(bits):
    value, _ = decode(bits, LAYOUTS["f32"])
    exceptional = special([value], LAYOUTS["f16"])
    return encode(value, LAYOUTS["f16"], 10, True, bits >> 31) if exceptional is None else exceptional


def widen(code):
    value, _ = decode(code, LAYOUTS["f16"])
    exceptional = special([value], LAYOUTS["f32"])
    return encode(value, LAYOUTS["f32"], 23, True, code >> 15) if exceptional is None else exceptional


# Random operands. Kinds differ in what they exercise.
LEVELS = ("scalar", "avx2", "avx512")
KINDS = ["any", "special", "subnormal", "large", "cancel", "near"]


def random_codes(rng, kind, layout, count):
    """FP8 codes; without NaN and infinities but where the kind asks for them."""
    first_special = 0x7F if layout.e4m3 else 0x7C
    def one():
        sign = rng.getrandbits(1) << 7
        if kind == "special" and rng.random() < 0.03:
            return sign | rng.randint(first_special, 0x7F)
        if kind in ("subnormal", "special") and rng.random() < 0.8:
            return sign | rng.randint(0, 2 * (1 << layout.mantissa))
        if kind == "large":
            return sign | rng.randint(first_special - (3 << layout.mantissa), first_special - 1)
        if kind == "near":
            middle = layout.bias << layout.mantissa
            return sign | rng.randint(middle - (3 << layout.mantissa), middle + (3 << layout.mantissa))
        return sign | rng.randrange(first_special)
    codes = [one() for _ in range(count)]
    if kind == "cancel":  # the second half undoes most of the first
        for i in range(count // 2):
            codes[count - 1 - i] = codes[i]
    return codes


def random_accumulator(rng, kind, output):
    """Float32 bits, with all low bits there; of FP16 numbers for that output."""
    if output == "f16":
        code = rng.getrandbits(16)
        if kind != "special" and code & 0x7C00 == 0x7C00:
            code &= 0x83FF  # a subnormal
        if rng.random() < 0.2:
            code &= 0x8000
        elif rng.random() < 0.3:
            code &= 0x9FFF
        value, _ = decode(code, LAYOUTS["f16"])
        return 0x7FFFFFFF if value is NAN else widen(code)
    choice = rng.random()
    if choice < 0.15:
        return rng.getrandbits(1) << 31
    if kind == "special" and choice < 0.3:
        return rng.getrandbits(1) << 31 | 0xFF << 23 | rng.choice([0, 1, 0x400000, 0x7FFFFF])
    if choice < 0.3:
        return rng.getrandbits(1) << 31 | rng.getrandbits(23)
    if choice < 0.4:
        return rng.getrandbits(1) << 31 | rng.randrange(0xFF) << 23 | rng.getrandbits(23)
    return rng.getrandbits(1) << 31 | rng.randint(100, 150) << 23 | rng.getrandbits(23)


def run(pcast, folder, options, a, b, c):
    """D's bits from the command."""
    import numpy as np
    names = {name: os.path.join(folder, name + ".npy") for name in "abcd"}
    np.save(names["a"], np.array(a, dtype=np.uint8))
    np.save(names["b"], np.array(b, dtype=np.uint8))
    np.save(names["c"], np.array(c, dtype=np.uint32))
    subprocess.run([pcast, "tensorcore", "--a", names["a"], "--b", names["b"], "--c", names["c"], "-o", names["d"],
                    *options], check=True)
    return np.load(names["d"]).view(np.uint32)


def check_case(pcast, folder, rng, name, formats, output, kind, count):
    """Rows through --rowwise and a row against a matrix, k not always a multiple of 32, at each CPU level; returns
    (results, wrong ones)."""
    machine = MACHINES[name]
    options = ["--machine", name, "--format", formats[0], "--b-format", formats[1], "--output", output]
    layouts = [LAYOUTS[f] for f in formats]
    def signed(columns):
        """b's side of a cancelling product has the other sign."""
        if kind == "cancel":
            for column in columns:
                for i in range(len(column) // 2):
                    column[len(column) - 1 - i] = column[i] ^ 0x80
        return columns
    total = wrong = 0

    def compare(got, expected, describe):
        nonlocal total, wrong
        for index, (g, e) in enumerate(zip(got, expected)):
            total += 1
            if int(g) != e:
                wrong += 1
                if wrong <= 3:
                    a, b, c = describe(index)
                    print(f"  {' '.join(options)}: got 0x{int(g):08X}, expected 0x{e:08X}; a {bytes(a).hex()}, "
                          f"b {bytes(b).hex()}, c 0x{c:08X}")

    k = rng.choice([32, 32, 64, 19, 45])
    a = [random_codes(rng, kind, layouts[0], k) for _ in range(count)]
    b = signed([random_codes(rng, kind, layouts[1], k) for _ in range(count)])
    c = [random_accumulator(rng, kind, output) for _ in range(count)]
    expected = [dot(machine, formats, output, x, y, z) for x, y, z in zip(a, b, c)]
    for level in LEVELS:
        got = run(pcast, folder, options + ["--rowwise", "--cpu", level], a, b, c)
        compare(got, expected, lambda i: (a[i], b[i], c[i]))

    n, k = rng.randint(1, 40), rng.choice([32, 40, 70])
    row = random_codes(rng, "near" if kind == "special" else kind, layouts[0], k)
    columns = signed([random_codes(rng, kind, layouts[1], k) for _ in range(n)])
    c = [random_accumulator(rng, kind, output) for _ in range(n)]
    expected = [dot(machine, formats, output, row, column, z) for column, z in zip(columns, c)]
    matrix = [list(line) for line in zip(*columns)]
    for level in LEVELS:
        got = run(pcast, folder, options + ["--cpu", level], [row], matrix, [c])
        compare(got[0], expected, lambda j: (row, columns[j], c[j]))
    return total, wrong


def check_floats(rng):
    """The model's own rounding of float32 against struct's, which is C's."""
    for _ in range(2000):
        x = rng.uniform(-1, 1) * 2.0 ** rng.randint(-150, 127)
        bits = struct.unpack("<I", struct.pack("<f", x))[0]
        assert encode(Fraction(x), LAYOUTS["f32"], 23, True, bits >> 31) == bits, x
    for code in range(1 << 16):
        value, _ = decode(code, LAYOUTS["f16"])
        if value is not NAN:
            assert float(value) == struct.unpack("<e", struct.pack("<H", code))[0], code


def main():
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        print(f"skipped: Python package {error.name} is missing")
        sys.exit(77)
    pcast = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    check_floats(rng)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in MACHINES:
            for output in ("f32", "f16"):
                results = bad = 0
                for formats in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")):
                    for kind in KINDS:
                        more = check_case(pcast, folder, rng, name, formats, output, kind, count)
                        results, bad = results + more[0], bad + more[1]
                print(f"{name}, {output}: {results} results, {bad} wrong")
                wrong += bad
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
