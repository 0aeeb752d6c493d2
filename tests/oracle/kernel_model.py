#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast attend` against a second implementation of docs/numerics.md (sections 1, 2 and 4), bit by bit.

Small random problems under random valid SPECs: a preset with some fields changed, from none to most. O, the
log-sum-exp and every intermediate (m, l and O after each block, p and its code for each key) must be the same bits, any
NaN being as good as another outside codes. The implementation (kernel_definition.py, exact_numbers.py) knows nothing of
the simulator's source. Fails too if a choice of a field, or one of the situations that it counts, never came up.

usage: kernel_model.py PCAST [PROBLEMS [SEED]]; exit 77 (skipped) where a package is missing.
"""
import collections
import csv
import io
import math
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import numpy as np

    from exact_numbers import F32, FORMATS, INF, NAN, ONE, exp2
    from hardware_definition import HardwareHead
    from kernel_definition import EVENTS, SITUATIONS, TABLE, Head, Tiles
except ImportError as error:
    print(f"skipped: Python package {error.name} is missing")
    sys.exit(77)

DUMPS = ("m", "l", "p", "p8", "o_tile")
COUNTS = collections.Counter()


# Problems.

class Problem:
    """Tensors, scales and masks of one call, and the files and options that say the same."""

    lengths = (1, 9), (10, 40), (20, 80), (40, 80), (60, 80)

    formats = "f32", "f32", "f32", "f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"
    descaled = 0.4  # the share of tensors that come with a descale

    def __init__(self, random, folder):
        self.random, self.folder = random, folder
        pick = lambda *choices: choices[random.integers(len(choices))]
        self.batch, self.kv_heads, groups = pick(1, 1, 2), pick(1, 1, 2), pick(1, 1, 2)
        self.heads = self.kv_heads * groups
        self.draw_dimensions()
        self.packed = random.random() < 0.15
        self.arguments = ["--cpu", pick("scalar", "avx2", "avx512", "native"), "--threads", pick("1", "2")]
        shortest, longest = pick(*self.lengths)
        self.queries = [int(n) for n in random.integers(1, 10, self.batch)]
        self.keys = [int(n) for n in random.integers(shortest, longest + 1, self.batch)]
        self.stored = self.keys  # tokens of K and V in the file, those that are not read included
        if not self.packed:
            self.queries = self.queries[:1] * self.batch
            self.stored = [max(self.keys)] * self.batch
            if self.batch > 1 or random.random() < 0.2:
                least = pick(0, self.stored[0] // 2)
                self.keys = [int(n) for n in random.integers(least, self.stored[0] + 1, self.batch)]
                self.give("kv-lengths", np.array(self.keys, pick(np.int32, np.int64)))
        elif self.batch > 1 and random.random() < 0.2:
            self.keys[0] = 0
        self.draw_scales(pick)
        self.draw_tensors(pick)

    def draw_dimensions(self):
        self.dim, self.value_dim = (int(n) for n in self.random.integers(1, 17, 2))
        if self.random.random() < 0.1:
            self.dim += 20

    def saved(self, name, array):
        path = os.path.join(self.folder, name + ".npy")
        np.save(path, array)
        return ["--" + name, path]

    def give(self, name, array):
        self.arguments += self.saved(name, array)

    def draw_scales(self, pick):
        random = self.random
        self.softmax_scale = None
        if random.random() < 0.4:
            self.softmax_scale = F32(pick(1, *10 ** random.uniform(-3, 1.5, 5), 1e-38, 1e-20, 1e20))
            self.arguments += ["--softmax-scale", f"{self.softmax_scale:.9g}"]
        self.descales, self.given = [], {}
        for name in "qkv":
            shapes = [(), (self.kv_heads,), (self.batch, self.kv_heads)]
            shapes += [(self.heads,), (self.batch, self.heads)] if name == "q" else []
            descale = np.exp(random.normal(0, 1, pick(*shapes))).astype(F32)
            if name == "v":
                descale *= F32(pick(1, 1, 1, 1, -1, 1e30, 1e-38))
            kind = random.random()
            self.given[name] = kind >= 1 - self.descaled  # its numbers stay as they are
            if not self.given[name]:
                descale = np.array(ONE)
            elif descale.shape == () and kind < 1 - self.descaled / 2:
                self.arguments += [f"--{name}-descale", f"{descale[()]:.9g}"]
            else:
                self.give(f"{name}-descale", descale)
            # One for each batch and head of Q.
            if descale.ndim < 2:
                descale = np.broadcast_to(descale, (self.batch,) + (descale.shape or (1,)))
            self.descales.append(np.repeat(descale, self.heads // descale.shape[1], axis=1))
        # Learned sinks, for a kernel that knows them.
        self.sinks, self.sink_arguments = None, []
        if random.random() < 0.6:
            self.sinks = random.normal(0, pick(1, 1, 1, 1, 10, 100, 1e4, 1e30), self.heads).astype(F32)
            if random.random() < 0.3:
                self.sinks[:] = self.sinks[0]
                self.sink_arguments = ["--learned-sink", f"{self.sinks[0]:.9g}"]
            else:
                self.sink_arguments = self.saved("learned-sink", self.sinks)

    def draw_tensors(self, pick):
        random = self.random
        spread = pick(0.01, 1, 1, 1, 1, 2, 2, 4, 10, 100)
        tokens = sum(self.queries) if self.packed else self.queries[0]
        stored = sum(self.stored) if self.packed else self.stored[0]
        batch = 1 if self.packed else self.batch
        q = random.standard_normal((batch, self.heads, tokens, self.dim)) * spread
        k = random.standard_normal((batch, self.kv_heads, stored, self.dim))
        v = random.standard_normal((batch, self.kv_heads, stored, self.value_dim))
        v *= pick(1, 1, 1, 0.01, 30, 1e4, 1e-38, 1e37)
        style = random.integers(10)
        some = lambda share: random.random(k.shape[:3]) < share
        if style == 0:  # sinks
            q[..., 0] = np.abs(q[..., 0])
            k[some(0.1), 0] += 10
        elif style == 1:  # equal scores, exact ties of the maximum
            k[...] = np.round(k)
            q[...] = np.round(q)
        elif style == 2:  # scores of -Inf, Inf and NaN
            q[..., 0] = 2e19
            k[some(0.3), 0] = -3e38
            k[some(0.01), 0] = 3e38
            if self.dim > 1:
                q[..., 1] = 2e19
                k[some(0.02), 1] = 3e38
        elif style == 3:  # hugely negative, beyond finite mask values
            q[..., 0] = 1e4
            k[some(0.5), 0] = random.choice([-1e2, -1e4, -1e30])
        elif style in (4, 6, 7):  # scores that grow or fall slowly along the keys, so that the maximum moves
            q[..., 0] = pick(1, -1)
            k[..., 0] += np.arange(stored) * pick(0.05, 0.2, 1)
        elif style == 5:  # subnormal scores, and zeros of either sign
            k[some(0.3)] = 0
            q *= 1e-20
            k *= pick(1e-18, 1e-20, 1e-25)
        v[random.random(v.shape) < 0.02] *= pick(1, 100, 1e5)
        v[random.random(v.shape) < 0.05] *= 0
        self.save_tensors(pick, q, k, v)

    def save_tensors(self, pick, *tensors):
        """Rounds them to a format and saves them in a layout; self.tensors are the values that the files stand for."""
        kind = pick(*self.formats)
        bthd = not self.packed and self.random.random() < 0.3
        if kind.startswith("e"):
            self.arguments += ["--fp8", kind]
        if bthd:
            self.arguments += ["--layout", "bthd"]
        self.left_out = 0  # leading dimensions of size 1
        if self.batch == 1 and not self.packed and self.random.random() < 0.5:
            self.left_out = int(self.random.integers(1, 3 if self.heads == 1 else 2))
        self.tensors = []
        if kind.startswith("e"):
            self.given = dict.fromkeys("qkv", True)
        for name, values in zip("qkv", tensors):
            values = data = values.astype(F32)
            if kind != "f32":
                data = FORMATS[kind].encode(values, kind.startswith("e"))
                values = FORMATS[kind].decoded[data]
            self.tensors.append(values)
            if name != "q" and not self.packed:  # keys that are not there
                data = data.copy()
                for b, keys in enumerate(self.keys):
                    data[b, :, keys:] = NAN if kind == "f32" else FORMATS[kind].nan
            if kind == "f16":
                data = data.view(np.float16)
            if bthd or self.packed:
                data = np.swapaxes(data, 1, 2)
            if self.packed or self.left_out > 0:
                data = data[0]
            if self.left_out == 2:
                data = data[:, 0] if bthd else data[0]
            self.give(name, np.ascontiguousarray(data))
        if self.packed:
            for name, lengths in (("q", self.queries), ("k", self.keys)):
                self.give(f"cu-seqlens-{name}", np.append(0, np.cumsum(lengths)).astype(np.int32))

    def parts(self):
        """Each batch and head with its Q, K and V."""
        q, k, v = self.tensors
        for b in range(self.batch):
            at = 0 if self.packed else b
            q0, k0 = (sum(lengths[:b]) if self.packed else 0 for lengths in (self.queries, self.keys))
            for h in range(self.heads):
                kv = h * self.kv_heads // self.heads
                yield (b, h, q[at, h, q0:q0 + self.queries[b]], k[at, kv, k0:k0 + self.keys[b]],
                       v[at, kv, k0:k0 + self.keys[b]])


# SPECs.

CHOICES = {
    "order": "forward reverse", "traversal": "contiguous strided", "paged": "no yes", "partials": "f32 bf16 f16",
    "scale_at": "multiply exponent", "exponent": "natural exp2_fma exp2_mul exp2_fma_rz", "bias": "two_roundings fma",
    "correction": "difference natural bias", "max_over": "scaled raw", "threshold_unit": "log2 nats",
    "threshold_test": "le lt", "row_sum": "precast cast", "sum_scale": "out in", "normalise": "end partition",
    "epilogue": "divide reciprocal quotient two_step", "p_format": "e4m3 e5m2 e4m3fnuz e5m2fnuz f16 bf16 f32",
    "overflow": "sat nan", "accumulator": "fp32_fma fp64 tensor_core fp16", "promotion": "never tile 1 2",
    "out_format": "f32 bf16 f16", "lse": "none e 2", "qkv": "f32 bf16 f16 e4m3 e5m2 e4m3fnuz e5m2fnuz int8",
    "mask": "none causal causal_top_left", "mask_value": "-inf -FLT_MAX -1e5 -5e6",
    "masked_rows": "unguarded zero mean_v nan", "empty_max": "guard store_zero unguarded",
    "learned_sink": "none denominator initial",
}
CHOICES = {field: choices.split() for field, choices in CHOICES.items()}
# Fields of inputs that are to be quantised, which these are not.
INPUTS = {"q_scale", "k_scale", "v_scale", "scale_rows", "v_range", "rotation", "k_mean"}
# Fields that count under semantics=hardware: kernel_hardware.py.
UNITS = {"semantics", "exp_unit", "poly_freq", "poly_start", "reciprocal", "sum_order", "machine"}
GROUPS = [  # fields that matter together
    "mask window_left query_block mask_value masked_rows empty_max initial_sum",
    "window_left window_right query_block mask_value masked_rows empty_max learned_sink",
    "splits partials traversal learned_sink", "partition partials", "rescale_threshold threshold_unit threshold_test",
    "exponent bias correction max_over scale_at sum_scale softcap", "row_sum sum_scale p_format overflow scale",
    "normalise epilogue scale masked_rows", "accumulator promotion out_format qkv",
    "block paged query_block", "splits mask query_block window_left window_right learned_sink",
]
RARE = [  # what chance seldom puts together
    {"splits": "3", "query_block": "9", "window_left": "2", "mask_value": "-inf", "learned_sink": "denominator"},
    {"rescale_threshold": "1", "exponent": "exp2_fma", "max_over": "raw", "threshold_unit": "log2"},
    {"accumulator": "fp16", "promotion": "never", "p_format": "f16", "scale": "448"},
]
TABLES = ["fa3", "fa3-vllm", "flashinfer-fa3", "fmha-v2"]


def draw_value(field, random):
    pick = lambda *choices: str(choices[random.integers(len(choices))])
    if field in CHOICES:
        return pick(*CHOICES[field], *{"promotion": ["never", "never"], "accumulator": ["fp16"]}.get(field, []))
    if field == "block":
        return pick(1, 2, 3, 5, 8, 13, 16, 17, 32, 33, 80, 1048576, *TABLES)
    if field == "query_block":
        return str(random.integers(0, 10))
    if field == "splits":
        return pick(0, 1, 2, 3, 4, 7, 1024 if random.random() < 0.01 else 9)
    if field == "partition":
        return pick(0, 16, 48, 64, 5 * int(random.integers(1, 20)))
    if field == "scale":
        return pick(1, 2, 4, 16, 256, 448, 57344, "0.001", 2.0 ** -64, 2.0 ** 64, f"{F32(random.lognormal(3, 3)):.9g}")
    if field == "scale_log2":
        return pick(0, 8, "8.80700016", -64, 64, f"{F32(random.uniform(-10, 20)):.9g}")
    if field == "rescale_threshold":
        return pick(0, "0.5", 1, 4, 8, 64, f"{F32(random.uniform(0, 5)):.9g}")
    if field in ("window_left", "window_right"):
        return pick(0, 0, 1, 2, 5, 20, 40, 4294967296)
    if field == "initial_sum":
        return pick(0, 1)
    if field == "sink_logit":
        return pick("none", 0, -10000, 10000, f"{F32(random.normal(0, 5)):.9g}")
    if field == "softcap":
        return pick(0, 1, 30, 10000, f"{F32(random.uniform(0.01, 50)):.9g}")
    raise KeyError(field)


class Rejected(Exception):
    """pcast refused the SPEC; the argument is the field that it names."""


class Spec:
    """A preset and the fields that were changed."""

    def __init__(self, name, preset):
        self.name, self.preset, self.given = name, preset, {}

    def set(self, field, value):
        if {field, *self.given} >= {"scale", "scale_log2"}:  # both say what S is
            return
        self.given[field] = value

    @property
    def fields(self):
        fields = {**self.preset, **self.given}
        if "scale" in self.given:
            fields["scale_log2"] = "0"
        elif "scale_log2" in self.given:
            fields["scale"] = f"{exp2(F32(fields['scale_log2'])):.9g}"
        return fields

    def __str__(self):
        changes = ";".join(f"{field}={value}" for field, value in self.given.items())
        return f"{self.name}:{changes}" if changes else self.name


def draw_spec(random, presets, keys):
    name = list(presets)[random.integers(len(presets))]
    spec = Spec(name, presets[name])
    if random.random() < 0.9:
        spec.set("block", str(random.choice([8, 16, 17, *np.maximum(1, keys // random.integers(2, 12, 7))])))
    if spec.fields["lse"] == "none" and random.random() < 0.8:
        spec.set("lse", str(random.choice(["e", "2"])))
    if random.random() < 0.6:
        spec.set("out_format", "f32")  # the others hide errors of one place
    changed = list(random.permutation([f for f in spec.fields if f not in INPUTS | UNITS])[:random.integers(0, 7)])
    for group in random.permutation(GROUPS)[:random.integers(0, 6)]:
        changed += group.split()
    for field in changed:
        spec.set(str(field), draw_value(str(field), random))
    if random.random() < 0.1:
        for field, value in random.choice(RARE).items():
            spec.set(field, value)
    return spec


def definition_of(fields):
    return HardwareHead if fields["semantics"] == "hardware" else Head


def head_of(fields, problem, b, h, sink):
    descales = [descale[b, h] for descale in problem.descales]
    return definition_of(fields)(fields, problem.dim, problem.softmax_scale, descales, sink)


def attend(pcast, problem, spec, refusals={}):
    """The results of pcast; where it refuses the SPEC, the field that its message names, or that `refusals` has for a
    message's text."""
    out, lse = (os.path.join(problem.folder, name) for name in ("o.npy", "lse.npy"))
    arguments = [pcast, "attend", "--kernel", str(spec), *problem.arguments, "-o", out, "--dump", ",".join(DUMPS),
                 "--metrics", os.path.join(problem.folder, "metrics.csv")]
    if spec.fields["learned_sink"] != "none":
        arguments += problem.sink_arguments
    if spec.fields["lse"] != "none":
        arguments += ["--lse", lse]
    done = subprocess.run(arguments, capture_output=True, text=True)
    named = re.match(r"pcast attend: (?:--kernel \S+: )?(\w+): ", done.stderr)
    for text, field in refusals.items():
        if done.returncode in (2, 3) and text in done.stderr:
            return field
    if done.returncode in (2, 5) and named and named[1] in spec.fields:
        return named[1]
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {' '.join(arguments)}\n{done.stderr}")
    files = {name: os.path.join(problem.folder, f"o.{name}.npy") for name in DUMPS}
    files["o"] = out
    if spec.fields["lse"] != "none":
        files["lse"] = lse
    return {name: np.load(path) for name, path in files.items()}


