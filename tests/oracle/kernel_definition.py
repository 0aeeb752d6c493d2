# SPDX-License-Identifier: MIT
"""Section 4 of docs/numerics.md, step by step, for kernel_model.py. Written from that page and docs/kernels.md."""
import collections
import math
import types

import numpy as np

from exact_numbers import (F32, F64, FORMATS, INF, NAN, ONE, ZERO, exp, exp2, fma, fma_odd, fma_toward_zero, fold, log,
                           log2, sum16, tanh)

LOG2E, LN2 = np.array([0x3FB8AA3B, 0x3F317218], np.uint32).view(F32)
SITUATIONS = ("score -Inf", "score NaN", "maximum kept stale", "lag equal to the threshold", "alpha between 0 and 1",
              "first block without a visible key", "row without a visible key", "p flushed", "p cast to a subnormal",
              "p saturated", "fp16 accumulator beyond its range", "splits merged", "sink alone in its split")
EVENTS = collections.Counter()  # how often rows met them

MASK_VALUES = {"-inf": -INF, "-FLT_MAX": -np.finfo(F32).max, "-1e5": F32(-1e5), "-5e6": F32(-5e6)}
TABLE = 1 << 20  # every table of block sizes has one block and one query block for what is run here


class Head:
    """Fields of a SPEC with a head's scales: step 1.2 and steps 4.0.1 to 4.0.4.

    The methods up to __init__ are what hardware_definition.py replaces, with `dots` and `multiply`."""

    pairs = v_tokens = v_channels = None  # 9.4: descales by query and key, of V by token or channel

    exp, exp2, log, log2 = (staticmethod(function) for function in (exp, exp2, log, log2))

    def p_exponential(self, arguments):
        """4.3, of a block's keys from its first on."""
        return self.exp2(arguments) if self.base2 else self.exp(arguments)

    def ratio(self, a, b):
        """a over a sum of rows."""
        return a / b

    def inverse(self, b):
        return ONE / b

    # The row sum of a split: a state, what a block does to it, and the number that it stands for.

    def sum_start(self, l, sink):
        return l

    def sum_block(self, state, alpha, terms):
        """4.4"""
        return fma(alpha, state, sum16(terms))

    def sum_value(self, state):
        return state

    def __init__(self, fields, dim, softmax_scale, descales, sink):
        f = self.fields = types.SimpleNamespace(**fields)
        for name in ("query_block", "splits", "partition", "window_left", "window_right"):
            setattr(f, name, int(fields[name]))
        table = not f.block.isdigit()
        f.block = TABLE if table else int(f.block)
        if f.query_block == 0:
            f.query_block = TABLE if table else 1
        for name in ("scale", "scale_log2", "rescale_threshold", "initial_sum", "softcap"):
            setattr(f, name, F32(fields[name]))
        self.base2 = f.exponent != "natural"
        s = F32(1 / math.sqrt(dim)) if softmax_scale is None else softmax_scale
        qd, kd, self.vd = descales
        self.s = (qd * kd) * s
        # 4.0.1
        S = f.scale
        in_exponent = f.scale_at == "exponent"
        self.offset = ZERO
        if in_exponent:
            self.offset = log(S) if not self.base2 else f.scale_log2 if f.scale_log2 != 0 else log2(S)
        self.S_star = ONE if in_exponent else S
        self.S_in, self.S_out = (S, ONE) if f.sum_scale == "in" else (ONE, S)
        # 4.0.3
        self.raw = f.max_over == "raw"
        self.u = f.softcap if f.softcap != 0 else self.s
        self.c = F32(F64(self.u) * math.log2(math.e)) if self.raw else LOG2E
        # 4.0.4
        if sink is None and fields["sink_logit"] != "none":
            sink = F32(fields["sink_logit"])
        self.sink = None if f.learned_sink == "none" else sink
        self.sink_score = None if self.sink is None else self.sink / self.u if self.raw else self.sink
        self.mask_value = MASK_VALUES[f.mask_value]
        self.start = self.mask_value / self.c if f.mask_value == "-5e6" and self.base2 else self.mask_value

    def dots(self, q, k):
        """Step 1.1"""
        lanes = np.zeros((16, len(q), len(k)), F32)
        for channel in range(q.shape[1]):
            lane = channel % 16
            lanes[lane] = fma(q[:, None, channel], k[None, :, channel], lanes[lane])
        return fold(lanes)

    def scores(self, q, k):
        """Steps 1.2 and 4.0.2: scores x of all queries and keys."""
        dot, cap = self.dots(q, k), self.fields.softcap
        if self.pairs is not None:
            dot = dot * self.pairs
        if self.raw:
            return tanh(dot * (self.s / cap)) if cap != 0 else dot
        z = dot * self.s
        return cap * tanh(z / cap) if cap != 0 else z

    def seen(self, queries, keys):
        """Which keys a query sees."""
        f, i, j = self.fields, np.arange(queries)[:, None], np.arange(keys)[None, :]
        aligned = i if f.mask == "causal_top_left" else i + keys - queries
        seen = np.ones((queries, keys), bool)
        if f.mask != "none":
            seen &= j <= aligned
        if f.window_left > 0:
            seen &= j > aligned - f.window_left
        if f.window_right > 0:
            seen &= j < aligned + f.window_right
        return seen

    def splits(self, seen_by_query_block):
        """The walk: a list of blocks for each split."""
        f, keys = self.fields, len(seen_by_query_block)
        blocks = [b for b in range(-(-keys // f.block))
                  if seen_by_query_block[b * f.block:(b + 1) * f.block].any()]
        if f.partition > 0:
            splits = [[b for b in blocks if b * f.block // f.partition == run]
                      for run in range(-(-keys // f.partition))]
        else:
            n = max(f.splits, 1)
            if f.traversal == "strided":
                splits = [blocks[first::n] for first in range(n)]
            else:
                each = -(-len(blocks) // n)
                splits = [blocks[i * each:(i + 1) * each] for i in range(n)]
        splits = [split for split in splits if split] or [[]]
        return [split[::-1] for split in splits] if f.order == "reverse" else splits

    # Steps of one block.

    def lag(self, candidate, m):
        """4.1, what is compared with the threshold."""
        factor = self.c if self.fields.threshold_unit == "log2" else self.u if self.raw else ONE
        return (candidate - m) * factor

    def new_maximum(self, m, x):
        """4.1"""
        f, candidate = self.fields, m
        for score in x:
            if score > candidate:
                candidate = score
        new = candidate
        if f.rescale_threshold > 0 and m != self.start:
            lag = self.lag(candidate, m)
            EVENTS["lag equal to the threshold"] += lag == f.rescale_threshold
            if lag <= f.rescale_threshold if f.threshold_test == "le" else lag < f.rescale_threshold:
                new = m
                EVENTS["maximum kept stale"] += candidate != m
        if new == -INF and f.empty_max == "store_zero":
            new = ZERO
        return new

    def bias(self, m):
        """4.2, b"""
        if m == -INF and self.fields.empty_max != "unguarded":
            return ZERO
        if not self.base2:
            return m - self.offset
        if self.fields.bias == "fma":
            return fma(m, self.c, -self.offset)
        return m * self.c - self.offset

    def alpha(self, m, new):
        """4.2"""
        f = self.fields
        if new == m and new != -INF:
            return ONE
        other = ZERO if new == -INF and f.empty_max != "unguarded" else new
        if not self.base2 or f.correction == "natural":
            return self.exp(m - other)
        if f.correction == "difference":
            return self.exp2((m - other) * self.c)
        return self.exp2((-INF if m == -INF else self.bias(m)) - self.bias(new))

    def probabilities(self, x, m):
        """4.3"""
        f, b = self.fields, self.bias(m)
        if m == self.mask_value and np.isfinite(m) and f.masked_rows == "zero":
            return np.zeros(len(x), F32)
        if f.exponent == "natural":
            return self.p_exponential(x - b)
        if f.exponent == "exp2_mul":
            return self.p_exponential(x * self.c - b)
        return self.p_exponential((fma_toward_zero if f.exponent == "exp2_fma_rz" else fma)(x, self.c, -b))

    def cast(self, p):
        """4.5: codes, and their values."""
        f, scaled = self.fields, p * self.S_star
        if f.p_format == "f32":
            return scaled, scaled
        target = FORMATS[f.p_format]
        codes = target.encode(scaled, f.overflow == "sat")
        EVENTS["p flushed"] += np.count_nonzero((p > 0) & (codes == 0))
        EVENTS["p cast to a subnormal"] += np.count_nonzero((codes > 0) & (target.decoded[codes] < target.least_normal))
        EVENTS["p saturated"] += np.count_nonzero(scaled > target.values[-1])
        return codes, target.decoded[codes]

    def multiply(self, o, alpha, p8, values, descale):
        """4.6; descale of the block's V, or none."""
        f = self.fields
        if f.accumulator == "fp16":
            step = lambda a, b, c: FORMATS["f16"].round(fma_odd(a, b, c))
        elif f.accumulator == "fp64":
            step = lambda a, b, c: np.multiply(a, b, dtype=F64) + c  # the product is exact
        else:
            step = fma
        if f.promotion == "never":
            if f.accumulator == "fp64":
                o = F64(alpha) * o
            elif f.accumulator == "fp16":
                o = FORMATS["f16"].round(np.multiply(alpha, o, dtype=F64))
            else:
                o = alpha * o
            for p, v in zip(p8, values):
                o = step(p, v, o)
            return o
        o = alpha * o
        run = len(p8) if f.promotion == "tile" else 32 * int(f.promotion)
        for first in range(0, len(p8), run):
            total = np.zeros(len(o), F32)
            for p, v in zip(p8[first:first + run], values[first:first + run]):
                total = step(p, v, total)
            o = self.promoted(o, total.astype(F32), descale)
        return o

    @staticmethod
    def promoted(o, total, descale):
        return o + (total if descale is None else total * descale)

    def split(self, index, blocks, x, values, tiles):
        """Steps 4.1 to 4.8: the split's output and log-sum-exp."""
        f = self.fields
        m, o = self.start, np.zeros(values.shape[1], F64 if f.accumulator == "fp64" else F32)
        total = self.sum_start(f.initial_sum, False)
        if f.learned_sink == "initial" and self.sink is not None and index == 0:
            m, total = self.sink_score, self.sum_start(self.S_in, True)
        normalised = f.normalise == "partition"

        def keys(b):
            return slice(b * f.block, min(len(x), (b + 1) * f.block))

        def advance(m, total, b):
            new = self.new_maximum(m, x[keys(b)])
            alpha = self.alpha(m, new)
            p = self.probabilities(x[keys(b)], new)
            codes, p8 = (None, None) if normalised else self.cast(p)
            if f.row_sum == "cast":
                terms = p8
            elif f.sum_scale == "out" or f.scale_at == "exponent":
                terms = p
            else:
                terms = p * self.S_star
            return new, self.sum_block(total, alpha, terms), alpha, p, codes, p8

        def denominator(m, l):
            """4.7"""
            if f.learned_sink != "denominator" or self.sink is None or index != 0:
                return m, l
            if m == -INF:
                EVENTS["sink alone in its split"] += (x != -INF).any()
                return self.sink_score, self.S_in
            if not self.base2:
                weight = self.exp(self.sink - self.bias(m))
            elif f.correction == "natural":
                weight = self.exp(self.sink - m)
            else:
                weight = self.exp2(self.sink * LOG2E - self.bias(m))
            unbiased = self.base2 and f.correction == "natural"
            return m, l + (weight * self.S_in if f.scale_at == "multiply" or unbiased else weight)

        if normalised:
            for b in blocks:
                m, total = advance(m, total, b)[:2]
            m, l = denominator(m, self.sum_value(total))
        for b in blocks:
            if normalised:
                alpha, p = ONE, self.ratio(self.probabilities(x[keys(b)], m), l)
                codes, p8 = self.cast(p)
            else:
                m, total, alpha, p, codes, p8 = advance(m, total, b)
                l = self.sum_value(total)
            descale = None if self.v_tokens is None else self.v_tokens[b * f.block]
            o = self.multiply(o, alpha, p8, values[keys(b)], descale)
            tiles.add(b, keys(b), m, l, p, codes, o.astype(F32))
            EVENTS["alpha between 0 and 1"] += 0 < alpha < 1
        if not normalised:
            m, l = denominator(m, self.sum_value(total))
        o = o.astype(F32)
        EVENTS["fp16 accumulator beyond its range"] += f.accumulator == "fp16" and np.isinf(o).any()
        return self.epilogue(o, ONE if normalised else l), self.log_sum_exp(m, l)

    def epilogue(self, o, l):
        """4.8"""
        f, g = self.fields, self.vd / self.S_out
        if f.masked_rows == "zero" and (l == 0 or np.isnan(l)):
            return o * ZERO
        if f.epilogue == "divide":
            return self.ratio(o, self.S_out * l) * self.vd
        if f.epilogue == "reciprocal":
            return o * (self.inverse(l) * g)
        if f.epilogue == "quotient":
            return o * self.ratio(g, l)
        return o * self.inverse(l) * g

    def log_sum_exp(self, m, l):
        if not self.base2:
            return m + self.log(l / self.S_in)
        return fma(m, self.c, self.log2(l / self.S_in))

    def row(self, x, seen, seen_by_query_block, values, tiles):
        """The row's output, rounded, and its log-sum-exp."""
        f = self.fields
        x = np.where(seen, x, self.mask_value)
        splits = self.splits(seen_by_query_block)
        outs, lses = [], []
        if seen.any():
            first = splits[0][0]
            EVENTS["first block without a visible key"] += not seen[first * f.block:(first + 1) * f.block].any()
        for index, blocks in enumerate(splits):
            out, lse = self.split(index, blocks, x, values, tiles)
            outs.append(out)
            lses.append(lse)
        if f.splits <= 1 and f.partition == 0:
            out, lse = outs[0], lses[0]
        else:  # 4.9
            EVENTS["splits merged"] += len(splits) > 1
            if f.partials != "f32":
                outs = [FORMATS[f.partials].round(o) for o in outs]
            largest = NAN if np.isnan(lses).any() else max(lses)
            w = (self.exp2 if self.base2 else self.exp)(np.array(lses, F32) - largest)
            total = ZERO
            for weight in w:
                total = total + weight
            out = np.zeros(values.shape[1], F32)
            for weight, lse, o in zip(w, lses, outs):
                if lse != -INF:
                    out = fma(self.ratio(weight, total), o, out)
            lse = largest if largest == -INF else largest + (self.log2 if self.base2 else self.log)(total)
        if not seen.any():
            EVENTS["row without a visible key"] += 1
            if f.masked_rows in ("zero", "nan"):
                out = np.full(values.shape[1], ZERO if f.masked_rows == "zero" else NAN)
                lse = -INF if self.sink is None else self.sink * LOG2E if self.base2 else self.sink
        # 4.10
        if self.v_channels is not None:
            out = out * self.v_channels
        out = out if f.out_format == "f32" else FORMATS[f.out_format].round(out)
        if self.base2 and f.lse == "e":
            lse = lse * LN2
        if not self.base2 and f.lse == "2":
            lse = lse * LOG2E
        return out, lse


class Tiles:
    """What --dump shows of a row: by block NaN, by key 0, where a block was not visited."""

    def __init__(self, blocks, keys, dim, code_type):
        self.m, self.l = np.full((2, blocks), NAN)
        self.o_tile = np.full((blocks, dim), NAN)
        self.p, self.p8 = np.zeros(keys, F32), np.zeros(keys, code_type)

    def add(self, b, keys, m, l, p, codes, o):
        self.m[b], self.l[b], self.o_tile[b] = m, l, o
        self.p[keys], self.p8[keys] = p, codes
