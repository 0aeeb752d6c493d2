#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pcast attend --quantize` against a second implementation of docs/numerics.md, section 9, bit by bit.

As kernel_model.py and kernel_hardware.py, under either semantics, with tensors in 16 or 32 bits that are quantised as
random SPECs say (quantized_definition.py), and some that are given in 8 bits or with a descale and stay as they are.
Fails too if a choice or a situation never came up.

usage: kernel_quantized.py PCAST [PROBLEMS [SEED]]; exit 77 (skipped) where a package is missing.
"""
import collections
import sys
import tempfile

sys.dont_write_bytecode = True
import kernel_model as model
from kernel_model import COUNTS, Problem

import kernel_hardware as hardware
import numpy as np

from kernel_definition import EVENTS
from quantized_definition import LARGEST, blocks_of, prepare

SCALES = {"q_scale": "tensor kv_head head block token", "k_scale": "tensor kv_head head block token",
          "v_scale": "tensor kv_head head block channel", "scale_rows": "0 1 2 3 16", "rotation": "no yes",
          "k_mean": "no yes", "v_range": "0 2.25 100 448"}
SCALES = {field: values.split() for field, values in SCALES.items()}
SITUATIONS = ["rotation: 2^n channels", "rotation: 12 * 2^n channels", "rotation: 20 * 2^n channels",
              "log-sum-exp corrected", "log-sum-exp to base 2 corrected", "Q or K given, rotation asked for",
              "K given, mean asked for", "V given", "all given", "V by channel, rounded output", "V by channel, splits",
              "infinity or NaN in Q, K or V", "grouped queries, Q by KV head", "several sequences, a scale for all",
              "a sequence without keys"]


class QuantizedProblem(Problem):
    lengths = (1, 9), (10, 40), (20, 80)
    formats = ("f32",) * 6 + ("f16", "f16", "bf16", "bf16", "e4m3", "e5m2")
    descaled = 0.1

    def draw_dimensions(self):
        random = self.random
        self.dim = int(random.choice([random.integers(1, 33), 1, 2, 8, 16, 32, 64, 12, 24, 48, 20, 40, 80]))
        self.value_dim = int(random.integers(1, 13))


def draw_scale(field, random):
    return str(random.choice(SCALES[field]))


def draw_spec(random, presets, problem):
    keys = max(problem.keys)
    if random.random() < 0.5:
        spec = model.draw_spec(random, presets, keys)
        spec.set("qkv", str(random.choice(list(LARGEST))))
    else:
        spec = hardware.draw_spec(random, presets, keys, str(random.choice(["e4m3", "e5m2", "int8"])))
    for field in SCALES:
        if random.random() < 0.7:
            spec.set(field, draw_scale(field, random))
    if blocks_of(problem.dim) is None:
        spec.set("rotation", "no")
    if spec.fields["v_scale"] == "block":
        spec.set("promotion", "tile")
    if spec.fields["k_mean"] == "yes":
        for field, value in (("softcap", "0"), ("learned_sink", "none")):
            if spec.fields[field] != value:
                spec.set(field, value)
    return spec


def draw_any(field, random):
    return draw_scale(field, random) if field in SCALES else hardware.draw_value(field, random)


def attend_accepted(pcast, problem, random, presets):
    while True:
        spec = draw_spec(random, presets, problem)
        for _ in range(12):
            refusals = {"q and k descale: ": "q_scale"}  # a head's product, beyond FP32
            if any(problem.given.values()):
                refusals["holds numbers that are not of qkv="] = "qkv"
            results = model.attend(pcast, problem, spec, refusals)
            if not isinstance(results, str):
                return spec, results
            COUNTS["SPECs refused"] += 1
            if results in ("qkv", "semantics"):
                break
            spec.given.pop(results, None)
            if random.random() < 0.8 or spec.fields[results] == "unsettled":
                spec.set(results, draw_any(results, random))


def count_situations(problem, spec):
    f, given = spec.fields, problem.given
    rotated = f["rotation"] == "yes" and not given["q"] and not given["k"]
    corrected = f["k_mean"] == "yes" and not given["k"] and f["lse"] != "none"
    channels = f["v_scale"] == "channel" and not given["v"]
    for b, name in ((1, "2^n"), (12, "12 * 2^n"), (20, "20 * 2^n")):
        EVENTS[f"rotation: {name} channels"] += rotated and blocks_of(problem.dim) == b and problem.dim > 2
    for what, there in {
            "log-sum-exp corrected": corrected, "log-sum-exp to base 2 corrected": corrected and f["lse"] == "2",
            "Q or K given, rotation asked for": f["rotation"] == "yes" and not rotated,
            "K given, mean asked for": f["k_mean"] == "yes" and given["k"], "V given": given["v"],
            "all given": all(given.values()), "V by channel, rounded output": channels and f["out_format"] != "f32",
            "V by channel, splits": channels and f["splits"] not in "01",
            "infinity or NaN in Q, K or V": not all(np.isfinite(x).all() for x in problem.tensors),
            "grouped queries, Q by KV head":
                problem.heads > problem.kv_heads and f["q_scale"] == "kv_head" and not given["q"],
            "several sequences, a scale for all":
                problem.batch > 1 and any(f[n + "_scale"] == "tensor" and not given[n] for n in "qkv"),
            "a sequence without keys": 0 in problem.keys}.items():
        EVENTS[what] += bool(there)


def report(exercised):
    wanted = {**SCALES, "qkv": list(LARGEST), "semantics": ["fp32", "hardware"]}
    missing = []
    for field, values in wanted.items():
        print(f"  {field}: " + ", ".join(f"{value} {exercised[field, value]}" for value in values))
        missing += [f"{field}={value}" for value in values if not exercised[field, value]]
    for event in SITUATIONS:
        print(f"  {event}: {EVENTS[event]}")
        missing += [event] if EVENTS[event] == 0 else []
    return missing


def main():
    pcast = sys.argv[1]
    problems, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 500), (3, 1)))
    presets = model.read_presets(pcast)
    wrong, exercised = [], collections.Counter()
    for number in range(problems):
        random = np.random.default_rng([seed, number, 9])
        with tempfile.TemporaryDirectory() as folder:
            problem = QuantizedProblem(random, folder)
            problem.arguments.append("--quantize")
            spec, results = attend_accepted(pcast, problem, random, presets)
        heads = lambda problem, fields: prepare(model.definition_of(fields), problem, fields)
        different = model.compare(problem, spec, results, model.simulate(problem, spec, heads))
        if different:
            print(f"problem {number}: {different} numbers differ: {spec} {' '.join(problem.arguments)}", flush=True)
            wrong.append(number)
        count_situations(problem, spec)
        for field, value in spec.fields.items():
            if not field[0] in "qkv" or field[1:] != "_scale" or not problem.given[field[0]]:
                exercised[field, value] += 1
    missing = report(exercised)
    print(f"kernel quantized: {problems} problems, {COUNTS['numbers']} numbers, "
          f"{COUNTS['SPECs refused']} SPECs refused; {len(wrong)} problems differ {wrong}; never exercised: {', '.join(missing) or 'nothing'}")
    sys.exit(1 if wrong or missing else 0)


if __name__ == "__main__":
    main()
