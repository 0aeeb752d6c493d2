#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast attend --semantics hardware` against a second implementation of docs/numerics.md, section 12, bit by bit.

As kernel_model.py, with units and tensor cores (hardware_definition.py): presets whose units are all settled, as they
are or with another block, and random SPECs that name units. Inputs are on the grid of the format that the SPEC says:
FP8 as codes or as floats, INT8 as floats with V in E4M3. tensor_core_integers.py is first compared with the exact model
of tensor_core_model.py. Fails too if a choice or a situation never came up.

usage: kernel_hardware.py PCAST [PROBLEMS [SEED]]; exit 77 (skipped) where a package is missing.
"""
import collections
import sys
import tempfile

sys.dont_write_bytecode = True
import kernel_model as model
from kernel_model import COUNTS, CHOICES, Problem, Spec

import numpy as np

import tensor_core_integers
from exact_numbers import F32, FORMATS, ONE
from kernel_definition import EVENTS

SETTLED = ["fa3", "fa3-vllm", "flashinfer-fa3", "sage2-fp32", "sage2-fp32x2", "sage2pp", "hpc-ops",
           "hpc-ops-2026-01"]
UNITS = {field: values.split() for field, values in {
    "exp_unit": "exact ex2 fa4_poly3 fa4_poly5 fa4_mix expf expf_fast", "reciprocal": "div rcp_approx",
    "sum_order": "reference fa3 fa4 fmha_v2 sage hpc_ops fp64",
    "machine": "hopper-wgmma ada-mma hopper-mma blackwell-tcgen05",
    "poly_freq": "4 5 8 10 16 17 31 32 64", "poly_start": "0 0 1 2"}.items()}
FP8 = ("e4m3", "e5m2")
FLOATS = ("f32", "f16", "bf16", "e4m3fnuz", "e5m2fnuz")
SITUATIONS = ["sequences without keys", "dimension beyond one instruction", "dimension no multiple of 32",
              "block beyond one instruction", "block no multiple of 8", "grouped queries", "FP8 codes", "FP8 as floats",
              "NaN or infinity in Q, K or V", "fa4_mix by the polynomial", "fa4_mix by ex2", "learned sink", "mask",
              "splits merged", "partition", "several blocks", "maximum kept stale", "alpha between 0 and 1",
              "p flushed", "p saturated", "subnormal factor of expf_fast"]


class HardwareProblem(Problem):
    """Tensors on the grid of `qkv`."""
    lengths = (1, 9), (10, 40), (20, 80), (60, 80)

    def __init__(self, random, folder, qkv, long):
        self.qkv = qkv
        if long:
            self.lengths = ((100, 300),)
        super().__init__(random, folder)

    def draw_dimensions(self):
        random = self.random
        self.dim = int(random.choice([random.integers(1, 17), 32, 64, random.integers(33, 130)]))
        self.value_dim = int(random.integers(1, 13))

    def save_tensors(self, pick, q, k, v):
        if self.qkv in FLOATS:
            super().save_tensors(pick, q, k, v)
            return
        if self.qkv == "int8":
            q, k = (np.clip(np.round(x * 25), -127, 127) for x in (q, k))
        saturate = self.random.random() < 0.8
        grid = "e5m2" if self.qkv == "e5m2" else "e4m3"
        on_grid = lambda x: FORMATS[grid].decoded[FORMATS[grid].encode(x.astype(F32), saturate)]
        self.tensors = [x.astype(F32) if self.qkv == "int8" and x is not v else on_grid(x) for x in (q, k, v)]
        EVENTS["NaN or infinity in Q, K or V"] += not all(np.isfinite(x).all() for x in self.tensors)
        self.arguments += ["--fp8", grid]
        bthd = not self.packed and self.random.random() < 0.3
        if bthd:
            self.arguments += ["--layout", "bthd"]
        self.left_out = 0
        kind = pick("codes", "codes", "f32", "f16", "bf16")
        for name, data in zip("qkv", self.tensors):
            if name != "q" and not self.packed:  # keys that are not there
                data = data.copy()
                for b, keys in enumerate(self.keys):
                    data[b, :, keys:] = np.nan
            stored = kind
            if kind == "codes":
                stored = grid if name == "v" or self.qkv != "int8" else "f32"
            EVENTS["FP8 codes" if stored == grid else "FP8 as floats"] += name == "v" or self.qkv != "int8"
            if stored != "f32":
                data = FORMATS[stored].encode(data, False)
            if stored == "f16":
                data = data.view(np.float16)
            if bthd or self.packed:
                data = np.swapaxes(data, 1, 2)
            self.give(name, np.ascontiguousarray(data[0] if self.packed else data))
        if self.packed:
            for name, lengths in (("q", self.queries), ("k", self.keys)):
                self.give(f"cu-seqlens-{name}", np.append(0, np.cumsum(lengths)).astype(np.int32))


class FarProblem(HardwareProblem):
    """A second half of keys that scores 96 nats more and has V = 0: the factor for the first half is subnormal, and
    what it leaves of O is seen."""
    lengths = ((4, 40),)
    descaled = 0

    def draw_scales(self, pick):
        super().draw_scales(pick)
        if self.softmax_scale is None:
            self.arguments += ["--softmax-scale", ""]
        self.softmax_scale = ONE
        self.arguments[self.arguments.index("--softmax-scale") + 1] = "1"
        self.block = max(self.keys) // 2

    def save_tensors(self, pick, q, k, v):
        for tensor in (q, k):
            tensor[...] = 0
        q[..., 0], k[..., :self.block, 0], v[..., self.block:, :] = 1, -96, 0
        super().save_tensors(pick, q, k, v)

    def spec(self, preset):
        spec = Spec("paper", preset)
        spec.given = {"semantics": "hardware", "qkv": self.qkv, "exp_unit": "expf_fast", "block": str(self.block),
                      "accumulator": str(self.random.choice(["fp32_fma", "fp64"])), "out_format": "f32",
                      "sum_order": str(self.random.choice(UNITS["sum_order"]))}
        return spec


class AsItIs(Spec):
    """A preset under `--semantics hardware`, with no field changed but those given."""

    def __init__(self, name, preset):
        super().__init__(name, {**preset, "semantics": "hardware"})


# SPECs.

def draw_value(field, random):
    return str(random.choice(UNITS[field])) if field in UNITS else model.draw_value(field, random)


def draw_block(random, keys):
    parts = np.maximum(1, keys // random.integers(2, 8, 5))
    return str(random.choice([8, 16, 17, 24, 32, 40, 64, 72, 96, 128, *parts]))


def draw_spec(random, presets, keys, qkv):
    name = list(presets)[random.integers(len(presets))]
    spec = Spec(name, presets[name])
    spec.set("semantics", "hardware")
    spec.set("block", draw_block(random, keys))
    if spec.fields["qkv"] != qkv:
        spec.set("qkv", qkv)
    if spec.fields["lse"] == "none" and random.random() < 0.8:
        spec.set("lse", str(random.choice(["e", "2"])))
    if random.random() < 0.6:
        spec.set("out_format", "f32")
    for field in UNITS:
        if spec.fields[field] == "unsettled" or random.random() < 0.6:
            spec.set(field, draw_value(field, random))
    if random.random() < 0.2:
        for field in ("poly_freq", "poly_start"):
            spec.set(field, draw_value(field, random))
        spec.set("exp_unit", "fa4_mix")
        spec.set("block", str(random.choice([64, 72, 96, 128])))
    elif random.random() < 0.3:
        for field, value in {"exponent": "natural", "max_over": "scaled", "correction": "natural"}.items():
            spec.set(field, value)
        spec.set("exp_unit", str(random.choice(["expf", "expf_fast", "exact"])))
    accumulators = ["tensor_core"] * 4 + ["fp16"] * 2 + ["fp32_fma", "fp64"]
    spec.set("accumulator", str(random.choice(accumulators[6:] if qkv in FLOATS else accumulators)))
    if spec.fields["accumulator"] in ("tensor_core", "fp16"):
        spec.set("p_format", str(random.choice(["e4m3", "e4m3", "e5m2"])))
    drawn = {"block", "qkv", "accumulator", "p_format", "semantics", *UNITS}
    changed = list(random.permutation([f for f in spec.fields if f not in model.INPUTS])[:random.integers(0, 5)])
    for group in random.permutation(model.GROUPS)[:random.integers(0, 5)]:
        changed += group.split()
    for field in changed:
        if field not in drawn:
            spec.set(str(field), draw_value(str(field), random))
    for field in UNITS:  # one that does nothing is refused
        if idle(field, spec.fields):
            spec.given.pop(field, None)
    if spec.fields["exp_unit"] == "fa4_mix" and spec.fields["poly_freq"] == "0":
        spec.set("poly_freq", draw_value("poly_freq", random))
    return spec


def attend_accepted(pcast, problem, random, presets):
    """As in kernel_model.py; a refused field that the problem or the semantics fix is never drawn again."""
    while True:
        spec = draw_spec(random, presets, max(problem.keys), problem.qkv)
        for _ in range(12):
            results = model.attend(pcast, problem, spec)
            if not isinstance(results, str):
                if spec.fields["rescale_threshold"] != "0" and random.random() < 0.5:
                    return model.attend_at_lag(pcast, problem, spec, random) or (spec, results)
                return spec, results
            COUNTS["SPECs refused"] += 1
            if results in ("qkv", "semantics"):
                break
            spec.given.pop(results, None)
            if idle(results, spec.fields):
                continue
            if random.random() < 0.8 or spec.fields[results] == "unsettled":
                spec.set(results, draw_value(results, random))


def draw_problem(pcast, random, folder, presets):
    """A problem, the SPEC and the results of pcast."""
    if random.random() < 0.3:
        name = str(random.choice(SETTLED))
        spec = AsItIs(name, presets[name])
        if random.random() < 0.4:
            spec.set("block", draw_block(random, 80))
        table = not spec.fields["block"].isdigit()
        problem = HardwareProblem(random, folder, spec.fields["qkv"], not table and random.random() < 0.3)
        problem.arguments += ["--semantics", "hardware"]
        results = model.attend(pcast, problem, spec)
        if isinstance(results, str):
            sys.exit(f"refused: {spec}: {results}")
        return problem, spec, results
    if random.random() < 0.02:
        problem = FarProblem(random, folder, str(random.choice(FP8)), False)
        spec = problem.spec(presets["paper"])
        EVENTS["subnormal factor of expf_fast"] += 1
        return problem, spec, model.attend(pcast, problem, spec)
    qkv = str(random.choice([*FP8 * 3, "int8", random.choice(FLOATS)]))
    problem = HardwareProblem(random, folder, qkv, random.random() < 0.1)
    return problem, *attend_accepted(pcast, problem, random, presets)


# What the sample covers.

def count_situations(problem, spec):
    f, keys = spec.fields, max(problem.keys)
    block = int(f["block"]) if f["block"].isdigit() else 1 << 20
    for what, there in {
            "sequences without keys": 0 in problem.keys, "dimension beyond one instruction": problem.dim > 32,
            "dimension no multiple of 32": problem.dim % 32, "block beyond one instruction": 32 < block < keys,
            "block no multiple of 8": block % 8, "grouped queries": problem.heads > problem.kv_heads,
            "learned sink": f["learned_sink"] != "none" and problem.sinks is not None,
            "mask": f["mask"] != "none", "partition": f["partition"] != "0", "several blocks": block < keys}.items():
        EVENTS[what] += bool(there)


def idle(field, f):
    """A unit that computes nothing of this SPEC."""
    if field == "machine":
        return f["accumulator"] not in ("tensor_core", "fp16")
    return field in ("poly_freq", "poly_start") and f["exp_unit"] != "fa4_mix" or \
        field == "promotion" and f["accumulator"] not in ("tensor_core", "fp16")


def report(exercised):
    wanted = {field: CHOICES[field] for field in ("accumulator", "promotion", "qkv", "exponent", "max_over", "epilogue",
                                                  "row_sum", "sum_scale", "normalise", "learned_sink", "mask", "lse")}
    wanted.update({field: sorted(set(values), key=values.index) for field, values in UNITS.items()})
    wanted["promotion"] = ["never", "tile", "1", "2"]
    wanted["p_format"] = FP8
    wanted["initial_sum"] = ["0", "1"]
    wanted["settled preset as it is"] = wanted["settled preset, another block"] = SETTLED
    wanted["sum_order from 1"] = wanted["sum_order from a sink"] = UNITS["sum_order"]
    wanted["machine, accumulator"] = [f"{m} {a}" for m in UNITS["machine"] for a in ("tensor_core", "fp16")]
    wanted["machine, qkv"] = [f"{m} {q}" for m in UNITS["machine"] for q in (*FP8, "int8")]
    missing = []
    for field, values in wanted.items():
        print(f"  {field}: " + ", ".join(f"{value} {exercised[field, value]}" for value in values))
        missing += [f"{field}={value}" for value in values if not exercised[field, value]]
    for event in SITUATIONS:
        print(f"  {event}: {EVENTS[event]}")
        missing += [event] if EVENTS[event] == 0 else []
    return missing


def count_choices(exercised, problem, spec):
    f = spec.fields
    for field, value in f.items():
        if not idle(field, f):
            exercised[field, value] += 1
    if isinstance(spec, AsItIs):
        exercised["settled preset, another block" if spec.given else "settled preset as it is", spec.name] += 1
    exercised["sum_order from 1", f["sum_order"]] += f["initial_sum"] == "1"
    exercised["sum_order from a sink", f["sum_order"]] += f["learned_sink"] == "initial" and problem.sinks is not None
    if not idle("machine", f):
        exercised["machine, accumulator", f"{f['machine']} {f['accumulator']}"] += 1
        exercised["machine, qkv", f"{f['machine']} {f['qkv']}"] += 1


def main():
    pcast = sys.argv[1]
    problems, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 700), (3, 1)))
    dots, wrong_dots = tensor_core_integers.check(5, seed)
    print(f"tensor cores in integers and in fractions: {dots} dot products, {wrong_dots} differ")
    presets = model.read_presets(pcast)
    wrong, exercised = [], collections.Counter()
    for number in range(problems):
        random = np.random.default_rng([seed, number, 12])
        with tempfile.TemporaryDirectory() as folder:
            problem, spec, results = draw_problem(pcast, random, folder, presets)
        different = model.compare(problem, spec, results, model.simulate(problem, spec))
        if different:
            print(f"problem {number}: {different} numbers differ: {spec} {' '.join(problem.arguments)}", flush=True)
            wrong.append(number)
        count_choices(exercised, problem, spec)
        count_situations(problem, spec)
    missing = report(exercised)
    print(f"kernel hardware: {problems} problems, {COUNTS['numbers']} numbers, "
          f"{COUNTS['SPECs refused']} SPECs refused; {len(wrong)} problems differ {wrong}; never exercised: {', '.join(missing) or 'nothing'}")
    sys.exit(1 if wrong or missing or wrong_dots else 0)


if __name__ == "__main__":
    main()
