# SPDX-License-Identifier: MIT
"""Section 12 of docs/numerics.md on top of section 4 (kernel_definition.py), for kernel_hardware.py.

The units are those of units_model.py, one number at a time, and tensor cores those of tensor_core_integers.py."""
from fractions import Fraction

import numpy as np

import units_model
from exact_numbers import F32, F64, FORMATS, ONE, ZERO, fma
from kernel_definition import EVENTS, LN2, LOG2E, Head
from tensor_core_integers import chain


def on_numbers(unit):
    """A function of encodings as one of FP32 numbers, arrays too."""
    known = {}

    def function(x):
        x = np.asarray(x, F32)
        words = []
        for word in x.reshape(-1).view(np.uint32).tolist():
            if word not in known:
                known[word] = unit(word)
            words.append(known[word])
        return np.array(words, np.uint32).view(F32).reshape(x.shape)[()]
    return function


UNITS = {name: on_numbers(units_model.OPS[name])
         for name in ("ex2", "lg2", "rcp", "expf", "expf_fast", "fa4_poly3", "fa4_poly5")}
ex2, lg2, rcp, expf = (UNITS[name] for name in ("ex2", "lg2", "rcp", "expf"))


def fma64(a, b, c):
    """In FP64, rounded once."""
    if not np.isfinite([a, b, c]).all():
        return float(F64(a) * F64(b) + F64(c))
    try:
        return float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))
    except OverflowError:
        return float(F64(a) * F64(b) + F64(c))