def attend_at_lag(pcast, problem, spec, random):
    """The SPEC with a threshold that the maximum's lag meets exactly, in the second block of some row."""
    b, h, q, k, _ = list(problem.parts())[random.integers(problem.batch * problem.heads)]
    head = head_of(spec.fields, problem, b, h, None)
    block = head.fields.block
    first = len(k) - (len(k) - 1) % block - 1 if spec.fields["order"] == "reverse" else block  # between two blocks
    for x in head.scores(q, k):
        halves = (x[first:], x[first - block:]) if spec.fields["order"] == "reverse" else (x[:block], x[:2 * block])
        if min(first, len(k) - first) <= 0 or np.isnan(x).any():
            continue
        lag = head.lag(halves[1].max(), halves[0].max())
        if 0 < lag <= 64:
            at_lag = Spec(spec.name, spec.preset)
            at_lag.given = {**spec.given, "rescale_threshold": f"{lag:.9g}"}
            results = attend(pcast, problem, at_lag)
            return None if isinstance(results, str) else (at_lag, results)
    return None


def attend_accepted(pcast, problem, random, presets):
    """Draws SPECs until one is accepted; a field that a message names is drawn again, or given up."""
    while True:
        spec = draw_spec(random, presets, max(problem.keys))
        for _ in range(12):
            results = attend(pcast, problem, spec)
            if not isinstance(results, str):
                if spec.fields["rescale_threshold"] != "0" and random.random() < 0.5:
                    return attend_at_lag(pcast, problem, spec, random) or (spec, results)
                return spec, results
            COUNTS["SPECs refused"] += 1
            spec.given.pop(results, None)
            if random.random() < 0.8:
                spec.set(results, draw_value(results, random))


