# SPDX-License-Identifier: MIT
"""Section 10 of docs/numerics.md on whole matrices, in NumPy's 64-bit integers, for hardware_definition.py.

The exact model is tensor_core_model.py, in fractions; its table of machines and its reading of a code are used here,
and check() compares the two."""
import random

import numpy as np

import tensor_core_model as exact
from exact_numbers import F32, F64, FORMATS

FINITE, POSITIVE, NEGATIVE, NOT_A_NUMBER = range(4)


def operand_table(machine, name):
    """Steps 10.3: all 256 codes as significands, exponents and kinds, and how many fraction bits significands have."""
    layout = exact.LAYOUTS[name]
    bits = exact.LAYOUTS["f16"].mantissa if machine.through_f16 else layout.mantissa
    table = np.zeros((3, 256), np.int64)
    for code in range(256):
        value, exponent = (exact.to_f16 if machine.through_f16 else exact.decode)(code, layout)
        if value is exact.NAN:
            table[2, code] = NOT_A_NUMBER
        elif isinstance(value, float):
            table[2, code] = POSITIVE if value > 0 else NEGATIVE
        elif value:
            table[:2, code] = int(value * 2 ** bits / exact.Fraction(2) ** exponent), exponent
    return table, bits


TABLES = {(machine, name): operand_table(exact.MACHINES[machine], name)
          for machine in exact.MACHINES for name in ("e4m3", "e5m2")}


def accumulator(c, output):
    """Step 10.5: significands, exponents and fraction bits of FP32 numbers, which for the output f16 are FP16's."""
    bits, least = (23, -126) if output == "f32" else (10, -14)
    fraction, exponent = np.frexp(np.where(np.isfinite(c), c, 0).astype(F64))
    exponent = np.maximum(exponent - 1, least)
    return np.ldexp(np.where(np.isfinite(c), c, 0).astype(F64), bits - exponent).astype(np.int64), exponent, bits


def aligned(significands, exponents, bits, largest, fraction):
    """Step 10.7"""
    left = fraction - bits - (largest - exponents)
    magnitude = np.abs(significands)
    magnitude = np.where(left >= 0, magnitude << np.clip(left, 0, 40), magnitude >> np.clip(-left, 0, 63))
    return np.sign(significands) * magnitude


def rounded(total, exponent, kept, output):
    """Step 10.9: total * 2^exponent."""
    if output == "f16":
        return FORMATS["f16"].round(np.ldexp(total.astype(F64), exponent))
    magnitude = np.abs(total)
    length = np.frexp(magnitude.astype(F64))[1]
    cut = np.maximum(exponent + length - 1, -126) - kept - exponent
    magnitude = magnitude >> np.clip(cut, 0, 63) << np.clip(cut, 0, 63)
    return np.ldexp((np.sign(total) * magnitude).astype(F64), exponent).astype(F32)  # infinite from 2^128 on


def step(machine, output, products, c):
    """10.2 and 10.4 to 10.9 of the products (significands, exponents, fraction bits, kinds) along the last axis."""
    significands, exponents, bits, kinds = products
    c_significand, c_exponent, c_bits = accumulator(c, output)
    far = np.int64(-(1 << 40))
    largest = np.maximum(np.where(significands != 0, exponents, far).max(axis=-1, initial=far),
                         np.where(c_significand != 0, c_exponent, far))
    nothing = largest == far
    largest = np.where(nothing, 0, largest)
    total = aligned(significands, exponents, bits, largest[..., None], machine.fraction).sum(axis=-1)
    total += aligned(c_significand, c_exponent, c_bits, largest, machine.fraction)
    result = rounded(total, largest - machine.fraction, machine.f32, output)
    result = np.where(nothing | (total == 0), F32(0), result)
    up = (kinds == POSITIVE).any(axis=-1) | (c == np.inf)
    down = (kinds == NEGATIVE).any(axis=-1) | (c == -np.inf)
    bad = (kinds == NOT_A_NUMBER).any(axis=-1) | np.isnan(c) | (up & down)
    return np.where(bad, np.nan, np.where(up, np.inf, np.where(down, -np.inf, result))).astype(F32)


def multiplied(tables, a, b):
    """10.2 and 10.4: products of codes [rows, 32] and [32, columns], as [rows, columns, 32]."""
    (ta, bits_a), (tb, bits_b) = tables
    x, y = ta[:, a][:, :, None, :], tb[:, b.T][:, None, :, :]
    infinite = [np.isin(operand[2], (POSITIVE, NEGATIVE)) for operand in (x, y)]
    zero = [(operand[2] == FINITE) & (operand[0] == 0) for operand in (x, y)]
    negative = [(operand[2] == NEGATIVE) | (operand[0] < 0) for operand in (x, y)]
    kinds = np.where(infinite[0] | infinite[1], np.where(negative[0] ^ negative[1], NEGATIVE, POSITIVE), FINITE)
    bad = (x[2] == NOT_A_NUMBER) | (y[2] == NOT_A_NUMBER) | infinite[0] & zero[1] | infinite[1] & zero[0]
    return x[0] * y[0], x[1] + y[1], bits_a + bits_b, np.where(bad, NOT_A_NUMBER, kinds)


def chain(name, formats, output, a, b, c):
    """10.11: codes a [rows, k] times b [k, columns], on top of c [rows, columns]."""
    machine = exact.MACHINES[name]
    tables = [TABLES[name, fmt] for fmt in formats]
    for first in range(0, a.shape[1], 32):
        part_a, part_b = np.zeros((len(a), 32), np.uint8), np.zeros((32, b.shape[1]), np.uint8)
        count = min(32, a.shape[1] - first)
        part_a[:, :count], part_b[:count] = a[:, first:first + count], b[first:first + count]
        significands, exponents, bits, kinds = multiplied(tables, part_a, part_b)
        d = np.zeros_like(c) if machine.late else c
        for ks in machine.steps:
            d = step(machine, output, (significands[..., ks], exponents[..., ks], bits, kinds[..., ks]), d)
        if machine.late:  # 10.10
            d = d + c if output == "f32" else FORMATS["f16"].round(d.astype(F64) + c)
        c = d
    return c


def check(count, seed):
    """Random dot products of every machine, pair of formats and kind by both models; returns (results, wrong ones)."""
    draw, results, wrong = random.Random(seed), 0, 0
    for name, machine in exact.MACHINES.items():
        for output in ("f32", "f16"):
            for formats in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")):
                for kind in exact.KINDS:
                    for _ in range(count):
                        k = draw.choice([1, 19, 32, 45])
                        a, b = (exact.random_codes(draw, kind, exact.LAYOUTS[fmt], k) for fmt in formats)
                        c = exact.random_accumulator(draw, kind, output)
                        want = exact.dot(machine, formats, output, a, b, c)
                        got = chain(name, formats, output, np.array([a], np.uint8), np.array([b], np.uint8).T,
                                    np.array([[c]], np.uint32).view(F32))[0, 0]
                        same = np.isnan(got) if want == 0x7FFFFFFF else int(got.view(np.uint32)) == want
                        results, wrong = results + 1, wrong + (not same)
                        if not same and wrong <= 3:
                            print(f"{name} {formats} {output}: a {bytes(a).hex()} b {bytes(b).hex()} c 0x{c:08X}: "
                                  f"integers 0x{int(got.view(np.uint32)):08X}, fractions 0x{want:08X}")
    return results, wrong