def columns(terms):
    """The addends as [group of 8 columns, thread, its two columns], an even number of groups."""
    padded = np.zeros(-(-len(terms) // 16) * 16, F32)
    padded[:len(terms)] = terms
    return padded.reshape(-1, 4, 2)


class RowSum:
    """12.3: how a split starts, what a block adds to the state, and the sum that it stands for; here it is the sum."""

    def start(self, l, sink):
        return F32(l)

    def value(self, state):
        return state


class Fmha(RowSum):
    def block(self, l, alpha, terms):
        threads = []
        for thread in range(4):
            chains = [ZERO] * 4
            for n, x in enumerate(columns(terms)[:, thread].reshape(-1)):
                chains[n % 4] = chains[n % 4] + x
            threads.append((chains[0] + chains[1]) + (chains[2] + chains[3]))
        total = (threads[0] + threads[1]) + (threads[2] + threads[3])
        return fma(alpha, l, total)


class Fa4(RowSum):
    def block(self, l, alpha, terms):
        chains = np.zeros((4, 2), F32)
        chains[0, 0] = l * alpha
        for i, x in enumerate(terms):
            chains[i // 2 % 4, i % 2] += x
        lanes = (chains[0] + chains[1]) + (chains[2] + chains[3])
        return lanes[0] + lanes[1]


class Fp64(RowSum):
    def start(self, l, sink):
        return float(l)

    def block(self, l, alpha, terms):
        total = F64(0)
        for x in terms:
            total = total + F64(x)
        return fma64(alpha, l, total)

    def value(self, state):
        return F32(state)


class Threads(RowSum):
    """Four threads with a sum each."""

    def start(self, l, sink):
        return [F32(l), ZERO, ZERO, ZERO]

    def block(self, state, alpha, terms):
        x = columns(terms)
        return [self.thread(l, alpha, x[:, t]) for t, l in enumerate(state)]

    def value(self, state):
        return (state[0] + state[1]) + (state[2] + state[3])


class Fa3(Threads):
    def thread(self, l, alpha, x):
        x = x.reshape(-1)
        l = fma(l, alpha, x[0])
        for addend in x[1:]:
            l = l + addend
        return l

    def value(self, state):
        return (state[0] + state[2]) + (state[1] + state[3])


class HpcOps(Threads):
    def thread(self, l, alpha, x):
        total = ZERO
        for addend in x.reshape(-1):
            total = total + addend
        return fma(l, alpha, total)


class Sage(Threads):
    def start(self, l, sink):
        return super().start(l, sink) if sink else [F32(l)] * 4

    def thread(self, l, alpha, x):
        l = l * alpha
        for four in x.reshape(-1, 4):
            l = l + (((four[0] + four[1]) + four[2]) + four[3])
        return l


ORDERS = {"fa3": Fa3(), "hpc_ops": HpcOps(), "sage": Sage(), "fmha_v2": Fmha(), "fa4": Fa4(), "fp64": Fp64()}


class HardwareHead(Head):
    def __init__(self, fields, *scales):
        super().__init__(fields, *scales)
        f = self.fields
        self.order = ORDERS.get(f.sum_order)
        self.v_format = {"int8": "e4m3"}.get(f.qkv, f.qkv)  # of V
        self.tensor_core = f.accumulator == "tensor_core"

    # 12.2

    def p_exponential(self, arguments):
        f = self.fields
        if f.exp_unit == "exact":
            return super().p_exponential(arguments)
        if f.exp_unit == "fa4_mix":
            i = np.arange(len(arguments))
            frequency = int(f.poly_freq)
            group, last = i // 32, -(-f.block // 32) - 1
            poly = (group >= int(f.poly_start)) & (group < last) & (i // 2 * 2 % 32 % frequency >= frequency - 4)
            EVENTS["fa4_mix by the polynomial"] += np.count_nonzero(poly)
            EVENTS["fa4_mix by ex2"] += np.count_nonzero(~poly)
            return np.where(poly, UNITS["fa4_poly3"](arguments), ex2(arguments))
        return UNITS[f.exp_unit](arguments)

    def exp2(self, x):
        return Head.exp2(x) if self.fields.exp_unit == "exact" else ex2(x)

    def exp(self, x):
        unit = self.fields.exp_unit
        return Head.exp(x) if unit == "exact" else expf(x) if unit == "expf" else ex2(x * LOG2E)

    def log2(self, x):
        return Head.log2(x) if self.fields.exp_unit == "exact" else lg2(x)

    def log(self, x):
        return Head.log(x) if self.fields.exp_unit == "exact" else lg2(x) * LN2

    def ratio(self, a, b):
        return a / b if self.fields.reciprocal == "div" else a * rcp(b)

    def inverse(self, b):
        return ONE / b if self.fields.reciprocal == "div" else rcp(b)

    # 12.3

    def sum_start(self, l, sink):
        return self.order.start(l, sink) if self.order else l

    def sum_block(self, state, alpha, terms):
        return self.order.block(state, alpha, terms) if self.order else super().sum_block(state, alpha, terms)

    def sum_value(self, state):
        return self.order.value(state) if self.order else state

    # 12.4

    def dots(self, q, k):
        f = self.fields
        if not self.tensor_core or f.qkv == "int8":
            return super().dots(q, k)
        fmt = FORMATS[f.qkv]
        return chain(f.machine, (f.qkv, f.qkv), "f32", fmt.encode(q, False), fmt.encode(k, False).T,
                     np.zeros((len(q), len(k)), F32))

    def multiply(self, o, alpha, p8, values, descale):
        f = self.fields
        if not self.tensor_core and f.accumulator != "fp16":
            return super().multiply(o, alpha, p8, values, descale)
        half = f.accumulator == "fp16"
        p = FORMATS[f.p_format].encode(p8, False)
        v = FORMATS[self.v_format].encode(values, False)

        def on_top(c, keys):
            return chain(f.machine, (f.p_format, self.v_format), "f16" if half else "f32", p[None, keys], v[keys],
                         c[None])[0]

        if f.promotion == "never":
            o = FORMATS["f16"].round(np.multiply(alpha, o, dtype=F64)) if half else alpha * o
            return on_top(o, slice(None))
        o = alpha * o
        run = len(p) if f.promotion == "tile" else 32 * int(f.promotion)
        for first in range(0, len(p), run):
            o = self.promoted(o, on_top(np.zeros(len(o), F32), slice(first, first + run)), descale)
        return o