# The comparison.

def heads_as_given(problem, fields):
    """Heads with their tensors, and what their log-sum-exps are corrected by."""
    for b, h, q, k, v in problem.parts():
        yield head_of(fields, problem, b, h, None if problem.sinks is None else problem.sinks[h]), q, k, v, None


def simulate(problem, spec, heads=heads_as_given):
    """What the definition says: for each result a list over batch, head and query."""
    f = spec.fields
    code_type = F32 if f["p_format"] == "f32" else FORMATS[f["p_format"]].dtype
    keys = max(problem.keys)
    results = collections.defaultdict(list)
    for head, q, k, v, correction in heads(problem, f):
        scores, seen = head.scores(q, k), head.seen(len(q), len(k))
        EVENTS["score -Inf"] += np.count_nonzero(scores == -INF)
        EVENTS["score NaN"] += np.count_nonzero(np.isnan(scores))
        h_block, blocks = head.fields.query_block, -(-keys // head.fields.block)
        for i in range(len(q)):
            first = i // h_block * h_block
            tiles = Tiles(blocks, keys, problem.value_dim, code_type)
            out, lse = head.row(scores[i], seen[i], seen[first:first + h_block].any(axis=0), v, tiles)
            results["o"].append(out)
            results["lse"].append(lse if correction is None else lse + correction[i])
            for name in DUMPS:
                results[name].append(getattr(tiles, name))
    return results


def in_order(problem, name, array):
    """Rows of a result, over batch, head and query."""
    if problem.packed:
        array = np.swapaxes(array, 0, 1) if name == "o" else array
        ends = np.cumsum(problem.queries)
        return [array[h, i] for end, count in zip(ends, problem.queries) for h in range(problem.heads)
                for i in range(end - count, end)]
    bthd = "bthd" in problem.arguments and name == "o"
    leading = (problem.batch, problem.heads, problem.queries[0])
    if bthd:
        leading = (problem.batch, problem.queries[0], problem.heads)
    tail = array.shape[len(leading) - problem.left_out:]
    array = array.reshape(leading + tail)
    return list((np.swapaxes(array, 1, 2) if bthd else array).reshape((math.prod(leading),) + tail))


def bits(array):
    """Bit patterns, one for all NaN; codes are what they are."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind != "f":
        return array
    word = array.view({2: np.uint16, 4: np.uint32}[array.dtype.itemsize])
    return np.where(np.isnan(array), ~word.dtype.type(0), word)


def compare(problem, spec, results, expected):
    """Number of values that differ; the first is printed."""
    wrong = 0
    for name, result in results.items():
        word_format = {"o": spec.fields["out_format"], "p8": spec.fields["p_format"]}.get(name, "f32")
        got, want = in_order(problem, name, result), expected[name]
        if name == "o" and word_format == "bf16":
            got = [FORMATS["bf16"].decoded[row] for row in got]
        if name == "p8" and word_format == "f16":
            got = [row.view(np.uint16) for row in got]
        for number, (g, w) in enumerate(zip(got, want, strict=True)):
            g, w = np.asarray(g).astype(F32) if name == "o" else np.asarray(g), np.asarray(w)
            COUNTS["numbers"] += w.size
            different = np.argwhere((bits(g) != bits(w)).reshape(w.shape)) if g.shape == w.shape else [()]
            if len(different) > 0 and wrong == 0:
                at = tuple(int(n) for n in different[0])
                print(f"{name}, row {number}, {at}: got {g[at]}, expected {w[at]}")
            wrong += len(different)
    return wrong


# What the sample covers.

def given(field, value):
    """The choice that a value stands for."""
    if field in CHOICES or field == "block" and value in TABLES:
        return value
    if field in ("block", "scale", "initial_sum"):
        return {"initial_sum": value}.get(field, "number")
    return "none" if value in ("0", "none") or field == "splits" and value == "1" else "given"


# Where a field says nothing, whatever it is.
IDLE = {
    "paged": lambda f: f["block"] not in TABLES,
    "traversal": lambda f: f["splits"] in "01",
    "partials": lambda f: f["splits"] in "01" and f["partition"] == "0",
    "bias": lambda f: f["exponent"] == "natural",
    "threshold_unit": lambda f: f["rescale_threshold"] == "0",
    "threshold_test": lambda f: f["rescale_threshold"] == "0",
    "overflow": lambda f: f["p_format"] == "f32",
}


def report(exercised, presets):
    """Prints how often each choice was exercised; returns those that never were."""
    missing = [f"preset {name}" for name in presets if not exercised["preset", name]]
    for field in (f for f in presets["paper"] if f not in INPUTS | UNITS):
        wanted = {"block": ["number", *TABLES], "scale": ["number"], "initial_sum": ["0", "1"]}
        wanted = CHOICES.get(field) or wanted.get(field, ["none", "given"])
        values = sorted(value for name, value in exercised if name == field)
        print(f"  {field}: " + ", ".join(f"{value} {exercised[field, value]}" for value in values))
        missing += [f"{field}={value}" for value in wanted if not exercised[field, value]]
    for event in SITUATIONS:
        print(f"  {event}: {EVENTS[event]}")
        missing += [event] if EVENTS[event] == 0 else []
    return missing


def read_presets(pcast):
    listed = subprocess.run([pcast, "kernels", "--csv"], capture_output=True, text=True, check=True).stdout
    return {row["kernel"]: {field: row[field] for field in list(row)[1:list(row).index("source")]}
            for row in csv.DictReader(io.StringIO(listed))}


def main():
    pcast = sys.argv[1]
    problems, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 1000), (3, 1)))
    presets = read_presets(pcast)
    wrong, exercised = [], collections.Counter()
    for number in range(problems):
        random = np.random.default_rng([seed, number])
        with tempfile.TemporaryDirectory() as folder:
            problem = Problem(random, folder)
            spec, results = attend_accepted(pcast, problem, random, presets)
        different = compare(problem, spec, results, simulate(problem, spec))
        if different:
            print(f"problem {number}: {different} numbers differ: {spec} {' '.join(problem.arguments)}", flush=True)
            wrong.append(number)
        exercised["preset", spec.name] += 1
        fields = spec.fields
        for field, value in fields.items():
            if field not in IDLE or not IDLE[field](fields):
                exercised[field, given(field, value)] += 1
    missing = report(exercised, presets)
    print(f"kernel model: {problems} problems, {COUNTS['numbers']} numbers, {COUNTS['SPECs refused']} SPECs refused; "
          f"{len(wrong)} problems differ {wrong}; never exercised: {', '.join(missing) or 'nothing'}")
    sys.exit(1 if wrong or missing else 0)


if __name__ == "__main__":
    main()
