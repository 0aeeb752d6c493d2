# SPDX-License-Identifier: MIT
"""Arithmetic for kernel_model.py that NumPy does not have, each operation rounded once: fma, the functions of
docs/numerics.md section 3, the 16-lane sum, and conversions between formats by a table of the format's values."""
import math

import mpmath
import numpy as np

F32, F64 = np.float32, np.float64
INF, NAN, ZERO, ONE = F32("inf"), F32("nan"), F32(0), F32(1)
np.seterr(all="ignore")


def fma_odd(a, b, c):
    """a * b + c rounded to odd in FP64: a product of two FP32 numbers is exact there, and so is the error of a sum.

    Rounding the result to a shorter format, in any direction, is as rounding the exact sum once."""
    product, c = np.multiply(a, b, dtype=F64), np.asarray(c, F64)
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)
    even = (np.atleast_1d(total).view(np.uint64) & np.uint64(1) == 0).reshape(np.shape(total))
    inexact = np.isfinite(total) & (lost != 0) & even
    return np.where(inexact, np.nextafter(total, np.where(lost > 0, np.inf, -np.inf)), total)


def fma(a, b, c):
    return fma_odd(a, b, c).astype(F32)[()]


def fma_toward_zero(a, b, c):
    odd = fma_odd(a, b, c)
    near = odd.astype(F32)
    away = np.isfinite(odd) & (np.abs(near.astype(F64)) > np.abs(odd))
    return np.where(away, np.nextafter(near, ZERO), near)[()]


def round_exact(number):
    """An mpmath number far longer than FP32, or exact, to FP32."""
    sign, mantissa, exponent, bits = number._mpf_
    if mantissa == 0:
        return ZERO
    cut = max(exponent + bits - 24, -149) - exponent  # bits below FP32's last place
    if cut > 0:
        whole, rest, half = mantissa >> cut, mantissa & ((1 << cut) - 1), 1 << (cut - 1)
        mantissa, exponent = whole + (rest > half or (rest == half and whole & 1)), exponent + cut
    return F32(math.ldexp(-mantissa if sign else mantissa, exponent))


def correctly_rounded(in_double, by_mpmath):
    """A function of FP32 numbers: by FP64 where its error, taken as 2^-40, cannot matter, else by mpmath."""
    def function(x):
        x = np.asarray(x, F32)
        y = in_double(x.astype(F64))
        low, high = (y * (1 - 2.0 ** -40)).astype(F32), (y * (1 + 2.0 ** -40)).astype(F32)
        result = np.array(y.astype(F32))
        for at in np.argwhere((low != high) & np.isfinite(y)):
            with mpmath.workprec(300):
                result[tuple(at)] = round_exact(by_mpmath(mpmath.mpf(float(x[tuple(at)]))))
        return result[()]
    return function


exp = correctly_rounded(np.exp, mpmath.exp)
exp2 = correctly_rounded(np.exp2, lambda x: mpmath.mpf(2) ** x)
log = correctly_rounded(np.log, mpmath.log)
log2 = correctly_rounded(np.log2, lambda x: mpmath.log(x) / mpmath.log(2))
tanh = correctly_rounded(np.tanh, mpmath.tanh)


def sum16(x):
    """The 16-lane sum over the first axis."""
    lanes = np.zeros((16,) + x.shape[1:], F32)
    for first in range(0, len(x), 16):
        part = x[first:first + 16]
        lanes[:len(part)] += part
    return fold(lanes)


def fold(lanes):
    for half in (8, 4, 2, 1):
        lanes = lanes[:half] + lanes[half:2 * half]
    return lanes[0]


class Format:
    """A format by the table of its values that are not negative, in order of their codes."""

    def __init__(self, width, mantissa, bias, infinity, fnuz=False, specials=1):
        exponent_bits = width - 1 - mantissa
        codes = np.arange(2 ** (width - 1))
        exponent, fraction = codes >> mantissa, codes & (2 ** mantissa - 1)
        values = np.where(exponent == 0, np.ldexp(fraction.astype(F64), 1 - bias - mantissa),
                          np.ldexp((fraction + 2 ** mantissa).astype(F64), exponent - bias - mantissa))
        if infinity:
            finite = (2 ** exponent_bits - 1) << mantissa
        else:
            finite = 2 ** (width - 1) - (0 if fnuz else specials)
        self.least_normal = 2.0 ** (1 - bias)
        self.dtype = np.uint8 if width == 8 else np.uint16
        self.values, self.largest = values[:finite], finite - 1
        after = values[finite] if finite < len(values) else 2 * values[-1] - values[-2]  # as if the format went on
        self.middles = (self.values + np.append(self.values[1:], after)) / 2
        self.infinity = finite if infinity else None
        self.sign = 1 << (width - 1)
        self.nan = self.sign if fnuz else self.sign - 1
        self.fnuz = fnuz
        # All codes to values.
        positive = np.append(self.values, np.full(self.sign - finite, np.nan))
        if infinity:
            positive[finite] = np.inf
        self.decoded = np.append(positive, -positive)
        if fnuz:
            self.decoded[self.sign] = np.nan
        self.decoded = self.decoded.astype(F32)

    def encode(self, x, saturate):
        x = np.asarray(x, F64)
        magnitude = np.abs(x)
        code = np.searchsorted(self.middles, magnitude, side="left")
        tie = self.middles[np.minimum(code, self.largest)] == magnitude
        code = np.where(tie & (code % 2 == 1), code + 1, code)
        beyond = self.largest if saturate else self.infinity if self.infinity is not None else self.nan
        code = np.where(code > self.largest, beyond, code)
        negative = np.signbit(x) & ~(self.fnuz & ((code == 0) | (code == self.nan)))
        code = np.where(np.isnan(x), self.nan, np.where(negative, code | self.sign, code))
        return code.astype(self.dtype)

    def round(self, x):
        """To nearest, overflow to infinity."""
        return self.decoded[self.encode(x, False)]


FORMATS = {
    "e4m3": Format(8, 3, 7, False), "e5m2": Format(8, 2, 15, True),
    "e4m3fnuz": Format(8, 3, 8, False, fnuz=True), "e5m2fnuz": Format(8, 2, 16, False, fnuz=True),
    "f16": Format(16, 10, 15, True), "bf16": Format(16, 7, 127, True),
}
