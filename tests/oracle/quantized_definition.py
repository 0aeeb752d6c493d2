# SPDX-License-Identifier: MIT
"""Section 9 of docs/numerics.md, for kernel_quantized.py: K's mean, rotation, scales and casts of tensors."""
import math

import numpy as np

from exact_numbers import F32, F64, FORMATS, ONE, fma, fold
from kernel_definition import LOG2E

LARGEST = {"e4m3": 448, "e5m2": 57344, "e4m3fnuz": 240, "e5m2fnuz": 57344, "int8": 127}


def philox(key, counter):
    """Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3)."""
    word = (1 << 32) - 1
    k, c = list(key), list(counter)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & word, a >> 32 ^ c[3] ^ k[1], a & word]
        k = [k[0] + 0x9E3779B9 & word, k[1] + 0xBB67AE85 & word]
    return c


assert philox([0, 0], [0, 0, 0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]  # Random123's kat_vectors


def hadamard(order):
    """Paley's construction over the field of order - 1 elements."""
    q = order - 1
    matrix = np.eye(order, dtype=F32)
    squares = {x * x % q for x in range(1, q)} if q else set()
    for i in range(order):
        for j in range(order):
            if i != j:
                matrix[i, j] = 1 if i == 0 else -1 if j == 0 else 1 if (j - i) % q in squares else -1
    return matrix


for _order in (1, 12, 20):
    assert (hadamard(_order) @ hadamard(_order).T == _order * np.eye(_order)).all()


def blocks_of(dim):
    """b where dim = b * 2^n, None where there is none."""
    for b in (1, 12, 20):
        if dim % b == 0 and (dim // b) & (dim // b - 1) == 0:
            return b
    return None


def rotated(rows):
    """9.3"""
    dim = rows.shape[-1]
    words = [word for block in range(-(-dim // 4)) for word in philox([1, 0], [0, 3, block, 0])]
    x = np.where(np.array(words[:dim], np.uint32) >> 31 != 0, -rows, rows)
    b = blocks_of(dim)
    x, matrix = x.reshape(x.shape[:-1] + (b, dim // b)), hadamard(b)
    y = np.zeros_like(x)
    for i in range(b):
        for j in range(b):
            y[..., i, :] = y[..., i, :] + matrix[i, j] * x[..., j, :]
    stride = 1
    while stride < dim // b:
        pairs = y.reshape(y.shape[:-1] + (dim // b // (2 * stride), 2, stride))
        y = np.stack([pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]], -2).reshape(y.shape)
        stride *= 2
    return y.reshape(rows.shape) * F32(1 / math.sqrt(dim))


def mean_of(k):
    """9.2, of [tokens, channels]."""
    total = np.zeros(k.shape[1], F64)
    for row in k:
        total = total + row
    return (total / len(k)).astype(F32)


def descale_of(numbers, largest):
    """9.1"""
    finite = np.abs(numbers[np.isfinite(numbers)])
    amax = finite.max(initial=F32(0))
    return max(amax / F32(largest), F32(2.0 ** -126)) if amax > 0 else ONE


def cast(numbers, descales, name):
    """The values of the codes."""
    scaled = (numbers / descales).astype(F32)
    if name == "int8":
        return np.clip(np.rint(scaled), -127, 127)
    return FORMATS[name].decoded[FORMATS[name].encode(scaled, True)]


class Quantized:
    """The tensors of a problem as a kernel with these fields reads them: each sequence's heads, and descales by token
    of Q and K, by token or channel of V."""

    def __init__(self, problem, fields, block, scale_rows):
        self.problem, self.fields = problem, fields
        self.group = problem.heads // problem.kv_heads
        q, k, v = {}, {}, {}
        for b, h, q_head, k_head, v_head in problem.parts():
            q[b, h], k[b, h // self.group], v[b, h // self.group] = q_head, k_head, v_head
        self.means = {}
        if fields["k_mean"] == "yes" and not problem.given["k"]:
            self.means = {at: mean_of(head) for at, head in k.items() if len(head)}
            k = {at: head - self.means[at] if len(head) else head for at, head in k.items()}
        if fields["rotation"] == "yes" and not problem.given["q"] and not problem.given["k"]:
            q, k = ({at: rotated(head) for at, head in heads.items()} for heads in (q, k))
        self.heads, self.descales = {}, {}
        for name, heads, rows in (("q", q, scale_rows), ("k", k, block), ("v", v, block)):
            self.heads[name], self.descales[name] = self.quantize(name, heads, rows)

    def quantize(self, name, heads, rows):
        """Values and descales of every head; a descale of the head, or an array by token or (V) channel."""
        if self.problem.given[name]:
            return heads, None
        qkv = self.fields["qkv"]
        target = "e4m3" if qkv == "int8" and name == "v" else qkv
        largest = LARGEST[target]
        if name == "v" and self.fields["v_range"] != "0":
            largest = F32(self.fields["v_range"])
        kind = self.fields[name + "_scale"]
        descales = {}
        for at, head in heads.items():
            if kind == "tensor":
                members = list(heads.values())
            elif kind == "kv_head" and name == "q":
                members = [heads[at[0], h] for h in range(self.problem.heads) if h // self.group == at[1] // self.group]
            else:
                members = [head]
            if kind == "token":
                descales[at] = np.array([descale_of(row, largest) for row in head], F32)
            elif kind == "block":
                descales[at] = np.array([descale_of(head[t // rows * rows:(t // rows + 1) * rows], largest)
                                         for t in range(len(head))], F32)
            elif kind == "channel":
                descales[at] = np.array([descale_of(head[:, c], largest) for c in range(head.shape[1])], F32)
            else:
                descales[at] = descale_of(np.concatenate([member.reshape(-1) for member in members]), largest)
        shaped = lambda at: descales[at][:, None] if kind in ("token", "block") else descales[at]
        return {at: cast(head, shaped(at), target) for at, head in heads.items()}, descales

    def head(self, b, h):
        """Q, K and V of a head of Q, and their descales; one that was given with the tensor stays."""
        at = {"q": (b, h), "k": (b, h // self.group), "v": (b, h // self.group)}
        descales = [self.problem.descales["qkv".index(name)][b, h] if self.descales[name] is None
                    else self.descales[name][at[name]] for name in "qkv"]
        return [self.heads[name][at[name]] for name in "qkv"], descales

    def correction(self, b, h, s, base2):
        """9.2: what the log-sum-exp of each query gets, None where K kept its mean."""
        mean = self.means.get((b, h // self.group))
        if mean is None:
            return None
        q = next(q for at, head, q, _, _ in self.problem.parts() if (at, head) == (b, h))
        c = dot(q, mean) * s
        return c * LOG2E if base2 else c


def dot(q, mean):
    """1.1"""
    lanes = np.zeros((16, len(q)), F32)
    for channel, weight in enumerate(mean):
        lanes[channel % 16] = fma(q[:, channel], weight, lanes[channel % 16])
    return fold(lanes)


def prepare(definition, problem, fields):
    """Heads with what step 9.4 does in a row: (head, q, k, v, correction of the log-sum-exp)."""
    probe = definition(fields, problem.dim, None, (ONE, ONE, ONE), None).fields
    scale_rows = int(fields["scale_rows"]) or probe.query_block
    quantized = Quantized(problem, fields, probe.block, scale_rows)
    for b, h, _, _, _ in problem.parts():
        (q, k, v), (qd, kd, vd) = quantized.head(b, h)
        sink = None if problem.sinks is None else problem.sinks[h]
        fine = np.ndim(qd) > 0 or np.ndim(kd) > 0
        scales = (ONE, ONE) if fine else (qd, kd)
        head = definition(fields, problem.dim, problem.softmax_scale, (*scales, ONE if np.ndim(vd) else vd), sink)
        if fine:
            head.pairs = np.multiply(np.reshape(qd, (-1, 1)), np.reshape(kd, (1, -1)))
        if np.ndim(vd):
            name = "v_tokens" if fields["v_scale"] == "block" else "v_channels"
            setattr(head, name, vd)
        given = definition(fields, problem.dim, problem.softmax_scale,
                           [d[b, h] for d in problem.descales], None).s
        yield head, q, k, v, quantized.correction(b, h, given, fields["lse"] == "2")
