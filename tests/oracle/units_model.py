#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The units of `pcast unit` against a second implementation in Python's integers, bit by bit.

A number is an integer times a power of two, so every sum and product is exact, and one function rounds to binary32, to
nearest or down. The instructions of expf and of FlashAttention-4's exp2 are carried out one by one as they are written
in PTX (docs/numerics.md, section 11), where src/hardware takes shortcuts. The tables are read from data/sfu, not from
the header made of them. exp, exp2, log, log2 and tanh are mpmath's, rounded once; cvt_e4m3 is a search among the values
of all codes.

usage: units_model.py PCAST [COUNT [SEED]]; exit 77 (skipped) where mpmath is missing.
"""
import bisect
import csv
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

try:
    import mpmath
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

NAN, INF, SIGN = 0x7FFFFFFF, 0x7F800000, 0x80000000
ONE = 0x3F800000


# -- binary32 in integers -------------------------------------------------------------------------------------------

def is_nan(bits):
    return bits & 0x7FFFFFFF > INF


def is_inf(bits):
    return bits & 0x7FFFFFFF == INF


def number(bits):
    """n, e of a finite number n * 2^e."""
    field, fraction = bits >> 23 & 0xFF, bits & 0x7FFFFF
    n = fraction | 0x800000 if field else fraction
    return (-n if bits >> 31 else n), max(field, 1) - 150


def to_f32(n, e, down=False, zero_sign=0):
    """n * 2^e rounded to nearest even, or down; a sum that is exactly zero has the sign of zero_sign."""
    if n == 0:
        return zero_sign << 31
    sign, n = n < 0, abs(n)
    last = max(n.bit_length() + e - 24, -149)  # exponent of the last place
    shift = last - e
    if shift <= 0:
        q, rest, half = n << -shift, 0, 1
    else:
        q, rest, half = n >> shift, n & ((1 << shift) - 1), 1 << (shift - 1)
    q += (rest != 0 and sign) if down else rest > half or (rest == half and q & 1 == 1)
    if q == 1 << 24:
        q, last = q >> 1, last + 1
    bits = q if q < 1 << 23 else (last + 150 << 23) + q - (1 << 23)
    if bits >= INF:
        bits = INF - 1 if down and not sign else INF
    return sign << 31 | bits


def flush(bits):
    return bits & SIGN if bits & INF == 0 else bits


def fma(a, b, c, down=False, ftz=False):
    """a * b + c on encodings, rounded once."""
    if ftz:
        return flush(fma(flush(a), flush(b), flush(c), down))
    if is_nan(a) or is_nan(b) or is_nan(c):
        return NAN
    sign = (a ^ b) & SIGN
    if is_inf(a) or is_inf(b):
        product = sign | INF
        zero = a & 0x7FFFFFFF == 0 or b & 0x7FFFFFFF == 0
        return NAN if zero or (is_inf(c) and c != product) else product
    if is_inf(c):
        return c
    (an, ae), (bn, be), (cn, ce) = number(a), number(b), number(c)
    low = min(ae + be, ce)
    total = (an * bn << ae + be - low) + (cn << ce - low)
    negative_zero = sign and c == SIGN or (down and total == 0 and (an * bn != 0 or sign != c & SIGN))
    return to_f32(total, low, down, 1 if negative_zero else 0)


def add(a, b, **modes):
    return fma(a, ONE, b, **modes)


def mul(a, b):
    """-0 as the addend keeps the sign of a zero product."""
    return fma(a, b, SIGN)


def neg(a):
    return a ^ SIGN


def less(a, b):
    """a < b for encodings that are no NaN."""
    def key(bits):
        return -(bits & 0x7FFFFFFF) if bits >> 31 else bits
    return key(a) < key(b)


# -- the special function unit --------------------------------------------------------------------------------------

def read_rom(name):
    path = Path(__file__).resolve().parents[2] / "data" / "sfu" / f"{name}_rom.csv"
    with open(path, newline="") as file:
        return [tuple(int(row[k]) for k in "abc") for row in csv.DictReader(file)]


ROM = {name: read_rom(name) for name in ("ex2", "rcp", "lg2")}
USED = {name: set() for name in ROM}


def row_of(name, i):
    USED[name].add(i)
    return ROM[name][i]


def square(r):
    total = 0
    for j, digit in enumerate(reversed(f"{r:b}")):
        if digit == "1":
            total += (r << j) >> 18
    return total >> 1


def ex2(x):
    if is_nan(x):
        return NAN
    if x & INF == 0:
        return ONE
    if x & 0x7FFFFFFF >= 0x43000000:
        return 0 if x >> 31 else INF
    n, e = number(x & 0x7FFFFFFF)
    q = n << e + 23 if e >= -23 else n >> -23 - e
    whole, f = divmod(q, 1 << 23)
    if x >> 31 and f == 0:
        whole = -whole
    elif x >> 31:
        whole, f = -whole - 1, (1 << 23) - 1 - f
    i, r = divmod(f, 1 << 17)
    a, b, c = row_of("ex2", i)
    y = (a * 2**13 + b * r + c * square(r) + 0x77E2) // 2**15
    assert 2**23 <= y <= 2**24
    return 0 if whole < -126 else to_f32(y, whole - 23)


def ex2_noftz(x):
    if is_nan(x) or not less(x, 0xC2FC0000):
        return ex2(x)
    root = ex2(mul(x, 0x3F000000))
    return mul(root, root)


def rcp(x):
    if is_nan(x):
        return NAN
    sign = x & SIGN
    if is_inf(x):
        return sign
    if x & INF == 0:
        return sign | INF
    e = (x >> 23 & 0xFF) - 127
    i, r = divmod(x & 0x7FFFFF, 1 << 16)
    a, b, c = row_of("rcp", i)
    y = (a * 2**13 + b * r + c * square(2 * r) + 0x47E7) // 2**15
    assert 2**23 <= y <= 2**24
    return sign | flush(to_f32(y, -e - 24))


def lg2(x):
    if is_nan(x):
        return NAN
    if x & INF == 0:
        return SIGN | INF
    if x >> 31:
        return NAN
    if x in (INF, ONE):
        return INF if x == INF else 0
    i, r = divmod(x & 0x7FFFFF, 1 << 17)
    a, b, c = row_of("lg2", i)
    y = (a * 2**12 + b * r + 2 * c * square(r) + 0x3345) // 4 + ((x >> 23) - 127) * 2**36
    sign, y = (1, -1 - y) if y < 0 else (0, y)
    surplus = y.bit_length() - 24
    return sign << 31 | (to_f32(y >> surplus, surplus - 36) if surplus > 0 else to_f32(y, -36))


# -- code around it -------------------------------------------------------------------------------------------------

def saturate(x):
    if is_nan(x) or x >> 31:
        return 0
    return min(x, ONE)


def expf(x):
    y = saturate(fma(x, 0x3BBB989D, 0x3F000000))
    t = fma(y, 0x437C0000, 0x4B400001, down=True)
    minus_j = neg(add(t, 0xCB40007F))
    z = fma(x, 0x3FB8AA3B, minus_j)
    z = fma(x, 0x32A57060, z)
    return mul(ex2(z), t << 23 & 0xFFFFFFFF)


def expf_fast(x):
    return ex2_noftz(mul(x, 0x3FB8AA3B))


POLYNOMIALS = {
    3: ["0.077119089663028717041015625", "0.227564394474029541015625", "0.695146143436431884765625", "1"],
    5: ["1.86810153536498546600341796875e-3", "9.01452265679836273193359375e-3", "5.5802188813686370849609375e-2",
        "0.24016360938549041748046875", "0.693151414394378662109375", "1"],
}


def decimal_f32(text):
    """The encoding of a decimal that binary32 holds exactly."""
    exact = Fraction(text)
    bits = to_f32(exact.numerator, 1 - exact.denominator.bit_length())
    n, e = number(bits)
    assert n * Fraction(2)**e == exact, text
    return bits


COEFFICIENTS = {degree: [decimal_f32(text) for text in texts] for degree, texts in POLYNOMIALS.items()}


def fa4(x, degree):
    x = flush(x)
    if is_nan(x) or less(x, 0xC2FE0000):
        x = 0xC2FE0000
    t = add(x, 0x4B400000, down=True, ftz=True)
    j = add(t, 0xCB400000, ftz=True)
    fraction = add(x, neg(j), ftz=True)
    p = COEFFICIENTS[degree][0]
    for c in COEFFICIENTS[degree][1:]:
        p = fma(p, fraction, c, ftz=True)
    return p + (t << 23) & 0xFFFFFFFF


# -- exact functions and the cast -----------------------------------------------------------------------------------

def exact(function, at_zero, at_inf, at_minus_inf, domain=lambda x: True):
    def rounded(x):
        if is_nan(x):
            return NAN
        if x & 0x7FFFFFFF == 0:
            return at_zero(x)
        if is_inf(x):
            return at_minus_inf if x >> 31 else at_inf
        if not domain(x):
            return NAN
        n, e = number(x)
        y = function(mpmath.ldexp(n, e))
        if y == 0:
            return 0
        sign, man, exponent, _ = y._mpf_
        return to_f32(-int(man) if sign else int(man), exponent)
    return rounded


def bounded(function):
    """An exponential, without numbers that do not matter."""
    return lambda x: function(max(min(x, mpmath.mpf(300)), mpmath.mpf(-300)))


def positive(x):
    return x >> 31 == 0


def small_tanh(x):
    return x - x**3 / 3 if abs(x) < mpmath.mpf(2)**-30 else mpmath.tanh(max(min(x, mpmath.mpf(20)), mpmath.mpf(-20)))


def one(x):
    return ONE


def minus_infinity(x):
    return SIGN | INF


def cvt_table():
    """Magnitudes of the 127 codes and the midpoints above them, in units of 2^-10."""
    values = [(m if e == 0 else (8 + m) << e - 1) * 2 for e in range(16) for m in range(8)][:127]
    return values, [(low + high) // 2 for low, high in zip(values, values[1:])]


VALUES, MIDPOINTS = cvt_table()


def cvt_e4m3(x):
    if is_nan(x):
        return 0x7F
    sign = x >> 31 << 7
    if is_inf(x):
        return sign | 0x7E
    n, e = number(x & 0x7FFFFFFF)
    scaled = n << e + 10 if e >= -10 else n >> -10 - e
    inexact = e < -10 and n & ((1 << -10 - e) - 1) != 0
    code = bisect.bisect_left(MIDPOINTS, scaled)  # midpoints below the number
    if code < len(MIDPOINTS) and MIDPOINTS[code] == scaled and (inexact or code & 1):
        code += 1  # above the midpoint, or on it with the even code above
    return sign | code


OPS = {
    "ex2": ex2, "ex2_noftz": ex2_noftz, "rcp": rcp, "lg2": lg2, "expf": expf, "expf_fast": expf_fast,
    "fa4_poly3": lambda x: fa4(x, 3), "fa4_poly5": lambda x: fa4(x, 5),
    "exp": exact(bounded(mpmath.exp), one, INF, 0), "exp2": exact(bounded(lambda x: mpmath.power(2, x)), one, INF, 0),
    "log": exact(mpmath.log, minus_infinity, INF, NAN, positive),
    "log2": exact(lambda x: mpmath.log(x) / mpmath.log(2), minus_infinity, INF, NAN, positive),
    "tanh": exact(small_tanh, lambda x: x, ONE, SIGN | ONE),
    "cvt_e4m3": cvt_e4m3,
}


# -- inputs ---------------------------------------------------------------------------------------------------------

def around(bits, distance=2):
    return [(bits + d) & 0xFFFFFFFF for d in range(-distance, distance + 1)]


def fixed_inputs():
    """Ends of ranges, powers of two, integers, and both ends of every slice of the tables, with their neighbours."""
    ends = [0, SIGN, 0x007FFFFF, 0x00800000, INF, SIGN | INF, NAN, 0xFFC00001, 0x7F800001, 0x43E80000, 0x43E00000]
    ends += [e << 23 for e in range(1, 255)]
    ends += [to_f32(n, 0) for n in range(1, 152)] + [to_f32(2 * n + 1, -1) for n in range(152)]
    ends += [e << 23 | i << 16 for e in (1, 100, 117, 124, 126, 127, 128, 129, 133, 254) for i in range(128)]
    ends += [to_f32(value, -10) for value in VALUES[1:] + MIDPOINTS[1:]]
    return sorted({sign ^ near for bits in ends for near in around(bits) for sign in (0, SIGN)})


def random_inputs(draw, count):
    """Any encoding; numbers of the exponentials' range, evenly, and evenly in logarithm; near 1, where lg2
    shows its last bits."""
    kinds = [lambda: draw.getrandbits(32),
             lambda: to_f32(draw.randrange(-152 << 24, 130 << 24), -24),
             lambda: draw.getrandbits(1) << 31 | draw.randrange(95 << 23, 135 << 23),
             lambda: to_f32(draw.randrange(-32 << 30, 1), -30),
             lambda: draw.randrange(0x3F000000, 0x40000000),
             lambda: ONE + draw.choice((-1, 1)) * draw.getrandbits(draw.randrange(1, 23))]
    return [kinds[i % len(kinds)]() for i in range(count)]


def run(pcast, op, inputs):
    text = "".join(f"0x{x:08X}\n" for x in inputs)
    done = subprocess.run([pcast, "unit", "--op", op], input=text, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "input,input_bits,value,value_bits" and len(lines) == len(inputs) + 1
    digits = 4 if op == "cvt_e4m3" else 10
    codes = [line.rsplit(",", 1)[1] for line in lines[1:]]
    assert all(len(code) == digits for code in codes)
    return [int(code, 16) for code in codes]


def main():
    pcast = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    mpmath.mp.prec = 120
    draw = random.Random(seed)
    fixed = fixed_inputs()
    wrong = 0
    for op, model in OPS.items():
        by_mpmath = op in ("exp", "exp2", "log", "log2", "tanh")
        inputs = fixed + random_inputs(draw, count // 10 if by_mpmath else count)
        bad = 0
        for x, got in zip(inputs, run(pcast, op, inputs)):
            expected = model(x)
            if got == expected:
                continue
            bad += 1
            if bad <= 5:
                print(f"{op} of 0x{x:08X}: got 0x{got:08X}, expected 0x{expected:08X}")
        print(f"{op}: {len(inputs)} inputs, {bad} differ")
        wrong += bad
    unused = {name: len(ROM[name]) - len(USED[name]) for name in ROM}
    if any(unused.values()):
        print(f"rows of the tables without an input: {unused}")
    return 1 if wrong or any(unused.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
